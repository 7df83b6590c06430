"""TLS handshakes of callers that came to nothing. Nobody becomes a caller by one, so there is no exchange to write down:
they are counted by what went wrong, and each kind is told of with its remedy, once in a while.

uvloop says nothing of them, neither to a protocol nor to a log. But it speaks to OpenSSL through the context's own
`sslobject_class`, and lets go of that object as soon as the connection is over.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
import weakref
from typing import Any, Final

from saywhy.edge.events import named
from saywhy.edge.metrics import HANDSHAKE_REASONS
from saywhy.edge.seldom import Seldom

_LOG: Final = logging.getLogger("saywhy.serve")

_EARLY_SECONDS: Final = 0.05
"""Looked at by so much before the loop gives a handshake up: behind it there is nothing left to look at."""

_SENTENCES: Final = {
    "no_certificate": "the caller showed no certificate, and tls.client_ca_file asks for one; give it one, or leave that setting out.",
    "bad_certificate": "the caller's certificate is expired, or comes from a CA that is not in tls.client_ca_file; renew it, or add its CA.",
    "certificate_refused": "the caller did not accept our certificate; look at its names and its end, and whether tls.certificate_file holds the chain up to a CA that callers trust.",
    "protocol": "the caller and saywhy have no TLS version or cipher in common; tls.minimum_version says from which on. Callers that know nothing newer must be updated.",
    "not_tls": "the caller does not speak TLS; it may have been given http:// for a port of tls.listen. Give it https://, or a port of listen.",
    "left": "the caller closed the connection in the middle of it without a word; some do so that do not accept the certificate.",
    "timeout": "the caller did not finish it within deadlines.request_head_seconds; it is slow, or a scanner of ports that says nothing.",
    "other": "OpenSSL gave a reason that has no name here.",
}  # fmt: skip
_OURS_TO_MEND: Final = frozenset(("certificate_refused", "bad_certificate"))
"""Told as warnings. The rest is what every port on the internet sees."""

_REASONS: Final = {
    "PEER_DID_NOT_RETURN_A_CERTIFICATE": "no_certificate",
    "CERTIFICATE_VERIFY_FAILED": "bad_certificate",
    "TLSV1_ALERT_UNKNOWN_CA": "certificate_refused",
    "SSLV3_ALERT_BAD_CERTIFICATE": "certificate_refused",
    "SSLV3_ALERT_CERTIFICATE_EXPIRED": "certificate_refused",
    "SSLV3_ALERT_CERTIFICATE_REVOKED": "certificate_refused",
    "SSLV3_ALERT_CERTIFICATE_UNKNOWN": "certificate_refused",
    "SSLV3_ALERT_UNSUPPORTED_CERTIFICATE": "certificate_refused",
    "TLSV1_ALERT_DECRYPT_ERROR": "certificate_refused",
    "HTTP_REQUEST": "not_tls",
    "HTTPS_PROXY_REQUEST": "not_tls",
    "WRONG_VERSION_NUMBER": "not_tls",
    "BAD_RECORD_TYPE": "not_tls",
    "PACKET_LENGTH_TOO_LONG": "not_tls",
    "RECORD_LAYER_FAILURE": "not_tls",
    "UNSUPPORTED_PROTOCOL": "protocol",
    "VERSION_TOO_LOW": "protocol",
    "UNKNOWN_PROTOCOL": "protocol",
    "NO_SHARED_CIPHER": "protocol",
    "NO_SHARED_GROUPS": "protocol",
    "NO_SUITABLE_KEY_SHARE": "protocol",
    "NO_SUITABLE_SIGNATURE_ALGORITHM": "protocol",
    "NO_SHARED_SIGNATURE_ALGORITHMS": "protocol",
    "NO_APPLICATION_PROTOCOL": "protocol",
    "TLSV1_ALERT_PROTOCOL_VERSION": "protocol",
    "TLSV1_ALERT_INSUFFICIENT_SECURITY": "protocol",
    "SSLV3_ALERT_HANDSHAKE_FAILURE": "protocol",
    "SSLV3_ALERT_ILLEGAL_PARAMETER": "protocol",
}
"""OpenSSL's word (with CPython's prefix SSLV3 or TLSV1 for alerts) -> ours."""


class Handshakes:
    """Counts those that failed: `failed` has a number for each reason."""

    def __init__(self) -> None:
        self.failed = dict.fromkeys(HANDSHAKE_REASONS, 0)
        self._seldom = Seldom()

    def watch(self, context: ssl.SSLContext, seconds: float) -> None:
        """Count those of `context`, which have `seconds` each."""
        failed, early = self._failed, max(seconds - _EARLY_SECONDS, 0.0)

        class Watched(ssl.SSLObject):
            """A connection's TLS, until its handshake is over one way or the other."""

            _steps: int
            _over: bool
            _timer: asyncio.TimerHandle

            def __new__(cls, *args: Any, **kwargs: Any) -> Watched:
                one = super().__new__(cls)
                one._steps, one._over = 0, False
                me = weakref.ref(one)
                one._timer = asyncio.get_running_loop().call_later(early, lambda: _look(me))
                return one

            def do_handshake(self) -> None:
                self._steps += 1
                try:
                    super().do_handshake()
                except ssl.SSLWantReadError:
                    raise
                except ssl.SSLError as error:
                    self.ended(_REASONS.get(error.reason or "", "other"))
                    raise
                self.ended("")

            def ended(self, reason: str) -> None:
                if not self._over:
                    self._over = True
                    self._timer.cancel()
                    if reason:
                        failed(reason)

            def __del__(self) -> None:
                # The first step is taken before the caller has said anything: who leaves then has only knocked, as
                # balancers do that ask whether a port is open.
                self.ended("left" if self._steps > 1 else "")

        def _look(me: weakref.ref[Watched]) -> None:
            if (one := me()) is not None:
                one.ended("timeout")

        context.sslobject_class = Watched

    def _failed(self, reason: str) -> None:
        self.failed[reason] += 1
        if self._seldom.due(reason):
            level = logging.WARNING if reason in _OURS_TO_MEND else logging.INFO
            _LOG.log(
                level,
                "A caller's TLS handshake failed: %s Further ones are counted, and told of again in ten minutes.",
                _SENTENCES[reason], extra=named("handshake_failed", reason=reason),
            )  # fmt: skip
