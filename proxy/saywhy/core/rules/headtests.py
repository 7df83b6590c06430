"""Conditions that heads alone decide: status, method, host, path, header, cookie; and media, which they nearly do."""

from __future__ import annotations

from collections.abc import Callable

import re2

from saywhy.core.model import Head
from saywhy.core.page.kind import declared, media_of, possible
from saywhy.core.rules.conditions import Condition, none_of, shown
from saywhy.core.rules.exam import Exam
from saywhy.core.rules.parts import ValueTest
from saywhy.core.rules.ranges import Span

_KINDS = frozenset({"html", "json", "xml", "text", "binary", "empty"})

Matcher = Callable[[str], bool]


def wildcard(pattern: str) -> Matcher:
    """Equality without regard to case, `*` any run of characters."""
    if "*" not in pattern:
        folded = pattern.casefold()
        return lambda value: value.casefold() == folded
    compiled = re2.compile("(?is)^" + ".*".join(re2.escape(part) for part in pattern.split("*")) + "$")
    return lambda value: compiled.search(value) is not None


def path_glob(pattern: str) -> Matcher:
    """A glob over a raw path: `*` within a segment, `**` across segments."""
    text = "".join(
        ".*" if part == "**" else "[^/]*" if part == "*" else re2.escape(part)
        for part in _glob_parts(pattern)
    )
    compiled = re2.compile(f"(?s)^{text}$")
    return lambda value: compiled.search(value) is not None


def _glob_parts(pattern: str) -> list[str]:
    parts: list[str] = []
    for place, piece in enumerate(pattern.split("**")):
        if place:
            parts.append("**")
        for inner, bit in enumerate(piece.split("*")):
            if inner:
                parts.append("*")
            parts.append(bit)
    return parts


def value_test(test: ValueTest) -> Matcher:
    """Whether one present value passes: any of its values, or its expression, or just being there."""
    same = [wildcard(value) for value in test.is_]
    expression = test.re

    def passes(value: str) -> bool:
        if same and not any(matches(value) for matches in same):
            return False
        return expression is None or expression.search(value[:4096]) is not None

    return passes


def _on_head(key: str, cost: int, holds: Callable[[Head], bool], why: Callable[[Head], str]) -> Condition:
    def by_exam(exam: Exam) -> bool:
        return holds(exam.head)

    def why_exam(exam: Exam) -> str:
        return why(exam.head)

    return Condition(key, cost, by_exam, why_exam, holds, head_only=True, may_settle=True)


def status(spans: tuple[Span, ...]) -> Condition:
    """The response's status within one of the spans."""
    words = [str(span.low) if span.low == span.high else f"{span.low}-{span.high}" for span in spans]

    def holds(head: Head) -> bool:
        number = head.response.status
        return any(low <= number <= high for low, high in spans)

    return _on_head("status", 0, holds, lambda head: none_of(f"status {head.response.status}", words))


def method(names: tuple[str, ...]) -> Condition:
    """The request's method."""
    upper = frozenset(name.upper() for name in names)
    return _on_head(
        "method",
        1,
        lambda head: head.request.method in upper,
        lambda head: none_of(f"method {head.request.method}", list(names)),
    )


def _bare_host(head: Head) -> str:
    name, _, port = head.request.host.rpartition(":")
    return name if port.isdecimal() else head.request.host


def host(patterns: tuple[str, ...]) -> Condition:
    """The host that was asked for, without its port."""
    tests = [wildcard(pattern) for pattern in patterns]
    return _on_head(
        "host",
        1,
        lambda head: any(test(_bare_host(head)) for test in tests),
        lambda head: none_of(f"host {shown(_bare_host(head))}", list(patterns)),
    )


def path(patterns: tuple[str, ...]) -> Condition:
    """The raw request target without query."""
    tests = [path_glob(pattern) for pattern in patterns]
    return _on_head(
        "path",
        2,
        lambda head: any(test(head.request.path) for test in tests),
        lambda head: none_of(f"path {shown(head.request.path)}", list(patterns)),
    )


def header(tests: dict[str, ValueTest]) -> Condition:
    """Fields of the response, all of them; every line of a repeated field is tried."""
    compiled = [(name.lower(), test.exists, value_test(test)) for name, test in tests.items()]

    def failing(head: Head) -> str:
        for name, exists, passes in compiled:
            lines = head.response.fields.all(name)
            if exists and not lines:
                return f"header {name} is absent"
            if exists and not any(passes(line) for line in lines):
                return f"header {name} is {shown(', '.join(lines))}"
            if not exists and lines:
                return f"header {name} is there"
        return ""

    made = _on_head("header", 2, lambda head: not failing(head), failing)
    door = next((frozenset({("field", name)}) for name, exists, _ in compiled if exists), None)
    return made._replace(door=door)


def cookie(tests: dict[str, ValueTest]) -> Condition:
    """Cookies that the response sets, by name (`*` is any run of characters) and value."""
    compiled = [(name, wildcard(name), test.exists, value_test(test)) for name, test in tests.items()]

    def failing(head: Head) -> str:
        pairs = [line.partition(";")[0].partition("=") for line in head.response.fields.all("set-cookie")]
        for name, named, exists, passes in compiled:
            found = any(named(set_.strip()) and passes(value.strip()) for set_, _, value in pairs)
            if found != exists:
                return f"cookie {name} is {'not set' if exists else 'set'}"
        return ""

    made = _on_head("cookie", 3, lambda head: not failing(head), failing)
    return made._replace(
        door=frozenset({("field", "set-cookie")}) if any(exists for _, _, exists, _ in compiled) else None
    )


def media(words: tuple[str, ...]) -> Condition:
    """What the body is (html, json, xml, text, binary, empty), or the media type as sent (`image/*`)."""
    kinds = frozenset(word for word in words if word in _KINDS)
    types = [wildcard(word) for word in words if word not in _KINDS]

    def holds(exam: Exam) -> bool:
        return exam.page.kind in kinds or any(test(exam.page.media) for test in types)

    def on_head(head: Head) -> bool | None:
        sent = media_of(head.response.fields.get("content-type") or "")
        if any(test(sent) for test in types):
            return True
        return None if kinds & possible(sent) else False

    return Condition(
        "media",
        1,
        holds,
        lambda exam: none_of(f"media {exam.page.kind}", list(words)),
        on_head,
        head_only=not kinds,
        may_settle=bool(types),
    )


_NAMELESS = frozenset({"text/plain", "application/x-www-form-urlencoded", "text/xml", "application/xml"})


def sees_success(words: tuple[str, ...], media: str) -> bool:
    """Whether a rule that names `words` as its media can make something of a success sent as `media`: of HTML and JSON
    always. What a rule calls `text` or `xml` is only what has no better name, so that feeds, drawings, tables and Markdown
    are let through.
    """
    kind = declared(media)
    if kind in ("html", "json") or (kind in words and media in _NAMELESS):
        return True
    return any("/" in word and wildcard(word)(media) for word in words)
