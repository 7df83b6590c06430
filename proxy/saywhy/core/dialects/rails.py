"""Rails, Laravel, and everyone whose `errors` is an object of field -> messages, with or without a `message`."""

from __future__ import annotations

from typing import Any

from saywhy.core.dialects import words
from saywhy.core.dialects.members import items, joined, mapping, named, said, text, texts, top
from saywhy.core.model import Evidence, FieldError, Head
from saywhy.core.page import Page

_WHOLE = frozenset({"base", "_", "", "non_field_errors", "general", "global"})


def read(head: Head, page: Page) -> Evidence | None:
    """Rails says "can't be blank", Laravel "The email field is required."; the first field's messages decide."""
    body = top(page)
    by_field = mapping(body, "errors")
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


def _of(name: str, member: Any) -> list[FieldError]:
    field = None if name in _WHOLE else name.removeprefix("$.")
    said_here = texts(member) or [one for one in [text(member, "message", "msg", "error")] if one]
    said_here += [message for one in items(member) if isinstance(one, dict) and (message := text(one, "message", "msg", "error", "description"))]
    return [FieldError(field, message) for message in said_here[:3]]
