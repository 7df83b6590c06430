"""Rails, Laravel, Marshmallow, and everyone whose `errors` is an object of field -> messages, with or without a `message`."""

from __future__ import annotations

from typing import Any

from saywhy.core.dialects import words
from saywhy.core.dialects.members import items, joined, mapping, named, said, text, texts, top
from saywhy.core.model import Evidence, FieldError, Head
from saywhy.core.page import Page

_WHOLE = frozenset({"base", "_", "", "non_field_errors", "general", "global", "_schema"})
_PLACES = frozenset(
    {
        "json",
        "query",
        "querystring",
        "form",
        "headers",
        "header",
        "path",
        "view_args",
        "cookies",
        "files",
        "body",
        "params",
        "json_or_form",
    }
)
"""Where Marshmallow's web parsers say a field came from; the fields are one level below."""
_HOLDERS = ("errors", "detail", "details", "messages", "message", "fields", "error")
_DEEPEST = 4


def read(head: Head, page: Page) -> Evidence | None:
    """Rails says "can't be blank", Laravel "The email field is required."; the first field's messages decide."""
    body = top(page)
    by_field = mapping(body, "errors") or _placed(body) or _messages(body)
    errors = [error for name, member in list(by_field.items())[:20] for error in _of(str(name), member)]
    if not errors:
        return None
    first = next((one for one in errors if one.field), None)
    missing = first and any(words.says_missing(one.message) for one in errors if one.field == first.field)
    return said(
        "rails",
        code="missing_field" if missing and head.response.status in (400, 422) else None,
        message=joined(named(errors)) or text(body, "message"),
        field=first.field if first else None,
        errors=tuple(errors),
    )


def _placed(body: dict[str, Any]) -> dict[str, Any]:
    """An object of places, each with its fields, under any of the usual names."""
    for name in _HOLDERS:
        held = mapping(body, name)
        if held and all(place in _PLACES and isinstance(fields, dict) for place, fields in held.items()):
            return held
    return {}


def _messages(body: dict[str, Any]) -> dict[str, Any]:
    """GitLab: the `message` is the object of fields."""
    held = mapping(body, "message")
    return held if held and all(texts(value) for value in held.values()) else {}


def _of(name: str, member: Any, depth: int = 0) -> list[FieldError]:
    if isinstance(member, dict) and depth < _DEEPEST and not text(member, "message", "msg", "error"):
        inner = "" if depth == 0 and name in _PLACES else name + "."
        return [
            error
            for below, value in list(member.items())[:20]
            for error in _of(inner + str(below), value, depth + 1)
        ]
    name = name.removesuffix("._errors")
    field = None if name.rpartition(".")[2] in _WHOLE else name.removeprefix("$.")
    said_here = texts(member) or [one for one in [text(member, "message", "msg", "error")] if one]
    said_here += [
        message
        for one in items(member)
        if isinstance(one, dict) and (message := text(one, "message", "msg", "error", "description"))
    ]
    return [FieldError(field, message) for message in said_here[:3]]
