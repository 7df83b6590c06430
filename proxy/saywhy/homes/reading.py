"""One response at hand, read as an envelope: the home without a site, for agents, tests and notebooks."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from saywhy.core.contract.envelope import Envelope
from saywhy.core.model import Caller, Fields, Head, Plan, Request, Response, as_bytes
from saywhy.core.normalize import Normalizer
from saywhy.core.policy import Policy, Routes

if TYPE_CHECKING:
    from saywhy.core.rules import Rulebook

_Section = Mapping[str, str | list[str]] | Iterable[tuple[str, str]] | Fields

_READER = Caller(True, "pinned", "application/json", True, reason="from_response reads for an agent")
_POLICY = Policy(callers="everyone", structured_errors="envelope")


def from_response(
    status: int,
    headers: _Section,
    body: bytes | str,
    *,
    method: str = "GET",
    url: str | None = None,
    request_headers: _Section | None = None,
    rulebook: Rulebook | None = None,
    now: float | None = None,
) -> Envelope:
    """The envelope of one failed response (shape as in Agent errors draft 0.1).

    `headers` is a mapping (values may be lists) or pairs; `body` the bytes as they came, content codings still on, or
    text; `url` what was asked for, which names the host in messages; `request_headers` may hold an Idempotency-Key;
    `rulebook` defaults to the rules that ship with saywhy; `now` is Unix time and defaults to the clock.

    Raises ValueError for a status of other than three digits, and for one below 400 that no rule reads as a failure.
    Any text will do for the rest: an address that is none names no host, lone surrogates are read as `?`.
    """
    if not isinstance(status, int) or not 100 <= status <= 999:
        raise ValueError(f"{status!r} is no HTTP status; give a number from 100 to 999")
    normalizer = _default() if rulebook is None else Normalizer(rulebook, Routes((_POLICY,)))
    parts = _parts(url)
    fields = Fields.of(request_headers or {})
    if parts.netloc and "host" not in fields:
        fields = Fields(
            [*fields.lines, (b"Host", parts.netloc.rpartition("@")[2].encode("ascii", "replace"))]
        )
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    request = Request(method, as_bytes(target), fields, parts.scheme or "http")
    head = Head(request, Response(status, Fields.of(headers)))
    raw = as_bytes(body)
    # No triage: whoever calls this wants it read, event streams and partial content alike.
    plan = Plan("hold" if status >= 400 else "peek", "", _READER, _POLICY, len(raw))
    moment = time.time() if now is None or not math.isfinite(now) else now
    verdict = normalizer.normalize(head, plan, raw, complete=True, now=moment)
    if verdict.envelope is None:
        raise ValueError(f"nothing in this response with status {status} says that it is a failure")
    return verdict.envelope


def _parts(url: str | None) -> SplitResult:
    try:
        return urlsplit(url or "")
    except ValueError:  # brackets that hold no address
        return urlsplit("")


@cache
def _default() -> Normalizer:
    from saywhy.edge.packs import load_rulebook, shipped_rules

    return Normalizer(load_rulebook([shipped_rules()]), Routes((_POLICY,)))
