"""Problem details (RFC 9457), with the extensions that occur: `errors`, `invalid-params`, `validation`, `violations`.

Also ASP.NET's ValidationProblemDetails, whose `errors` is an object of field -> messages.
"""

from __future__ import annotations

from typing import Any

from saywhy.core.dialects import words
from saywhy.core.dialects.members import (
    dotted,
    items,
    joined,
    mapping,
    named,
    pointed,
    said,
    text,
    texts,
    top,
)
from saywhy.core.model import Evidence, FieldError, Head
from saywhy.core.page import Page

_LISTS = ("errors", "invalid-params", "invalid_params", "invalidParams", "validation", "violations")


def read(head: Head, page: Page) -> Evidence | None:
    """Detail, else title; the fields of the extensions; the type where it is a page."""
    body = top(page)
    if not body or not _is_problem(page, body):
        return None
    status = head.response.status
    errors = _errors(body)
    detail, title = text(body, "detail"), text(body, "title")
    message = detail or (joined(named(errors)) if errors else None) or title
    kind = text(body, "type") or ""
    spoken = (words.code_of(word, status) for word in (body.get("code"), kind, body.get("errorCode")))
    code = next((one for one in spoken if one), None)
    first = next((one for one in errors if one.field), None)
    if first and code in (None, "invalid_input"):
        same = [one.message for one in errors if one.field == first.field]
        code = (
            "missing_field" if any(map(words.says_missing, same)) or _first_code(body) == "required" else code
        )
    return said(
        "problem",
        code=code,
        message=message,
        field=first.field if first else None,
        errors=tuple(errors),
        documentation_url=kind if kind.startswith("https://") and "/errors#" not in kind else None,
    )


def _is_problem(page: Page, body: dict[str, Any]) -> bool:
    if "problem+" in page.media:
        return True
    # The media type is often plain JSON; then two of the members must be there, one of them of this dialect alone.
    return isinstance(body.get("title"), str) and (
        isinstance(body.get("type"), str)
        or isinstance(body.get("detail"), str)
        or isinstance(body.get("instance"), str)
    )


def _first_code(body: dict[str, Any]) -> str | None:
    for name in _LISTS:
        for one in items(body.get(name)):
            return text(one, "code", "keyword", "rule")
    return None


def _errors(body: dict[str, Any]) -> list[FieldError]:
    found: list[FieldError] = []
    by_field = mapping(body, "errors")
    for field, messages in list(by_field.items())[:20]:
        found += [FieldError(str(field).removeprefix("$.") or None, one) for one in texts(messages)[:3]]
    for name in _LISTS:
        for one in items(body.get(name)):
            message = text(one, "detail", "message", "reason", "title", "msg", "description")
            if message:
                found.append(FieldError(_field(one, message), message, _pointer(one)))
            elif isinstance(one, str):
                found.append(FieldError(words.field_in(one), one))
    return found


def _pointer(one: dict[str, Any]) -> str | None:
    pointer = text(one, "pointer", "path", "instancePath") or text(mapping(one, "source"), "pointer")
    return pointer.lstrip("#") if pointer and pointer.lstrip("#").startswith("/") else None


def _field(one: dict[str, Any], message: str) -> str | None:
    pointer = _pointer(one)
    place = one.get("location")
    return (
        text(one, "field", "name", "parameter", "param", "property", "propertyPath", "header")
        or (pointed(pointer) if pointer else None)
        or words.field_in(message)
        or (
            dotted([part for part in place[1:] if isinstance(part, str | int)])
            if isinstance(place, list)
            else None
        )
    )
