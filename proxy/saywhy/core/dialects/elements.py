"""XML read by local names, bounded: elements and texts, no attributes. Documents that declare a type are refused.

expat alone, because nothing here needs more: no entity is ever expanded but XML's own five.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

_MOST = 2000
_DEEPEST = 48


@dataclass(slots=True)
class Element:
    """One element: its local name, its text (children's left out), its children."""

    name: str
    text: str = ""
    children: list[Element] = field(default_factory=list)

    def walk(self) -> Iterator[Element]:
        """This element and all below, in document order."""
        yield self
        for child in self.children:
            yield from child.walk()

    def first(self, *names: str) -> Element | None:
        """The first element, this one included, whose local name is one of `names` (compared as written)."""
        return next((one for one in self.walk() if one.name in names), None)

    def said(self, *names: str) -> str | None:
        """The text of the first element of these names that has one, names tried in order."""
        for name in names:
            for one in self.walk():
                if one.name == name and one.text.strip():
                    return one.text.strip()
        return None


class _Stop(Exception):
    """Past a bound, or a document type."""


def parse(source: str) -> Element | None:
    """The root of a well-formed document within the bounds, or None."""
    try:
        return _Builder().build(source)
    except (expat.ExpatError, _Stop, ValueError, LookupError):
        return None


class _Builder:
    """Builds the tree from expat's events."""

    def __init__(self) -> None:
        self._stack: list[Element] = []
        self._root: Element | None = None
        self._count = 0

    def build(self, source: str) -> Element | None:
        start = source.lstrip("\ufeff \t\r\n")
        if start.startswith("<?xml"):  # the text is decoded already: its encoding declaration no longer holds
            start = start.partition("?>")[2].lstrip()
        parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.StartElementHandler = self._open
        parser.EndElementHandler = self._close
        parser.CharacterDataHandler = self._data
        parser.StartDoctypeDeclHandler = self._refuse
        parser.Parse(start.encode("utf-8", "replace"), True)
        return self._root

    def _open(self, name: str, _: dict[str, str]) -> None:
        self._count += 1
        if self._count > _MOST or len(self._stack) >= _DEEPEST:
            raise _Stop
        element = Element(name.rpartition(":")[2])
        if self._stack:
            self._stack[-1].children.append(element)
        else:
            self._root = element
        self._stack.append(element)

    def _close(self, _: str) -> None:
        self._stack.pop()

    def _data(self, text: str) -> None:
        if self._stack:
            self._stack[-1].text += text

    def _refuse(self, *_: object) -> None:
        raise _Stop
