"""The answer to a request that could not be read: from what is safely known of it, and never with a byte of it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from saywhy.core.failures import look_up
from saywhy.core.model import Fields, Outcome, Request
from saywhy.relay.answers import composed, continued
from saywhy.relay.lines import CRLF, pair

if TYPE_CHECKING:
    from saywhy.relay.relay import Relay

_SAFE_FIELDS: Final = frozenset((b"accept", b"user-agent", b"sec-fetch-mode"))


def refusal(raw: bytes, token: str, relay: Relay, scheme: str) -> tuple[bytes, Outcome]:
    """The answer's bytes and what is recorded. `token` names a row of `core.failures`; the connection closes after it."""
    now = time.time()
    request = _what_is_safe(raw, scheme)
    verdict = relay.normalizer.fail(request, token, now=now)
    answer = composed(verdict, None, request.method == "HEAD", continued(False, False))
    outcome = Outcome(
        started=now,
        method=request.method,
        host="",
        path="",
        upstream="",
        request_id=relay.onward.request_id().decode(),
        traceparent="",
        original_status=0,
        sent_status=verdict.status,
        bytes_in=len(raw),
        bytes_out=len(answer),
        duration=0.0,
        upstream_duration=0.0,
        rewrite_duration=0.0,
        verdict=verdict,
        failure=look_up(token).token,
    )
    return answer, outcome


def _what_is_safe(raw: bytes, scheme: str) -> Request:
    """So much of a refused request as decides in which form it is told so: nothing that an answer could echo."""
    lines = raw.split(CRLF)
    method = lines[0].partition(b" ")[0]
    fields = [pair(line) for line in lines[1:] if line.partition(b":")[0].lower() in _SAFE_FIELDS]
    clean = [
        (name, value) for name, value in fields if value.isascii() and bytes(value).decode().isprintable()
    ]
    return Request(
        method="HEAD" if method == b"HEAD" else "GET", target=b"/", fields=Fields(clean), scheme=scheme
    )
