"""One response under examination: heads, page, literals that were seen, and the work that is left."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from saywhy.core.model import Head
from saywhy.core.page import Page, Selector
from saywhy.core.rules.expressions import Expression

if TYPE_CHECKING:
    from bs4 import Tag

    from saywhy.core.rules.prefilter import Sighting


class Work(NamedTuple):
    """Most work for one response. RE2 reads about 100 MB a second and soupsieve a million nodes: a tenth of a second each
    at worst, reached only by pages made for it.
    """

    expressions: int = 400
    bytes: int = 8_000_000
    nodes: int = 100_000


class PastBound(Exception):
    """A condition cannot be decided within the bounds; the message says why in words of our own."""


class OutOfWork(PastBound):
    """The work for this response is spent: no further rule is tried."""


class Exam:
    """What conditions look at. `seen` are the literals found in the page."""

    __slots__ = ("exhausted", "head", "left_bytes", "left_expressions", "left_nodes", "page", "seen")

    def __init__(self, head: Head, page: Page, seen: Sighting, work: Work) -> None:
        self.head = head
        self.page = page
        self.seen = seen
        self.left_expressions, self.left_bytes, self.left_nodes = work
        self.exhausted = False

    def finds(self, expression: Expression, text: str) -> bool:
        """Whether `expression` is found in `text`; spends work, and raises OutOfWork when none is left."""
        self.left_expressions -= 1
        self.left_bytes -= len(text)
        if self.left_expressions < 0 or self.left_bytes < 0:
            self.exhausted = True
            raise OutOfWork("enough expressions were tried")
        return expression.search(text) is not None

    def first(self, selector: Selector) -> Tag | None:
        """The first element of the page that `selector` finds; PastBound where the page has no tree."""
        page = self.page
        if page.kind != "html":
            return None
        self.left_nodes -= page.source.count("<")
        if self.left_nodes < 0:
            self.exhausted = True
            raise OutOfWork("enough of the tree was searched")
        dom = page.dom
        if dom is None:
            self.exhausted = True
            raise PastBound("the page is too large or too deep for a tree")
        return selector.first(dom)

    def in_place(self, place: str | None) -> tuple[str, ...]:
        """The texts that `in: place` means; the visible text and the source where nothing was said."""
        page = self.page
        if place is None:
            return (page.text, page.source)
        return (page.text if place == "text" else page.title if place == "title" else page.source,)
