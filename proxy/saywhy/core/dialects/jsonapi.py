"""JSON:API errors (jsonapi.org 1.1): `errors` is a list of objects with `detail`, `title`, `code`, `source`."""

from __future__ import annotations

from typing import Any

from saywhy.core.dialects import words
from saywhy.core.dialects.members import items, joined, mapping, named, pointed, said, text, top
from saywhy.core.model import Evidence, FieldError, Head
from saywhy.core.page import Page


def read(head: Head, page: Page) -> Evidence | None:
    """Needs the media type, or an error with `source` or with both `title` and `detail`."""
    found = [one for one in items(top(page).get("errors")) if isinstance(one, dict)]
    if not found or not ("vnd.api+json" in page.media or any(map(_is_its_own, found))):
        return None
    status = head.response.status
    errors = [
        FieldError(_field(one), text(one, "detail", "title", "message") or "Invalid value", _pointer(one))
        for one in found
        if text(one, "detail", "title", "message")
    ]
    code = words.code_of(found[0].get("code"), status)
    field = _field(found[0])
    if field and code in (None, "invalid_input") and errors and words.says_missing(errors[0].message):
        code = "missing_field"
    return said(
        "jsonapi",
        code=code,
        message=joined(named(errors)),
        field=field,
        errors=tuple(errors),
        documentation_url=text(mapping(found[0], "links"), "about"),
    )


def _is_its_own(one: dict[str, Any]) -> bool:
    return bool(mapping(one, "source")) or (
        isinstance(one.get("title"), str) and isinstance(one.get("detail"), str)
    )


def _pointer(one: dict[str, Any]) -> str | None:
    pointer = text(mapping(one, "source"), "pointer")
    return pointer if pointer and pointer.startswith("/") else None


def _field(one: dict[str, Any]) -> str | None:
    source = mapping(one, "source")
    pointer = _pointer(one)
    # /data/attributes/title names a field; a pointer at the document or at a resource names none.
    # Shopware's /0/name counts the entities first.
    if pointer and (
        pointer.count("/") >= 3 or (pointer.count("/") == 2 and pointer.split("/")[1].isdecimal())
    ):
        return pointed(pointer)
    return text(source, "parameter", "header")
