"""`Scrubber`: every text that leaves goes through one of these.

A scrubbed text is a fixed point: the passes are repeated until nothing changes, so scrubbing twice is scrubbing once.
No state, no clock; a secret scanner from outside is handed in as a `Finder`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, Protocol

from saywhy.core.scrub import coded, floor, paths, plain, secrets, traces, values
from saywhy.core.scrub.clean import Clean
from saywhy.core.scrub.patterns import MARK, Span, Table, merged, replaced

_INPUT = 32_768
"""Characters read of one text: 65 times what may leave of it, so that a long trace before the sentence is no loss."""

_ROUNDS = 8

_MOST_MATCHES = 400
"""Matches of one expression that are looked at in one text: one a line would be more than any log that leaks."""

_REMEMBERED = 512
_SHORT = 600
"""Texts, and the characters of one, for which the answer whether they are clean is kept: our sentences about a host."""


class Finder(Protocol):
    """A secret scanner from outside."""

    def find(self, text: str) -> Iterable[tuple[int, int, str]]:
        """(start, end, kind) of every secret in `text`; half-open offsets in characters."""


@cache
def _everything() -> Table:
    return Table((*traces.PATTERNS, *secrets.PATTERNS, *paths.PATTERNS))


class Scrubber:
    """Makes `Clean` of any text and clean values of any JSON. Never raises on what a site sent."""

    def __init__(self, finders: Sequence[Finder] = ()) -> None:
        self._finders = tuple(finders)
        self._table = _everything()
        self._known: dict[str, bool] = {}

    def clean(self, text: str, *, limit: int = 500) -> Clean:
        """`text` as one plain line of at most `limit` characters: no markup, no control, bidi or zero-width
        characters, no chat-template marks, no traces; secrets, paths, private addresses and hosts as `[redacted]`.
        Empty where nothing is left to say."""
        return self.clean_counted(text, limit=limit)[0]

    def clean_counted(self, text: str, *, limit: int = 500) -> tuple[Clean, dict[str, int]]:
        """As `clean`, with how often each kind was taken out."""
        counts: Counter[str] = Counter()
        text = _bounded(text)
        for _ in range(_ROUNDS):
            before = text
            text = plain.fold(traces.without_frames(plain.bare(text)))
            spans = self._spans(text)
            if spans:
                counts.update(span.kind for span in spans)
                text = plain.fold(replaced(text, spans))
            text = plain.cut(text, limit)
            if text == before:
                return Clean(text if plain.says_something(text) else ""), dict(counts)
        return Clean(""), dict(counts)

    def sentences(self, text: str) -> Iterator[str]:
        """The sentences of a text that scrub leaves as they are, in order: safe to quote whole."""
        flat = plain.fold(traces.without_frames(plain.bare(_bounded(text))))
        for sentence in plain.sentences(flat):
            if self.clean(sentence, limit=max(len(sentence), 2)) == sentence:
                yield sentence

    def findings(self, text: str) -> dict[str, int]:
        """What would be taken out of `text`, by kind; empty for a text that may leave. Reads any serialisation."""
        return dict(Counter(span.kind for span in self._spans(text)))

    def is_clean(self, text: str) -> bool:
        """Whether `text` may leave as it is. For short texts that come again with every exchange: the answer is kept."""
        known = self._known.get(text)
        if known is None:
            known = not self._spans(text)
            if len(text) <= _SHORT:
                if len(self._known) >= _REMEMBERED:
                    self._known.clear()
                self._known[text] = known
        return known

    def clean_json(self, value: Any, *, max_bytes: int = 8192) -> tuple[Any, dict[str, int]]:
        """A clean copy of a JSON value, bounded in depth and in about `max_bytes` serialised, and the counts."""
        return values.cleaned(value, self.clean_counted, max_bytes)

    def redact_floor(self, body: bytes) -> tuple[bytes, dict[str, int]]:
        """A JSON or XML body that is kept, with traces, private keys, provider tokens and connection strings redacted
        in place; every other byte as it was."""
        return floor.redacted(body, self._found)

    def _spans(self, text: str) -> list[Span]:
        twin = plain.twin(text)
        return merged([*self._scan(twin), *coded.decoded_spans(twin, self._scan)])

    def _scan(self, text: str) -> list[Span]:
        return [*self._table.scan(text, _MOST_MATCHES), *self._found(text)]

    def _found(self, text: str) -> list[Span]:
        return [
            Span(start, end, kind, False)
            for finder in self._finders
            for start, end, kind in finder.find(text)
            if 0 <= start < end <= len(text) and MARK not in text[start:end]
        ]


def _bounded(text: str) -> str:
    if len(text) <= _INPUT:
        return text
    head = text[:_INPUT]
    space = max(head.rfind(" "), head.rfind("\n"))
    return head[:space] if space > _INPUT // 2 else head
