"""The pass over a page for the literals of the rules that may speak, and the masks that say which are worth a look.

Rules that status, method and media type rule out cost nothing: their literals are not looked for, and a place (text,
source, title) that no rule asks about is not even read. A rule has a door when some cheap thing must be there for it to match: one of its literals, a field. Doors are bits of
one integer per literal and field, so that a thousand rules whose doors stay shut cost one OR for each literal that the
page does contain, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import ahocorasick
import re2

from saywhy.core.model import Head
from saywhy.core.page import Page
from saywhy.core.rules.fold import fold

Key = tuple[str, str]
"""(where, what): where is text, source, title, anywhere (text or source) or field; what a folded literal or a name."""
Door = frozenset[Key] | None
"""Any one of these opens; None is a rule without a door, which is always looked at."""


class Sighting(NamedTuple):
    """Folded literals that the page contains, by place."""

    text: frozenset[str]
    source: frozenset[str]
    title: frozenset[str]

    def has(self, literal: str, place: str | None) -> bool:
        """Whether `literal` (folded) was seen in `place`; None is text or source."""
        if place is None:
            return literal in self.text or literal in self.source
        if place == "text":
            return literal in self.text
        return literal in (self.source if place == "source" else self.title)


NOTHING_SEEN = Sighting(frozenset(), frozenset(), frozenset())


class Finder:
    """One set of literals, looked for at once. An RE2 alternation says in 1 ns a byte that none is there, which is what
    most pages answer; only from its first hit on does the Aho-Corasick automaton, ten times slower, tell them all.
    """

    def __init__(self, literals: frozenset[str]) -> None:
        self._automaton = ahocorasick.Automaton()
        for literal in literals:
            self._automaton.add_word(literal, literal)
        if literals:
            self._automaton.make_automaton()
        self._any = _alternation(literals) if literals else None
        self.empty = not literals

    def found(self, folded: str) -> frozenset[str]:
        """The literals that a folded text holds."""
        if not folded or self.empty:
            return _NOTHING
        start = 0
        if self._any is not None and len(folded) > _SHORT:
            first = self._any.search(folded.encode("utf-8", "replace"))
            if first is None:
                return _NOTHING
            # A byte offset is never less than the character's, so what comes before it in bytes may be too much.
            start = first.start() if folded.isascii() else 0
        return frozenset([literal for _, literal in self._automaton.iter(folded, start)])


_NOTHING: frozenset[str] = frozenset()
_SHORT = 400  # characters that the automaton reads while RE2 is being called


def _alternation(literals: frozenset[str]) -> Any:
    """The literals as one expression; None where there are so many that RE2 would run out of its memory."""
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 64 << 20  # of states that are made as pages need them; a thousand literals take 4 MB
    options.never_capture = True
    try:
        return re2.compile(
            "|".join(re2.escape(literal) for literal in sorted(literals)).encode("utf-8"), options
        )
    except re2.error:
        return None


class Shelf(NamedTuple):
    """The literals of some rules by the place where they are looked for."""

    text: Finder
    source: Finder
    title: Finder

    def look(self, page: Page) -> Sighting:
        """The literals in the page's text, source and title. A page is read as far as somebody asks for it."""
        if not page.source:
            return NOTHING_SEEN
        return Sighting(
            _NOTHING if self.text.empty else self.text.found(fold(page.text)),
            _NOTHING if self.source.empty else self.source.found(_folded_source(page)),
            _NOTHING if self.title.empty else self.title.found(fold(page.title)),
        )


def _folded_source(page: Page) -> str:
    return page.low if page.source.isascii() else fold(page.source)


_PLACES = ("text", "source", "title")
_MOST_SIGHTINGS = 8  # of one page: it comes with a status or two
_MOST_SHELVES = 64
"""Sets of rules whose literals are kept apart: one a status and media type, where rules name those. More share one."""


class Prefilter:
    """The literals of all rules and their doors as masks. Rule `i` of the order is bit `1 << i`."""

    def __init__(self, literals: Iterable[Iterable[Key]], doors: Iterable[Door]) -> None:
        self._literals = tuple(frozenset(keys) for keys in literals)
        self.open = 0  # rules without a door
        self._by_place: dict[str, dict[str, int]] = {place: {} for place in _PLACES}
        self._by_field: dict[str, int] = {}
        for place, door in enumerate(doors):
            self._hang(door, 1 << place)
        self._shelves: dict[int, Shelf] = {}
        self._whole: Shelf | None = None

    def _hang(self, door: Door, bit: int) -> None:
        if door is None:
            self.open |= bit
            return
        for where, what in door:
            if where == "field":
                self._by_field[what] = self._by_field.get(what, 0) | bit
                continue
            for place in ("text", "source") if where == "anywhere" else (where,):
                masks = self._by_place[place]
                masks[what] = masks.get(what, 0) | bit

    def _shelf(self, mask: int) -> Shelf:
        """The literals of the rules in `mask`, or of all rules once there are too many sets of them."""
        shelf = self._shelves.get(mask)
        if shelf is not None:
            return shelf
        if len(self._shelves) >= _MOST_SHELVES:
            if self._whole is None:
                self._whole = self._made((1 << len(self._literals)) - 1)
            return self._whole
        return self._shelves.setdefault(mask, self._made(mask))

    def _made(self, mask: int) -> Shelf:
        keys = {key for place, keys in enumerate(self._literals) if mask >> place & 1 for key in keys}
        sets = [
            frozenset(what for where, what in keys if where in (place, _WHERE.get(place)))
            for place in _PLACES
        ]
        return Shelf(*map(Finder, sets))

    def look(self, page: Page, mask: int) -> Sighting:
        """What the page holds of the literals of the rules in `mask`; once for each page and set."""
        seen = page.seen.get((self, mask))
        if not isinstance(seen, Sighting):
            seen = self._shelf(mask).look(page)
            if len(page.seen) < _MOST_SIGHTINGS:
                page.seen[self, mask] = seen
        return seen

    def fields(self, head: Head) -> int:
        """The rules whose door is a field that the response has."""
        mask = 0
        for name in self._by_field.keys() & head.response.fields.names():
            mask |= self._by_field[name]
        return mask

    def opened(self, seen: Sighting) -> int:
        """The rules whose door is a literal that was seen."""
        mask = 0
        for literals, place in zip(seen, _PLACES, strict=True):
            by_literal = self._by_place[place]
            for literal in literals:
                mask |= by_literal.get(literal, 0)
        return mask


_WHERE = {"text": "anywhere", "source": "anywhere"}
