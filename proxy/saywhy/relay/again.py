"""Which requests are sent once more when their connection turns out to be dead, and when; POST and PATCH never."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from saywhy.relay.exchange import Exchange

_SAFE: Final = frozenset((b"GET", b"HEAD", b"OPTIONS", b"TRACE"))
"""Methods that change nothing (RFC 9110 9.2.1)."""
_ONCE_MORE: Final = _SAFE | {b"DELETE", b"PUT"}
"""Methods that may be sent again (RFC 9110 9.2.2)."""

QUEUED_SECONDS: Final = 5.0
"""A request that was away for longer was not in a queue: it was worked on, and perhaps is what broke the site."""


_NOT_SENT: Final = frozenset(
    (
        "dns_error", "dns_timeout", "destination_ip_unroutable", "connection_refused", "connection_timeout",
        "connection_limit_reached", "destination_unavailable", "tls_protocol_error", "tls_certificate_error",
    )
)  # fmt: skip
"""Failures to get a connection: of a request that is sent for the first time they say that it was not sent."""


def as_sent(token: str) -> str:
    """What to call the failure `token` of a request that has been sent once, and was to be sent once more: by how the first
    time ended. The site may have worked on it, and nobody must read that it was not sent.
    """
    return "connection_terminated" if token in _NOT_SENT else token


def may_repeat(exchange: Exchange) -> bool:
    """Whether its method may be sent twice."""
    return exchange.head.method in _ONCE_MORE


def may_retry(exchange: Exchange) -> bool:
    """Whether to try once more where the site left before it answered: a kept connection was dead, or a new one ended at
    once. So does a site that ends while its successor already listens, with whoever waits in its own queue.
    """
    if exchange.retried or exchange.body_sent:
        return False
    if exchange.on_kept:
        return may_repeat(exchange)
    return exchange.head.method in _SAFE and perf_counter() - exchange.sent_at < QUEUED_SECONDS
