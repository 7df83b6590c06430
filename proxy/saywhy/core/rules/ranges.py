"""Spans of whole numbers: statuses (403, 4xx, 500-599) and sizes (5000: at most; 100-5000)."""

from typing import Any, NamedTuple


class Span(NamedTuple):
    """Both ends belong to it."""

    low: int
    high: int


def parse_span(value: Any) -> Any:
    """A span as written in a rule. A bare number is itself; callers that mean "at most" read `low` as they need."""
    if isinstance(value, Span):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return Span(value, value)
    if isinstance(value, str):
        text = value.strip().lower()
        if len(text) == 3 and text[0].isdecimal() and text[1:] == "xx":
            return Span(int(text[0]) * 100, int(text[0]) * 100 + 99)
        low, dash, high = text.partition("-")
        if dash and low.strip().isdecimal() and high.strip().isdecimal() and int(low) <= int(high) < 10**9:
            return Span(int(low), int(high))
        if text.isdecimal() and len(text) < 10:
            return Span(int(text), int(text))
    raise ValueError(f"{value!r} is no number, range (500-599) or class (4xx); write one of these")
