"""A compiled CSS selector: soupsieve, the selector engine of BeautifulSoup."""

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


def attribute(element: Tag, name: str) -> str | None:
    """An attribute as text; a list-valued one (class) joined by blanks."""
    value = element.get(name)
    return " ".join(value) if isinstance(value, list) else value
