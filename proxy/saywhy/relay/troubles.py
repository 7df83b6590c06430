"""What is wrong with a site's TLS, or with its Unix socket, in a sentence with its remedy: for the operator, never for a caller."""

from __future__ import annotations

import errno
import ssl
from typing import Final

_CERTIFICATE: Final = {
    # X509_V_ERR_* of OpenSSL's x509_vfy.h.
    9: "its certificate is not valid yet; check the clocks of this machine and of the site.",
    10: "its certificate has expired; renew it at the site.",
    18: "its certificate vouches for itself; name it, or the CA that made it, in ca_file.",
    19: "its certificate comes from a CA that is not trusted here; name that CA in ca_file.",
    20: "its certificate comes from a CA that is not trusted here; name that CA in ca_file, or let the site send its whole chain.",
    21: "its certificate's chain is incomplete; let the site send the CA certificates between, or name them in ca_file.",
    23: "its certificate was revoked; replace it at the site.",
    26: "its certificate is not meant for servers; replace it at the site.",
    62: "its certificate is for another name; say in server_name which one it is for, or correct the URL.",
    64: "its certificate is not for this address; say in server_name which name it is for.",
}  # fmt: skip
_PROTOCOL: Final = {
    "WRONG_VERSION_NUMBER": "it does not speak TLS on this port; write http:// or another port.",
    "HTTP_REQUEST": "it does not speak TLS on this port; write http:// or another port.",
    "RECORD_LAYER_FAILURE": "it does not speak TLS on this port; write http:// or another port.",
    "UNSUPPORTED_PROTOCOL": "it speaks TLS 1.1 or older alone, which is not spoken here; switch on TLS 1.2 or 1.3 at the site.",
    "TLSV1_ALERT_PROTOCOL_VERSION": "it refused TLS 1.2 and 1.3; switch one of them on at the site.",
    "TLSV1_ALERT_UNKNOWN_CA": "it refused our certificate, whose CA it does not trust; check certificate_file.",
    "TLSV13_ALERT_CERTIFICATE_REQUIRED": "it asks for a certificate; give certificate_file and key_file.",
    "SSLV3_ALERT_BAD_CERTIFICATE": "it refused our certificate or asks for one; check certificate_file.",
    "SSLV3_ALERT_CERTIFICATE_EXPIRED": "it refused our certificate, which has expired; renew certificate_file.",
    "SSLV3_ALERT_CERTIFICATE_UNKNOWN": "it refused our certificate; check certificate_file.",
    "SSLV3_ALERT_HANDSHAKE_FAILURE": "it refused the handshake: no cipher in common, or it asks for a certificate (certificate_file).",
    "TLSV1_UNRECOGNIZED_NAME": "it does not know the name it was asked for; say in server_name which one it serves.",
    "TLSV1_ALERT_UNRECOGNIZED_NAME": "it does not know the name it was asked for; say in server_name which one it serves.",
    "TLSV1_ALERT_NO_APPLICATION_PROTOCOL": "it does not speak HTTP/1.1; switch it on at the site.",
}  # fmt: skip


_SOCKET: Final = {
    errno.ENOENT: "there is no Unix socket at {path}; start the site, or correct the path (in a container the socket's folder must be mounted).",
    errno.ENOTDIR: "there is no Unix socket at {path}, for a part of the path is no folder; correct the path.",
    errno.EACCES: "the Unix socket at {path} may not be opened; let the site's socket be writable for the user of this process.",
    errno.EPERM: "the Unix socket at {path} may not be opened; something beside its mode forbids it (SELinux, AppArmor).",
    errno.EPROTOTYPE: "the Unix socket at {path} takes datagrams, not connections; name the one that the site serves HTTP on.",
}  # fmt: skip
"""connect(2) of a Unix socket. Refused is not among them: so is a site that restarts, and its token says as much."""


HUNG_UP: Final = "it closed the connection in the middle of the TLS handshake; its own log says why. Perhaps it speaks TLS 1.1 or older alone, or does not know the name (server_name)."


def explain(error: BaseException, path: str = "") -> str:
    """The sentence, after "Upstream NAME (URL):"; empty for what its token says as well. `path` is a Unix socket's."""
    if isinstance(error, ssl.SSLCertVerificationError):
        code = getattr(error, "verify_code", 0)
        said = getattr(error, "verify_message", "") or "no reason was given"
        return _CERTIFICATE.get(code, f"its certificate was not accepted ({said}).")
    if isinstance(error, ssl.SSLError):
        reason = getattr(error, "reason", None) or ""
        return _PROTOCOL.get(
            reason, f"TLS failed ({reason.replace('_', ' ').lower() or 'no reason was given'})."
        )
    if path and isinstance(error, OSError):
        return _SOCKET.get(error.errno or 0, "").format(path=path)
    return ""
