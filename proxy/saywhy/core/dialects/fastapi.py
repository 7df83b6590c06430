"""FastAPI, Starlette, Django Ninja: `{"detail": ...}`, a list of Pydantic's errors or a text."""

from __future__ import annotations

from typing import Any

from saywhy.core.dialects.members import dotted, items, joined, mapping, named, pointer_of, said, text, top
from saywhy.core.model import Evidence, FieldError, Head
from saywhy.core.page import Page

_PLACES = frozenset({"body", "query", "path", "header", "cookie", "form", "file", "__root__"})
_MISSING = ("missing", "value_error.missing", "missing_argument")


def read(head: Head, page: Page) -> Evidence | None:
    """The first error's field; `missing` is missing_field, every other type invalid_input."""
    body = top(page)
    found = [
        one
        for one in items(body.get("detail") or mapping(body, "message").get("detail"))
        if isinstance(one, dict) and isinstance(one.get("loc"), list)
    ]
    if not found:
        return None
    errors = [
        FieldError(_field(one["loc"]), text(one, "msg", "message") or "Invalid value", _pointer(one["loc"]))
        for one in found
    ]
    missing = isinstance(found[0].get("type"), str) and found[0]["type"] in _MISSING
    return said(
        "fastapi",
        code="missing_field" if missing else "invalid_input",
        message=joined(named(errors)),
        field=errors[0].field,
        errors=tuple(errors),
    )


def _inner(place: list[Any]) -> list[Any]:
    return place[1:] if place and place[0] in _PLACES and isinstance(place[0], str) else place


def _field(place: list[Any]) -> str | None:
    inner = _inner(place)
    if all(isinstance(part, int) for part in inner):
        return None  # a place within malformed JSON
    names = [part for part in inner if isinstance(part, str)]
    # Django Ninja puts the parameter's own name between the place and the field.
    return names[-1] if names and all(isinstance(part, str) for part in inner) else dotted(inner)


def _pointer(place: list[Any]) -> str | None:
    body = isinstance(place[0], str) and place[0] == "body" if place else False
    return pointer_of(place[1:]) if body and len(place) > 1 and isinstance(place[1], str) else None
