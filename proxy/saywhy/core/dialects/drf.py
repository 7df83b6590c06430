"""Django REST framework: a bare object of field -> list of messages, `non_field_errors`, or `{"detail": text}`."""

from __future__ import annotations

from typing import Any

from saywhy.core.dialects import words
from saywhy.core.dialects.members import joined, named, said, text, texts, top
from saywhy.core.model import Evidence, FieldError, Head
from saywhy.core.page import Page

_WHOLE = frozenset({"non_field_errors", "__all__", "detail", "nonFieldErrors"})
_NO_FIELDS = frozenset({"errors", "messages", "message", "error"})
_DEEPEST = 4


def read(head: Head, page: Page) -> Evidence | None:
    """Every member must be a list of texts or an object of such; only 400 and 422 are sent so."""
    if (
        isinstance(page.json, list)
        and page.json
        and head.response.status in (400, 422)
        and all(isinstance(one, str) for one in page.json)
    ):
        return said("drf", message=joined([FieldError(None, one) for one in texts(page.json)]))
    body = top(page)
    detail = text(body, "detail")
    if detail and set(body) <= {"detail", "code", "messages", "status_code"}:
        return said("drf", code=words.code_of(body.get("code"), head.response.status), message=detail)
    if (
        not body
        or body.keys() <= _NO_FIELDS
        or head.response.status not in (400, 422)
        or not _is_error_object(body, 0)
    ):
        return None
    errors = _errors(body, "", 0)
    if not errors:
        return None
    first = next((one for one in errors if one.field), None)
    missing = first and any(words.says_missing(one.message) for one in errors if one.field == first.field)
    return said(
        "drf",
        code="missing_field" if missing else "invalid_input" if first else None,
        message=joined(named(errors)),
        field=first.field if first else None,
        errors=tuple(errors[:20]),
    )


def _is_error_object(value: dict[str, Any], depth: int) -> bool:
    return depth < _DEEPEST and all(
        (
            isinstance(member, list)
            and member
            and all(
                isinstance(one, str) or (isinstance(one, dict) and _is_error_object(one, depth + 1))
                for one in member
            )
        )
        or (isinstance(member, dict) and member and _is_error_object(member, depth + 1))
        for member in value.values()
    )


def _errors(value: dict[str, Any], prefix: str, depth: int) -> list[FieldError]:
    found: list[FieldError] = []
    for name, member in list(value.items())[:20]:
        full = f"{prefix}.{name}" if prefix else str(name)
        field = None if name in _WHOLE else full
        found += [FieldError(field, message) for message in texts(member)[:3]]
        inner = member if isinstance(member, list) else [member]
        for place, one in enumerate(inner[:20]):
            if isinstance(one, dict) and depth < _DEEPEST:
                found += _errors(one, f"{full}[{place}]" if isinstance(member, list) else full, depth + 1)
    return found
