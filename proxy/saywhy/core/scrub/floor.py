"""The floor: what no app needs to read is redacted in place in bodies that are otherwise kept byte for byte.

Traces, private keys, provider tokens, connection strings. E-mail addresses, one-time tokens and paths may be the
app's own protocol and stay.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from functools import cache

import re2

from saywhy.core.scrub import coded, secrets, traces
from saywhy.core.scrub.patterns import MARK, Span, Table, merged
from saywhy.core.scrub.values import TRACE_NAMES

_TOKENS = re2.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]:,]')

_TRACE_ELEMENTS = (
    "trace",
    "stackTrace",
    "stacktrace",
    "StackTrace",
    "stack",
    "backtrace",
    "Backtrace",
    "stack_trace",
    "ExceptionDetail",
)

Found = Callable[[str], list[Span]]


@cache
def _floor() -> Table:
    return Table((*secrets.FLOOR, *traces.FLOOR))


def redacted(body: bytes, found: Found) -> tuple[bytes, dict[str, int]]:
    """`body` with the floor's kinds redacted in place, and the counts. Well-formed JSON stays well-formed."""
    counts: Counter[str] = Counter()
    try:
        json.loads(body)
        text = body.decode("utf-8")
    except (ValueError, RecursionError):
        return _in_markup(body.decode("latin-1"), found, counts).encode("latin-1"), dict(counts)
    del text
    return _in_json(body, found, counts), dict(counts)


def _in_json(body: bytes, found: Found, counts: Counter[str]) -> bytes:
    parts: list[bytes] = []
    at = 0
    name = b""  # the member name that waits for its value
    skip_from = -1  # where a trace's array or object began
    depth = skip_depth = 0
    last_string: tuple[int, int] | None = None
    for match in _TOKENS.finditer(body):
        start, end = match.span()
        mark = body[start : start + 1]
        if mark in b"{[":
            depth += 1
            if skip_from < 0 and _is_trace_name(name):
                skip_from, skip_depth = start, depth
            name, last_string = b"", None
        elif mark in b"}]":
            if skip_from >= 0 and depth == skip_depth:
                if body[skip_from + 1 : start].strip():
                    counts["trace"] += 1
                    parts += (body[at : skip_from + 1], body[start:end])
                    at = end
                skip_from = -1
            depth -= 1
            name, last_string = b"", None
        elif mark == b":":
            name = body[last_string[0] : last_string[1]] if last_string else b""
        elif mark == b",":
            name, last_string = b"", None
        else:
            last_string = (start, end)
            if skip_from < 0:
                new = _string(body[start:end], name, found, counts)
                if new is not None:
                    parts += (body[at:start], new)
                    at = end
    parts.append(body[at:])
    return b"".join(parts)


def _in_markup(text: str, found: Found, counts: Counter[str]) -> str:
    """Latin-1 text of an XML body, so that every byte is one character. An element that is a trace loses its content."""
    for name in _TRACE_ELEMENTS:
        if f"<{name}>" in text:
            head, _, rest = text.partition(f"<{name}>")
            inner, close, tail = rest.rpartition(f"</{name}>")
            if close and inner.strip() and inner.strip() != MARK:
                counts["trace"] += 1
                text = f"{head}<{name}>{MARK}{close}{tail}"
    return _marked(text, found, counts)


def _is_trace_name(name: bytes) -> bool:
    return name[1:-1].decode("utf-8", "replace").lower() in TRACE_NAMES


def _string(raw: bytes, name: bytes, found: Found, counts: Counter[str]) -> bytes | None:
    """A changed string literal, or None when it may stay as it is."""
    text: str = json.loads(raw)
    if name and _is_trace_name(name) and ("\n" in text or len(text) > 120):
        counts["trace"] += 1
        return f'"{MARK}"'.encode()
    new = _marked(text, found, counts)
    return (
        None if new == text else json.dumps(new, ensure_ascii=raw.isascii()).encode("utf-8", "surrogatepass")
    )


def _marked(text: str, found: Found, counts: Counter[str]) -> str:
    parts: list[str] = []
    at = 0

    def scan(one: str) -> list[Span]:
        return [*_floor().scan(one), *found(one)]

    for span in merged([*scan(text), *coded.decoded_spans(text, scan)]):
        between = text[at : span.start]
        counts[span.kind] += 1
        if parts and not any(letter.isalnum() for letter in between):
            at = span.end  # frame after frame: one mark for the run
            continue
        parts += (between, MARK)
        at = span.end
    parts.append(text[at:])
    return "".join(parts)
