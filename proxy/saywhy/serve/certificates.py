"""TLS to callers: the context of new handshakes, out of the settings' files. A reload makes a new one, and connections
that stand keep theirs.
"""

from __future__ import annotations

import ssl
from pathlib import Path

from saywhy.edge.files import read_bytes
from saywhy.edge.files import unreadable as why_unreadable
from saywhy.edge.settings import Loaded, Problem, SettingsError, Tls, Unpaired
from saywhy.edge.settings.faults import origin_of
from saywhy.edge.validity import validities

_MOST_BYTES = 1024 * 1024
"""Of one file. The certificates of all public authorities take 220 KB."""

_VERSIONS = {"1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}


class _Unusable(Exception):
    """`key` of the settings' tls names what cannot be used; the message says why and what to do."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key


class _OfTwoRenewals(_Unusable):
    """The key is not the certificate's."""


def callers_tls(loaded: Loaded) -> ssl.SSLContext | None:
    """The context for callers; None where nothing listens with TLS. Raises SettingsError with file and remedy, which
    never shows what is in a file.
    """
    tls = loaded.settings.tls
    if not tls.listen or tls.certificate_file is None:
        return None
    try:
        return _context(tls, tls.certificate_file)
    except _Unusable as wrong:
        path = ("tls", wrong.key)
        kind = Unpaired if isinstance(wrong, _OfTwoRenewals) else SettingsError
        raise kind([Problem(origin_of(path, loaded.origins), f"tls.{wrong.key}", str(wrong))]) from None


def ends_at(certificate: Path) -> str:
    """Until when the first certificate of a file is good, as `2027-01-31`; empty where that cannot be told."""
    try:
        pem = read_bytes(certificate, _MOST_BYTES).decode("ascii", "replace")
    except OSError:
        return ""
    first = next(validities(pem), None)
    return f"{first.until:%Y-%m-%d}" if first is not None else ""


def _context(tls: Tls, certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = _VERSIONS[tls.minimum_version]
    # HTTP/2 stays with the gateway in front; who asks for it alone is told so in the handshake's answer.
    context.set_alpn_protocols(["http/1.1"])
    # Each renegotiation of TLS 1.2 costs us ten times what it costs the caller.
    context.options |= ssl.OP_NO_RENEGOTIATION
    key = tls.key_file
    _readable("certificate_file", certificate)
    if key is not None:
        _readable("key_file", key)
    _load_pair(context, certificate, key, _password(tls.key_password_file))
    if tls.client_ca_file is not None:
        _readable("client_ca_file", tls.client_ca_file)
        try:
            context.load_verify_locations(tls.client_ca_file)
        except (ssl.SSLError, OSError):
            raise _Unusable(
                "client_ca_file",
                f"{tls.client_ca_file} holds no certificate in PEM form; write the authority's certificate into it.",
            ) from None
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def _readable(key: str, file: Path) -> bytes:
    try:
        return read_bytes(file, _MOST_BYTES)
    except OSError as unreadable:
        raise _Unusable(
            key, f"{file} {why_unreadable(unreadable)}; mount it readable, or name another."
        ) from None


def _password(file: Path | None) -> bytes | None:
    """The first line of the file: editors end it with a line break that is not meant."""
    if file is None:
        return None
    try:
        return read_bytes(file, _MOST_BYTES).split(b"\n", 1)[0].rstrip(b"\r")
    except OSError as unreadable:  # not by name: who mistakes the setting writes the password there
        raise _Unusable(
            "key_password_file",
            f"names a file that {why_unreadable(unreadable)}; mount it readable, or name another.",
        ) from None


class _NoPassword(Exception):
    """OpenSSL asked for one. Without an answer of ours it would ask the terminal, and wait."""


def _load_pair(context: ssl.SSLContext, certificate: Path, key: Path | None, password: bytes | None) -> None:
    def answer() -> bytes:
        if password is None:
            raise _NoPassword
        return password

    named, holder = ("key_file", key) if key is not None else ("certificate_file", certificate)
    try:
        context.load_cert_chain(certificate, key, password=answer)
    except _NoPassword:
        raise _Unusable(
            named, f"{holder} is encrypted; set tls.key_password_file to a file with its password."
        ) from None
    except ssl.SSLError as wrong:
        raise _fault(wrong, certificate, key, password is not None) from None
    except (OSError, ValueError) as wrong:  # a password of more than 1024 bytes, a file that has just gone
        raise _Unusable(named, f"{holder} cannot be used: {type(wrong).__name__}.") from None


def _fault(wrong: ssl.SSLError, certificate: Path, key: Path | None, with_password: bool) -> _Unusable:
    """OpenSSL names neither file: looked for here, in the order in which it reads them."""
    reason = wrong.reason or ""
    if reason == "KEY_VALUES_MISMATCH":
        return _OfTwoRenewals(
            "certificate_file",
            f"{certificate} and the key in {key or certificate} do not belong together; the certificate must come first in its file, and both must be of one renewal.",
        )
    public = _readable("certificate_file", certificate)
    if b"-----BEGIN CERTIFICATE-----" not in public and b"PRIVATE KEY-----" in public:
        if key is not None and b"-----BEGIN CERTIFICATE-----" in _readable("key_file", key):
            said = f"{certificate} holds a private key, and tls.key_file a certificate: they are swapped; write each in the other's place."
        else:
            said = f"{certificate} holds a private key and no certificate; name the certificate's file, and this one as tls.key_file."
        return _Unusable("certificate_file", said)
    if b"-----BEGIN CERTIFICATE-----" not in public:
        return _Unusable(
            "certificate_file",
            f"{certificate} holds no certificate in PEM form; convert it with openssl x509.",
        )
    named, holder = ("key_file", key) if key is not None else ("certificate_file", certificate)
    text = _readable(named, holder)
    if b"PRIVATE KEY-----" not in text:
        return _Unusable(
            named, f"{holder} holds no private key in PEM form; set tls.key_file to the one that does."
        )
    if with_password and b"ENCRYPTED" in text:
        return _Unusable("key_password_file", f"does not open {holder}; write that key's password into it.")
    known = reason.replace("_", " ").lower() or "OpenSSL refuses it"
    return _Unusable("certificate_file", f"{certificate} with the key in {holder} cannot be used: {known}.")
