"""What one pattern of scrub is, and the table that runs many of them behind one pass for literals.

A pattern is tried only when one of its literals occurs in the text (compared lower-cased, one Aho-Corasick pass for
all patterns together); the expressions are RE2, so the cost is linear in the text whatever a site sends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import ahocorasick
import re2

MARK = "[redacted]"
"""What stands where a secret stood. Never itself a finding."""

Judge = Callable[[Any, str], bool]
"""Takes the match and the whole text: whether it is what it looks like."""


class Span(NamedTuple):
    """A finding: half-open offsets in the text, the kind, and whether it is cut out (a trace) or marked (a secret)."""

    start: int
    end: int
    kind: str
    cut: bool


class Pattern(NamedTuple):
    """One expression. `groups` name what is redacted: the first of them that took part in the match (0: all)."""

    kind: str
    literals: tuple[str, ...]  # lower case; any of them opens the door
    expression: str
    groups: tuple[int, ...] = (0,)
    judge: Judge | None = None
    cut: bool = False  # cut out instead of marked
    whole_sentence: bool = False  # takes the sentence around it along


class Hit:
    """One match of an expression, its offsets in characters. The expressions run on bytes, where a match costs a third
    of what it costs on text.
    """

    __slots__ = ("_base", "_data", "_match", "_origin")

    def __init__(self, data: bytes, match: Any, origin: int, base: int) -> None:
        self._data = data
        self._match = match
        self._origin = origin  # a byte offset at or before the match
        self._base = base  # and the character that stands there

    def group(self, number: int = 0) -> str | None:
        """A group's text; None where it took no part."""
        start, end = self._match.span(number)
        return self._data[start:end].decode("utf-8", "replace") if start >= 0 else None

    def start(self, number: int = 0) -> int:
        """Where a group begins, -1 where it took no part."""
        return self._place(self._match.start(number))

    def span(self, number: int = 0) -> tuple[int, int]:
        """Where a group begins and ends, (-1, -1) where it took no part."""
        start, end = self._match.span(number)
        return self._place(start), self._place(end)

    def _place(self, at: int) -> int:
        return at if at < 0 else self._base + _characters(self._data, self._origin, at)


def _characters(data: bytes, start: int, end: int) -> int:
    """How many characters of UTF-8 stand between two offsets at their edges."""
    piece = data[start:end]
    return len(piece) if piece.isascii() else len(piece.decode("utf-8", "replace"))


class Table:
    """Patterns compiled once; `scan` yields the findings of a text, unsorted and possibly overlapping."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        options = re2.Options()
        options.log_errors = False
        self._patterns = tuple(
            (one, re2.compile(one.expression.encode("utf-8"), options)) for one in patterns
        )
        doors: dict[str, int] = {}
        for place, one in enumerate(patterns):
            for literal in one.literals:
                doors[literal] = doors.get(literal, 0) | 1 << place
        self._automaton = ahocorasick.Automaton()
        for literal, mask in doors.items():
            self._automaton.add_word(literal, mask)
        self._automaton.make_automaton()

    def scan(self, text: str, most: int | None = None) -> Iterator[Span]:
        """Every finding in `text`; expressions whose literals are absent do not run. What follows the first `most`
        matches of one expression is one finding: no sentence has so many, and a text made of them says nothing.
        """
        data = text.encode("utf-8", "replace")  # a lone surrogate becomes one other character, offsets hold
        open_doors = 0
        for _, mask in self._automaton.iter(text.lower()):
            open_doors |= mask
        if not open_doors:
            return
        for place, (pattern, compiled) in enumerate(self._patterns):
            if open_doors >> place & 1:
                yield from _matches(pattern, compiled, text, data, most)


def _matches(pattern: Pattern, compiled: Any, text: str, data: bytes, most: int | None) -> Iterator[Span]:
    covered = 0  # what a widened finding took along already: keeps the widening linear
    origin = base = 0
    for count, match in enumerate(compiled.finditer(data)):
        begin = match.start()
        base, origin = base + _characters(data, origin, begin), begin
        if count == most:
            yield Span(base, len(text), pattern.kind, pattern.cut)
            return
        if base < covered:
            continue
        hit = Hit(data, match, origin, base)
        if pattern.judge is not None and not pattern.judge(hit, text):
            continue
        for group in pattern.groups:
            start, end = hit.span(group)
            if start >= 0 and end > start:
                if pattern.whole_sentence:
                    start, end = _sentence(text, start, end)
                    covered = end
                yield Span(start, end, pattern.kind, pattern.cut)
                break


def _sentence(text: str, start: int, end: int) -> tuple[int, int]:
    """Widens a span to the sentence that holds it; abbreviations cost a little too much, never too little."""
    first = max((text.rfind(stop, 0, start) for stop in (". ", "! ", "? ", "\n")), default=-1)
    ends = [at for stop in (". ", "! ", "? ", "\n") if (at := text.find(stop, end)) >= 0]
    return (first + 1 if first >= 0 else 0), (min(ends) + 1 if ends else len(text))


def merged(spans: Sequence[Span]) -> list[Span]:
    """Sorted and without overlaps: what touches or overlaps becomes one, named after the first of them."""
    result: list[Span] = []
    for span in sorted(spans):
        if result and span.start <= result[-1].end:
            last = result[-1]
            if span.end <= last.end:
                continue  # within: the outer one decides
            cut = span.cut if span.start == last.start else last.cut and span.cut
            result[-1] = Span(last.start, span.end, last.kind, cut)
        else:
            result.append(span)
    return result


def replaced(text: str, spans: Sequence[Span]) -> str:
    """`text` with marks for what is redacted and a space for what is cut. `spans` come from `merged`."""
    parts: list[str] = []
    at = 0
    for span in spans:
        parts += (text[at : span.start], " " if span.cut else MARK)
        at = span.end
    parts.append(text[at:])
    return "".join(parts)
