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
