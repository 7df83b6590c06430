"""all, any, not: groups of conditions, and the table of every condition there is."""

from __future__ import annotations

from saywhy.core.model import Head
from saywhy.core.rules import headtests, pagetests
from saywhy.core.rules.conditions import Condition, Row
from saywhy.core.rules.exam import Exam, PastBound
from saywhy.core.rules.prefilter import Door, Key
from saywhy.core.rules.shape import When

ROWS = (
    Row("status", "status", headtests.status),
    Row("method", "method", headtests.method),
    Row("host", "host", headtests.host),
    Row("path", "path", headtests.path),
    Row("header", "header", headtests.header),
    Row("cookie", "cookie", headtests.cookie),
    Row("media", "media", headtests.media),
    Row("title", "title", pagetests.title),
    Row("contains", "contains", pagetests.contains),
    Row("matches", "matches", pagetests.matches),
    Row("select", "select", pagetests.select),
    Row("script", "script", pagetests.script),
    Row("json", "json_", pagetests.json),
    Row("jsonld", "jsonld", pagetests.jsonld),
    Row("size", "size", pagetests.size),
)
"""One row a condition; a test holds them against the shape and the schema."""


def compile_when(when: When) -> Condition:
    """All conditions of one group as one, cheapest first."""
    children = [row.build(value) for row in ROWS if (value := getattr(when, row.attribute)) is not None]
    if when.all is not None:
        children.extend(compile_when(group) for group in when.all)
    if when.any is not None:
        children.append(_any([compile_when(group) for group in when.any]))
    if when.not_ is not None:
        children.append(_not([compile_when(group) for group in when.not_]))
    return _all(children)


def _literals(children: list[Condition]) -> tuple[Key, ...]:
    return tuple(literal for child in children for literal in child.literals)


def _rank(door: Door) -> int:
    """How good a door is: fields beat literals of the title, those beat literals; fewer beat more."""
    if door is None:
        return 1 << 30
    place = min(({"field": 0, "title": 1}.get(where, 2) for where, _ in door), default=0)
    return place * 10_000 + len(door)


def _all(children: list[Condition]) -> Condition:
    ordered = tuple(sorted(children, key=lambda child: child.cost))

    def holds(exam: Exam) -> bool:
        return all(child.holds(exam) for child in ordered)

    def why(exam: Exam) -> str:
        return next((child.why(exam) for child in ordered if not child.holds(exam)), "")

    def on_head(head: Head) -> bool | None:
        answer: bool | None = True
        for child in ordered:
            one = child.on_head(head)
            if one is False:
                return False
            answer = None if one is None else answer
        return answer

    doors = [child.door for child in ordered if child.door is not None]
    return Condition(
        "all",
        max(child.cost for child in ordered),
        holds,
        why,
        on_head,
        head_only=all(child.head_only for child in ordered),
        may_settle=all(child.may_settle for child in ordered),
        door=min(doors, key=_rank) if doors else None,
        literals=_literals(children),
    )


def _any(children: list[Condition]) -> Condition:
    ordered = tuple(sorted(children, key=lambda child: child.cost))

    def holds(exam: Exam) -> bool:
        return any(child.holds(exam) for child in ordered)

    def why(exam: Exam) -> str:
        return "any: " + "; ".join(child.why(exam) for child in ordered[:4])

    def on_head(head: Head) -> bool | None:
        answers = [child.on_head(head) for child in ordered]
        return True if True in answers else None if None in answers else False

    doors = [child.door for child in ordered]
    merged: Door = (
        frozenset().union(*(door for door in doors if door is not None)) if None not in doors else None
    )
    return Condition(
        "any",
        max(child.cost for child in ordered),
        holds,
        why,
        on_head,
        head_only=all(child.head_only for child in ordered),
        may_settle=any(child.may_settle for child in ordered),
        door=merged,
        literals=_literals(children),
    )


def _not(children: list[Condition]) -> Condition:
    inner = _any(children)
    asks_page = not inner.head_only

    def holds(exam: Exam) -> bool:
        if inner.holds(exam):
            return False
        if asks_page and exam.page.truncated and exam.head.response.status < 400:
            # What must not be there may stand in the part that did not come: a success stays a success.
            raise PastBound("the page was cut, and what must not be there may follow")
        return True

    def on_head(head: Head) -> bool | None:
        answer = inner.on_head(head)
        return None if answer is None else not answer

    return Condition(
        "not",
        inner.cost + 1,
        holds,
        lambda exam: "not: what must not be there is there",
        on_head,
        head_only=inner.head_only,
        may_settle=True,
        literals=inner.literals,
    )
