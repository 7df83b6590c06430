"""The one pass over a page for the literals of all rules, and the masks that say which rules are worth a look.

A rule has a door when some cheap thing must be there for it to match: one of its literals, a field. Doors are bits of
one integer per literal and field, so that a thousand rules whose doors stay shut cost one OR for each literal that the
page does contain, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import ahocorasick

from saywhy.core.model import Head
from saywhy.core.page import Page
from saywhy.core.rules.fold import fold, fold_literal

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


class Prefilter:
    """All literals in one automaton, all doors as masks. Rule `i` of the order is bit `1 << i`."""

    def __init__(self, literals: Iterable[str], doors: Iterable[Door]) -> None:
        self._automaton = ahocorasick.Automaton()
        for literal in {fold_literal(literal) for literal in literals}:
            self._automaton.add_word(literal, literal)
        if len(self._automaton):
            self._automaton.make_automaton()
        self.open = 0  # rules without a door
        self._by_place: dict[str, dict[str, int]] = {"text": {}, "source": {}, "title": {}}
        self._by_field: dict[str, int] = {}
        for place, door in enumerate(doors):
            self._hang(door, 1 << place)

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

    def _found(self, text: str) -> frozenset[str]:
        if not text or not len(self._automaton):
            return frozenset()
        return frozenset([literal for _, literal in self._automaton.iter(fold(text))])

    def look(self, page: Page) -> Sighting:
        """The literals in the page's text, source and title."""
        if not page.source:
            return NOTHING_SEEN
        if page.scanned is not None and page.scanned[0] is self and isinstance(page.scanned[1], Sighting):
            return page.scanned[1]
        seen = Sighting(self._found(page.text), self._found(page.source), self._found(page.title))
        page.scanned = (self, seen)
        return seen

    def fields(self, head: Head) -> int:
        """The rules whose door is a field that the response has."""
        mask, by_field = 0, self._by_field
        names = head.response.fields.names()
        for name in by_field.keys() & names:
            mask |= by_field[name]
        return mask

    def opened(self, seen: Sighting) -> int:
        """The rules whose door is a literal that was seen."""
        mask = 0
        for literals, masks in ((seen.text, "text"), (seen.source, "source"), (seen.title, "title")):
            by_literal = self._by_place[masks]
            for literal in literals:
                mask |= by_literal.get(literal, 0)
        return mask
