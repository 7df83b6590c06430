"""Conditions that need the page: title, contains, matches, script, json, jsonld, size, select."""

from __future__ import annotations

from typing import Any

from saywhy.core.model import Head
from saywhy.core.page import NOT_JSON, Selector, Thing, availability_word, point, type_word
from saywhy.core.page.kind import declared, media_of
from saywhy.core.page.selector import attribute, element_text, followed_text
from saywhy.core.rules.conditions import Condition, shown
from saywhy.core.rules.exam import Exam
from saywhy.core.rules.expressions import Expression
from saywhy.core.rules.fold import fold, fold_literal
from saywhy.core.rules.headtests import path_glob, value_test, wildcard
from saywhy.core.rules.parts import Json, JsonLd, Literals, Matching, Select, Size, Title
from saywhy.core.rules.prefilter import Door, Key
from saywhy.core.rules.ranges import Span


def _keys(place: str | None, literals: tuple[str, ...]) -> tuple[Key, ...]:
    return tuple((place or "anywhere", literal) for literal in literals)


def _door(place: str | None, literals: tuple[str, ...]) -> Door:
    return frozenset(_keys(place, literals))


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def contains(shape: Literals) -> Condition:
    """Literals, case-folded, in the visible text or the source."""
    some = tuple(fold_literal(literal) for literal in shape.any or ())
    every = tuple(fold_literal(literal) for literal in shape.all or ())
    place = shape.in_

    def holds(exam: Exam) -> bool:
        seen = exam.seen
        return (not some or any(seen.has(literal, place) for literal in some)) and all(
            seen.has(literal, place) for literal in every
        )

    def why(exam: Exam) -> str:
        absent = sum(not exam.seen.has(literal, place) for literal in every)
        if absent:
            return f"contains: {absent} of {_counted(len(every), 'literal')} missing"
        return f"contains: none of {_counted(len(some), 'literal')}"

    # One of all is as good a door as any; the longest is the rarest.
    door = _door(place, (max(every, key=len),) if every else some)
    return Condition("contains", 4, holds, why, door=door, literals=_keys(place, some + every))


def title(shape: Title) -> Condition:
    """The title alone: literals in it, or the whole of it, or an expression."""
    some = tuple(fold_literal(literal) for literal in shape.any or ())
    whole = frozenset(fold_literal(literal) for literal in shape.is_ or ())
    expression = shape.re

    def holds(exam: Exam) -> bool:
        if some and not any(exam.seen.has(literal, "title") for literal in some):
            return False
        if whole and fold(exam.page.title) not in whole:
            return False
        return expression is None or exam.finds(expression, exam.page.title)

    literals = some or tuple(whole)
    return Condition(
        "title",
        5,
        holds,
        lambda exam: f"title {shown(exam.page.title)} is another",
        door=_door("title", literals) if literals else None,
        literals=_keys("title", some + tuple(whole)),
    )


def matches(shape: Matching) -> Condition:
    """RE2 expressions in the visible text or the source."""

    def holds(exam: Exam) -> bool:
        return any(
            exam.finds(expression, text)
            for expression in shape.re
            for text in exam.in_place(shape.in_)
            if text
        )

    return Condition(
        "matches", 20, holds, lambda exam: f"matches: none of {_counted(len(shape.re), 'expression')}"
    )


def script(patterns: tuple[str, ...]) -> Condition:
    """The source of a script element: `host` (or below it), `host/path*`, or `/path*` on any host."""
    tests = [_script_test(pattern) for pattern in patterns]

    def holds(exam: Exam) -> bool:
        return any(test(*_split(script.src)) for script in exam.page.scripts if script.src for test in tests)

    return Condition("script", 6, holds, lambda exam: f"script: none from {', '.join(patterns[:4])}")


def _split(src: str) -> tuple[str, str]:
    rest = src.partition("://")[2] if "://" in src[:10] else src[2:] if src.startswith("//") else ""
    if not rest:
        return "", src.partition("?")[0]
    name, slash, path = rest.partition("/")
    return name.rpartition("@")[2].partition(":")[0].lower(), (slash + path).partition("?")[0]


def _script_test(pattern: str) -> Any:
    name, slash, path = pattern.partition("/")
    named = wildcard(name)
    on_path = path_glob(slash + path) if slash else None

    def passes(host: str, at: str) -> bool:
        # A name stands for the hosts below it too: vendors number theirs.
        right = (
            not name
            or named(host)
            or any(named(host[dot + 1 :]) for dot, char in enumerate(host) if char == ".")
        )
        return right and (on_path is None or on_path(at))

    return passes


def json(shapes: tuple[Json, ...]) -> Condition:
    """Members of a JSON body by pointer; all of them."""
    tests = [
        (
            shape,
            [_equal(value) for value in (shape.value if isinstance(shape.value, list) else [shape.value])],
        )
        for shape in shapes
    ]

    def failing(exam: Exam) -> str:
        if exam.page.json is NOT_JSON:
            return "json: the body is not JSON"
        for shape, same in tests:
            value = point(exam.page.json, shape.pointer)
            if not _json_passes(exam, shape, same, value):
                there = "is not there" if value is NOT_JSON else f"is {shown(str(value))}"
                return f"json: {shape.pointer or '(the whole)'} {there}"
        return ""

    return Condition("json", 7, lambda exam: not failing(exam), failing)


def _json_passes(exam: Exam, shape: Json, same: list[Any], value: Any) -> bool:
    if shape.exists is False or value is NOT_JSON:
        return (value is NOT_JSON) == (shape.exists is False)
    if "value" in shape.model_fields_set and not any(test(value) for test in same):
        return False
    if shape.re is None:
        return True
    return (
        isinstance(value, str | int | float)
        and not isinstance(value, bool)
        and exam.finds(shape.re, str(value))
    )


def _equal(wanted: Any) -> Any:
    if isinstance(wanted, str):
        test = wildcard(wanted)
        return lambda value: isinstance(value, str) and test(value)
    # True == 1 in Python, not in JSON.
    return lambda value: type(value) is type(wanted) and value == wanted


def jsonld(shape: JsonLd) -> Condition:
    """What the page offers, by structured data of any notation."""
    types = frozenset(type_word(name) for name in shape.type)
    anything = bool(types & {"thing"})
    wanted = frozenset(availability_word(name) for name in shape.availability or ())

    def fits(thing: Thing) -> bool:
        return anything or bool(thing.types & types)

    def holds(exam: Exam) -> bool:
        things = exam.page.things
        if not wanted:
            return any(fits(thing) and (thing.main or not shape.every) for thing in things)
        if not shape.every:
            return any(fits(thing) and wanted & set(thing.offers) for thing in things)
        # "Every offer" is about the thing that the page is about; asking for offers asks for any such thing.
        mains = [thing for thing in things if thing.main and thing.offers]
        said = [word for thing in mains for word in thing.offers]
        return (
            bool(said)
            and all(word in wanted for word in said)
            and any(fits(thing) or "offer" in types for thing in mains)
        )

    def why(exam: Exam) -> str:
        if not exam.page.things:
            return "jsonld: the page has no structured data"
        return "jsonld: no such offer" if wanted else "jsonld: no such type"

    return Condition("jsonld", 8, holds, why)


def _within(span: Span | None, number: int) -> bool:
    if span is None:
        return True
    # A bare number means "at most".
    return number <= span.high and (span.low == span.high or number >= span.low)


def size(shape: Size) -> Condition:
    """Decoded bytes and visible characters. A page without its end has no size that could be small."""

    def holds(exam: Exam) -> bool:
        page = exam.page
        if page.truncated or not _within(shape.bytes, page.size):
            return False
        return shape.text is None or _within(shape.text, len(page.text))

    def why(exam: Exam) -> str:
        page = exam.page
        return f"size is {page.size} bytes, {len(page.text)} characters of text{', and more to come' if page.truncated else ''}"

    def on_head(head: Head) -> bool | None:
        fields = head.response.fields
        length = fields.get("content-length") or ""
        if "content-encoding" in fields or not (length.isascii() and length.isdigit()) or len(length) > 18:
            return None
        most = shape.bytes.high if shape.bytes is not None else None
        if shape.text is not None and declared(media_of(fields.get("content-type") or "")) == "text":
            most = min(most or shape.text.high * _THIN, shape.text.high * _THIN)
        return False if most is not None and int(length) > most else None

    return Condition("size", 3, holds, why, on_head)


_THIN = 64
"""Bytes that a visible character of plain text takes at most: blanks fold, but a line is not made of them."""


def select(shapes: tuple[Select, ...]) -> Condition:
    """The first element that a selector finds, with tests on its text and attributes; any of several selectors."""
    tests = [
        (
            Selector(shape.css),
            shape.follow,
            shape.text,
            [(name, test.exists, value_test(test)) for name, test in (shape.attr or {}).items()],
        )
        for shape in shapes
    ]

    def failing(exam: Exam) -> str:
        reason = ""
        for test in tests:
            reason = _select_fails(exam, *test)
            if not reason:
                return ""
        return reason

    return Condition("select", 30, lambda exam: not failing(exam), failing)


def _select_fails(
    exam: Exam,
    selector: Selector,
    follow: tuple[str, ...] | None,
    text: Expression | None,
    attributes: list[Any],
) -> str:
    element = exam.first(selector)
    if element is None:
        return f"select: nothing is {shown(selector.css)}"
    said = followed_text(element, follow) if follow else None if text is None else element_text(element)
    if follow and not said:
        return f"select: {follow[0]} of {shown(selector.css)} leads to no text"
    if text is not None and not exam.finds(text, (said or "")[:20000]):
        return f"select: the text of {shown(selector.css)} is another"
    for name, exists, passes in attributes:
        value = attribute(element, name)
        if (value is not None and passes(value)) != exists:
            return f"select: the attribute {name} of {shown(selector.css)} is another"
    return ""
