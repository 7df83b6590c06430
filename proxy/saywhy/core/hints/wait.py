"""How long to wait, as the site says it: Retry-After (RFC 9110 10.2.3), else RateLimit, else its older spellings.

Waits of zero and moments that have passed count as absent: an agent told "0 seconds" loops. Longer waits are kept and
capped at a day; they are never shortened to a default.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import http_sf

from saywhy.core.model import Fields

CAP = 86_400
"""Seconds; the longest wait that is told on."""

_MAX_VALUE = 1024  # characters of a field that are looked at
_EPOCH_FROM = 1_000_000_000  # larger numbers are moments (2001 and later), smaller ones are seconds: 31 years
_MILLISECONDS_FROM = 100_000_000_000


def wait(fields: Fields, *, now: float) -> int | None:
    """Whole seconds to wait, rounded up and at most `CAP`, or None. `now` is Unix time, for answers without Date."""
    return retry_after(fields, now=now) or rate_limit(fields, now=now)


def retry_after(fields: Fields, *, now: float) -> int | None:
    """Seconds by Retry-After in either form; a date is taken against the response's own Date, which spares us the
    difference between two clocks.
    """
    moment = _moment(fields, now)
    found = (_seconds(value) or _until(value, moment) for value in fields.all("retry-after"))
    return next((seconds for seconds in found if seconds), None)


def rate_limit(fields: Fields, *, now: float) -> int | None:
    """Seconds by the RateLimit fields, where they say that nothing is left."""
    return _structured(fields) or _older(fields, _moment(fields, now))


def _structured(fields: Fields) -> int | None:
    """`RateLimit: "policy";r=0;t=30` (draft-ietf-httpapi-ratelimit-headers-10), or `limit=10, remaining=0, reset=30`
    (draft 07). Of several exhausted policies the longest wait.
    """
    value = (fields.joined("ratelimit") or "")[:_MAX_VALUE]
    if not value:
        return None
    waits = [seconds for left, seconds in [*_policies(value), *_members(value)] if left == 0]
    return max((_bounded(seconds) or 0 for seconds in waits), default=0) or None


def _policies(value: str) -> Iterator[tuple[float, float]]:
    try:
        parsed = http_sf.parse(value.encode("latin-1", "replace"), tltype="list")
    except (http_sf.StructuredFieldError, ValueError, IndexError, OverflowError):
        return
    for member in parsed if isinstance(parsed, list) else ():
        params = member[1] if isinstance(member, tuple) else {}
        left, seconds = params.get("r"), params.get("t")
        if isinstance(left, int) and isinstance(seconds, int):
            yield left, seconds


def _members(value: str) -> Iterator[tuple[float, float]]:
    members = dict(part.strip().partition("=")[::2] for part in value.split(",")[:16])
    left, seconds = _number(members.get("remaining", "")), _number(members.get("reset", ""))
    if left is not None and seconds is not None:
        yield left, seconds


def _older(fields: Fields, moment: float) -> int | None:
    """RateLimit-Reset and its X- spellings: seconds or a moment. Remaining, where sent, must be 0."""
    for stem in ("ratelimit", "x-ratelimit", "x-rate-limit"):
        remaining = fields.get(f"{stem}-remaining")
        if remaining is not None and _number(remaining) != 0:
            continue
        after = fields.get(f"{stem}-reset-after")
        reset = fields.get(f"{stem}-reset")
        seconds = (_seconds(after) if after else None) or (_reset(reset, moment) if reset else None)
        if seconds:
            return seconds
    return None


def _reset(value: str, moment: float) -> int | None:
    number = _number(value)
    if number is None:
        return _until(value, moment)
    if number >= _MILLISECONDS_FROM:
        number /= 1000
    return _bounded(number - moment if number >= _EPOCH_FROM else number)


def _seconds(value: str) -> int | None:
    number = _number(value)
    return None if number is None else _bounded(number)


def _number(value: str) -> float | None:
    """The number that `value` is; of a list the first. Fractions are read, for they are sent; signs are not."""
    text = value[:_MAX_VALUE].partition(",")[0].partition(";")[0].strip()
    whole, _, fraction = text.partition(".")
    if (
        not whole.isascii()
        or not whole.isdigit()
        or (fraction and not (fraction.isascii() and fraction.isdigit()))
    ):
        return None
    return float(text[:40])  # more digits than a float has; any such number is past the cap


def _until(value: str, moment: float) -> int | None:
    at = _date(value)
    return None if at is None else _bounded(at - moment)


def _moment(fields: Fields, now: float) -> float:
    at = _date(fields.get("date") or "")
    return now if at is None else at


def _date(value: str) -> float | None:
    """An HTTP-date (RFC 9110 5.6.7, all three forms) or an RFC 3339 one, as Unix time."""
    if not 16 <= len(value) <= 64:
        return None
    try:
        parsed = parsedate_to_datetime(value)
    except (TypeError, ValueError, IndexError, OverflowError):
        try:
            parsed = datetime.fromisoformat(value)
        except ValueError:
            return None
    try:
        return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()
    except (OverflowError, ValueError):
        return None


def _bounded(seconds: float) -> int | None:
    if not seconds > 0:  # nor is a NaN any wait
        return None
    return CAP if seconds >= CAP else math.ceil(seconds)
