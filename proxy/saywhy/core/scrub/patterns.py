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


class Table:
    """Patterns compiled once; `scan` yields the findings of a text, unsorted and possibly overlapping."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        options = re2.Options()
        options.log_errors = False
        self._patterns = tuple((one, re2.compile(one.expression, options)) for one in patterns)
        doors: dict[str, int] = {}
        for place, one in enumerate(patterns):
            for literal in one.literals:
                doors[literal] = doors.get(literal, 0) | 1 << place
        self._automaton = ahocorasick.Automaton()
        for literal, mask in doors.items():
            self._automaton.add_word(literal, mask)
        self._automaton.make_automaton()

    def scan(self, text: str) -> Iterator[Span]:
        """Every finding in `text`; expressions whose literals are absent do not run."""
        if not text.isascii():  # RE2 takes UTF-8; a lone surrogate becomes one other character, offsets hold
            text = text.encode("utf-8", "replace").decode("utf-8")
        open_doors = 0
        for _, mask in self._automaton.iter(text.lower()):
            open_doors |= mask
        if not open_doors:
            return
        for place, (pattern, compiled) in enumerate(self._patterns):
            if open_doors >> place & 1:
                yield from _matches(pattern, compiled, text)


def _matches(pattern: Pattern, compiled: Any, text: str) -> Iterator[Span]:
    covered = 0  # what a widened finding took along already: keeps the widening linear
    for match in compiled.finditer(text):
        if match.start() < covered:
            continue
        if pattern.judge is not None and not pattern.judge(match, text):
            continue
        for group in pattern.groups:
            start, end = match.span(group)
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
