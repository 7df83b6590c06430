"""A compiled CSS selector: soupsieve, the selector engine of BeautifulSoup."""

from collections.abc import Sequence

import soupsieve
from bs4 import BeautifulSoup, Tag

from saywhy.core.page.html import fold_space


class Selector:
    """CSS that was checked once. Raises ValueError, with the place in words, where `css` is not a selector."""

    __slots__ = ("_compiled", "css")

    def __init__(self, css: str) -> None:
        self.css = css
        try:
            self._compiled = soupsieve.compile(css)
        except (soupsieve.SelectorSyntaxError, ValueError, NotImplementedError) as error:
            raise ValueError(str(error).partition("\n")[0].rstrip(".:")) from None

    def first(self, dom: BeautifulSoup) -> Tag | None:
        """The first element found, in document order."""
        try:
            return self._compiled.select_one(dom)
        except (ValueError, RecursionError):
            return None


def element_text(element: Tag) -> str:
    """The element's text, white space folded."""
    return fold_space(element.get_text(" "))


def followed_text(element: Tag, names: Sequence[str]) -> str | None:
    """The text of the element whose id stands in one of the attributes `names`, as in aria-describedby; the first name
    that leads to text counts. Of several ids the last one: hints come before complaints. None where there is none.
    """
    root = next(reversed(list(element.parents)), None)
    ids = [one for name in names for one in reversed((attribute(element, name) or "").split()[-_MOST_IDS:])]
    for one in ids:
        found = root.find(id=one) if root is not None else None
        if isinstance(found, Tag) and (text := element_text(found)):
            return text
    return None


_MOST_IDS = 4


def attribute(element: Tag, name: str) -> str | None:
    """An attribute as text; a list-valued one (class) joined by blanks."""
    value = element.get(name)
    return " ".join(value) if isinstance(value, list) else value
