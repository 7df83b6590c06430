"""What a compiled condition is, and the table of all conditions: one row each. Adding one: its shape, its row here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from saywhy.core.model import Head
from saywhy.core.rules.exam import Exam
from saywhy.core.rules.prefilter import Door, Key


def unknown(_head: Head) -> bool | None:
    """What a condition on the page says of the head alone."""
    return None


class Condition(NamedTuple):
    """One compiled condition.

    `holds` decides; `why` says in words what stopped it; `on_head` decides as far as heads go (None: the page must be
    asked); where not `may_settle`, never True. `door` must open for it to hold; `literals` are looked for while it is a candidate. `head_only`: never asks the page.
    """

    key: str
    cost: int
    holds: Callable[[Exam], bool]
    why: Callable[[Exam], str]
    on_head: Callable[[Head], bool | None] = unknown
    head_only: bool = False
    may_settle: bool = False
    door: Door = None
    literals: tuple[Key, ...] = ()


class Row(NamedTuple):
    """One kind of condition: its key in `when`, the attribute of the shape that holds it, how to compile it."""

    key: str
    attribute: str
    build: Callable[[Any], Condition]


def shown(value: str, most: int = 60) -> str:
    """A site's value for a step of `explain`: short, on one line, in quotes."""
    text = " ".join(value.split())
    return repr(text if len(text) <= most else text[: most - 3] + "...")


def none_of(what: str, wanted: list[str]) -> str:
    """`none of a, b` or `not a`; long lists are counted."""
    if len(wanted) == 1:
        return f"{what} is not {wanted[0]}"
    return f"{what} is none of {', '.join(wanted) if len(wanted) <= 6 else f'{len(wanted)} values'}"
