"""Whole JSON values, scrubbed deeply and bounded: for `error.original`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from saywhy.core.scrub import judges
from saywhy.core.scrub.patterns import MARK

_DEPTH = 12
_STRING = 1000
_NAME = 100
_BITS = 1400

TRACE_NAMES = frozenset(
    "stack stacktrace stack_trace trace traceback backtrace callstack call_stack frames stackframes debug_info "
    "full_trace application_trace framework_trace exceptions stacktracestring previous traces full_message".split()
)
"""Members (lower case) whose value is a trace, whatever its form."""

CleanCounted = Callable[..., tuple[str, dict[str, int]]]


def cleaned(value: Any, clean: CleanCounted, max_bytes: int) -> tuple[Any, dict[str, int]]:
    """A copy of `value` with every text scrubbed, members with secret or trace names marked, and what exceeds the
    depth or the budget left out (counted as `truncated`)."""
    walk = _Walk(clean, max_bytes)
    result = walk.copy(value, 0)
    return result, dict(walk.counts)


class _Walk:
    """One copy in progress: what is left of the budget, and the counts."""

    def __init__(self, clean: CleanCounted, max_bytes: int) -> None:
        self._clean = clean
        self._left = max_bytes
        self.counts: Counter[str] = Counter()

    def copy(self, value: Any, depth: int) -> Any:
        if isinstance(value, str):
            return self._text(value, _STRING)
        if value is None or isinstance(value, bool | int | float):
            # Python refuses to write integers of more than 4,300 digits; so does everybody long before.
            if isinstance(value, int) and value.bit_length() > _BITS:
                return MARK
            self._left -= 20
            return value
        if depth >= _DEPTH:
            self.counts["truncated"] += 1
            return MARK
        if isinstance(value, dict):
            return self._members(value, depth)
        if isinstance(value, list | tuple):
            return self._items(value, depth)
        self.counts["truncated"] += 1
        return MARK

    def _text(self, text: str, limit: int) -> str:
        result, counts = self._clean(text, limit=limit)
        self.counts.update(counts)
        self._left -= len(result.encode()) + 3
        return str(result)

    def _members(self, value: dict[Any, Any], depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for name, member in value.items():
            if self._left <= 0:
                self.counts["truncated"] += 1
                break
            key = self._text(str(name), _NAME)
            name = str(name).encode("utf-8", "replace").decode("utf-8")
            low = name.lower()
            if low in TRACE_NAMES and member and not isinstance(member, bool | int | float):
                self.counts["trace"] += 1
                result[key] = MARK
            elif _is_secret(name, member):
                self.counts["secret"] += 1
                result[key] = MARK
            else:
                copied = self.copy(member, depth + 1)
                # A key cut out of a sentence may leave one word, which is then told by its name.
                result[key] = MARK if copied != member and _is_secret(name, copied) else copied
        return result

    def _items(self, value: list[Any] | tuple[Any, ...], depth: int) -> list[Any]:
        result: list[Any] = []
        for item in value:
            if self._left <= 0:
                self.counts["truncated"] += 1
                break
            result.append(self.copy(item, depth + 1))
        return result


def _is_secret(name: str, member: Any) -> bool:
    return (
        isinstance(member, str) and bool(member) and judges.is_secret_name(name) and " " not in member.strip()
    )
