"""Spring Boot's error attributes: `{"timestamp", "status", "error", "path"}`, with `message` and `errors` where on."""

from __future__ import annotations

from saywhy.core.dialects import words
from saywhy.core.dialects.members import items, joined, named, said, text, top
from saywhy.core.model import Evidence, FieldError, Head
from saywhy.core.page import Page


def read(head: Head, page: Page) -> Evidence | None:
    """The binding errors give the fields; without them the message, and never the bare phrase of the status."""
    body = top(page)
    if "timestamp" not in body or text(body, "error") is None or not isinstance(body.get("status"), int):
        return None
    found = [
        one
        for one in items(body.get("errors"))
        if isinstance(one, dict) and text(one, "defaultMessage", "message")
    ]
    errors = [FieldError(text(one, "field"), text(one, "defaultMessage", "message") or "") for one in found]
    message = text(body, "message")
    field = next((one.field for one in errors if one.field), None) or (
        words.field_in(message) if message else None
    )
    spoken = joined(named(errors)) or message
    missing = field and (
        _is_blank(found[0].get("code")) if found else bool(message and words.says_missing(message))
    )
    return said(
        "spring",
        code="missing_field" if missing and head.response.status in (400, 422) else None,
        message=spoken,
        field=field,
        errors=tuple(errors),
    )


def _is_blank(code: object) -> bool:
    return code in ("NotNull", "NotBlank", "NotEmpty")
