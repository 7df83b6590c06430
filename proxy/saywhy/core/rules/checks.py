"""What a rule's shape cannot refuse but the promises do: evidence that is too weak, expressions without a door, codes and
names that are nearly right.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import NamedTuple

from saywhy.core.contract.codes import CODES
from saywhy.core.rules.extract import placeholders
from saywhy.core.rules.fold import fold
from saywhy.core.rules.parts import ValueTest
from saywhy.core.rules.shape import Rule, When

_COMMON = frozenset(
    {"accept-ranges", "age", "alt-svc", "cache-control", "connection", "content-encoding", "content-length",
     "content-security-policy", "content-type", "date", "etag", "expires", "keep-alive", "last-modified", "location", "pragma",
     "server", "set-cookie", "strict-transport-security", "transfer-encoding", "upgrade", "vary", "via", "x-cache",
     "x-content-type-options", "x-frame-options", "x-powered-by"}
)  # fmt: skip
"""Fields that stand on good answers as well: never a vendor's word that something is wrong."""

_HEAD_KEYS = frozenset({"status", "method", "host", "path", "header", "media", "all", "any", "not"})
_CHEAP = ("contains", "title", "status", "header", "cookie", "host", "path")
_USUAL_SUCCESSES = (200, 201, 202, 203, 204, 206)
_EVIDENCE = ("header", "cookie", "title", "select", "script", "json_", "jsonld", "path")


class Flaw(NamedTuple):
    """`path` leads to the key within the rule; `message` says what is wrong, `remedy` what to write instead."""

    path: tuple[str | int, ...]
    message: str
    remedy: str


def flaws(rule: Rule) -> Iterator[Flaw]:
    """Everything that is wrong with one rule beyond its shape."""
    if rule.outranks_failure:
        yield from _outranking(rule)
    if rule.on_success and not _exact(rule.when) and _weight(rule.when) < 2:
        yield Flaw(
            ("on_success",),
            "looks at successes with one weak condition",
            "add a second, independent one (matches, title, select, script, json, jsonld, cookie, path or size), or name an exact vendor header",
        )
    yield from _doorless(rule.when, ("when",), cheap=False)
    yield from _names(rule)


def _outranking(rule: Rule) -> Iterator[Flaw]:
    for path, key in _keys(rule.when, ("when",)):
        if key not in _HEAD_KEYS:
            yield Flaw(
                ("outranks_failure",),
                f"overrules server failures by what the page says ({'.'.join(map(str, (*path[1:], key)))})",
                "remove outranks_failure, or make the rule of header conditions alone",
            )
            return
    if not any(name.lower() not in _COMMON for name in _fields(rule.when)):
        yield Flaw(
            ("outranks_failure",),
            "overrules server failures without a vendor's header",
            "remove outranks_failure, or name a header that only this kind of answer carries",
        )


def _keys(when: When, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    for name in sorted(when.model_fields_set):
        key = name.rstrip("_")
        if key in {"all", "any", "not"}:
            for place, group in enumerate(getattr(when, name) or ()):
                yield from _keys(group, (*path, key, place))
        yield path, key


def _fields(when: When) -> Iterator[str]:
    for name, test in (when.header or {}).items():
        if test.exists:
            yield name
    for group in (*(when.all or ()), *(when.any or ())):
        yield from _fields(group)


def _is_exact(name: str, test: ValueTest) -> bool:
    return (
        test.exists
        and name.lower() not in _COMMON
        and test.re is None
        and not any("*" in value for value in test.is_)
    )


def _exact(when: When) -> bool:
    """Whether an exact vendor header must be there for the group to hold."""
    if any(_is_exact(name, test) for name, test in (when.header or {}).items()):
        return True
    if any(_exact(group) for group in when.all or ()):
        return True
    return bool(when.any) and all(_exact(group) for group in when.any or ())


def _weight(when: When) -> int:
    """How many independent conditions speak of the response's state. `not` proves nothing, and what every success has
    (a usual status, a media type) is no evidence; words and an expression that is those words are one condition.
    """
    weight = sum(getattr(when, name) is not None for name in _EVIDENCE)
    weight += (when.contains is not None) + (when.matches is not None and not _repeats(when))
    weight += when.size is not None
    if when.status is not None and not any(
        low <= code <= high for low, high in when.status for code in _USUAL_SUCCESSES
    ):
        weight += 1
    weight += sum(_weight(group) for group in when.all or ())
    return weight + (min(_weight(group) for group in when.any) if when.any else 0)


def _bare(text: str) -> str:
    return "".join(char for char in fold(text.removeprefix("(?i)")) if char.isalnum())


def _repeats(when: When) -> bool:
    """Whether the expressions beside `contains` only say its literals again."""
    if when.contains is None or when.matches is None:
        return False
    literals = {_bare(literal) for literal in (*(when.contains.any or ()), *(when.contains.all or ()))}
    return all(
        _bare(part) in literals for expression in when.matches.re for part in expression.pattern.split("|")
    )


def _doorless(when: When, path: tuple[str | int, ...], *, cheap: bool) -> Iterator[Flaw]:
    cheap = cheap or any(getattr(when, name) is not None for name in _CHEAP)
    # A sibling group of `all` is beside it too.
    cheap = cheap or any(getattr(group, name) is not None for group in when.all or () for name in _CHEAP)
    if when.matches is not None and not cheap:
        yield Flaw(
            (*path, "matches"),
            "runs an expression on every page",
            "put `contains` with a literal of the expression beside it",
        )
    for name, key in (("all", "all"), ("any", "any"), ("not_", "not")):
        for place, group in enumerate(getattr(when, name) or ()):
            yield from _doorless(group, (*path, key, place), cheap=cheap)


def _names(rule: Rule) -> Iterator[Flaw]:
    then = rule.then
    if then.code not in CODES:
        near = get_close_matches(then.code, CODES, n=1, cutoff=0.82)
        if near:
            yield Flaw(
                ("then", "code"), f"{then.code!r} is nearly a known code", f"did you mean {near[0]!r}?"
            )
    known = set(then.extract)
    texts: list[tuple[tuple[str | int, ...], str | None]] = [
        ((name,), getattr(then, name)) for name in ("message", "field", "documentation_url", "continue_url")
    ]
    texts += [
        (("alternatives", place, key), text)
        for place, row in enumerate(then.alternatives)
        for key, text in row.items()
    ]
    for path, text in texts:
        for name in placeholders(text or ""):
            if name not in known:
                near = get_close_matches(name, known, n=1)
                remedy = (
                    f"did you mean {{{near[0]}}}?"
                    if near
                    else "add it to extract, or write the text without it"
                )
                yield Flaw(("then", *path), f"{{{name}}} is extracted nowhere", remedy)
    for name, spec in then.extract.items():
        if spec.re is not None and spec.group > spec.re.groups and "group" in spec.model_fields_set:
            yield Flaw(
                ("then", "extract", name, "group"),
                f"group {spec.group} is not in the expression, which has {spec.re.groups}",
                "name a group that is there, or 0 for the whole match",
            )
