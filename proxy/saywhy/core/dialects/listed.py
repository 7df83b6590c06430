"""Errors that an object lists somewhere within: the usual holders are searched, bounded in depth and number.

An entry is an object with a text and, mostly, the name of a field; or a field whose value is its texts.
"""

from __future__ import annotations

from typing import Any

from saywhy.core.dialects import words
from saywhy.core.dialects.members import MOST_ERRORS, dotted, items, mapping, pointed, text, texts
from saywhy.core.model import FieldError

_HOLDERS = (
    "errors", "error", "details", "violations", "causes", "errorCauses", "issues", "extra", "invalid_fields", "validationErrors",
    "validation_errors", "error_details", "errorDetails", "_embedded",
)  # fmt: skip
_BY_FIELD = ("fields", "ModelState", "modelState", "fieldErrors", "field_errors", "errors")
_MESSAGES = (
    "message",
    "msg",
    "description",
    "detail",
    "details",
    "errorSummary",
    "defaultMessage",
    "error",
    "reason",
    "issue",
    "title",
)
_FIELDS = (
    "field",
    "param",
    "parameter",
    "parameter_name",
    "property",
    "propertyPath",
    "argument",
    "attribute",
    "target",
    "key",
)
_WORDS = ("code", "errorCode", "issue", "reason", "type", "name")
_CONTENT = frozenset({"data", "body", "payload", "json"})
"""Names that stand for the content as a whole; the message may name the field in it."""
_DEEPEST = 4


def errors(value: Any) -> list[FieldError]:
    """The errors in document order, at most MOST_ERRORS."""
    return [_error(one) for one in _entries(value, 0)][:MOST_ERRORS] or _by_field(value, 0)[:MOST_ERRORS]


def code(value: Any, status: int) -> str | None:
    """The code that a machine word of the listed errors names."""
    found = (words.code_of(one.get(name), status) for one in _entries(value, 0) for name in _WORDS)
    return next((one for one in found if one), None)


def _entries(value: Any, depth: int) -> list[dict[str, Any]]:
    if depth > _DEEPEST:
        return []
    if isinstance(value, list):
        return [one for one in items(value) if isinstance(one, dict) and text(one, *_MESSAGES)]
    if not isinstance(value, dict):
        return []
    for name in _HOLDERS:
        found = _entries(value.get(name), depth + 1)
        if found:
            return found
    return []


def _error(one: dict[str, Any]) -> FieldError:
    message = text(one, *_MESSAGES) or ""
    field = text(one, *_FIELDS) or next(iter(texts(one.get("fields"))), None)
    path = one.get("path")
    if field is None and isinstance(path, list):
        field = dotted(path)
    if field is None and one.get("locationType") == "parameter":
        field = text(one, "location")
    if field is None:
        field = (
            text(one, "path")
            if (text(one, "path") or "").startswith("/")
            else text(mapping(one, "source"), "pointer")
        )
    if field is not None and field.startswith("/"):
        field = pointed(field)
    if field is None or field in _CONTENT:
        field = words.field_in(message)
    return FieldError(field, message)


def _by_field(value: Any, depth: int) -> list[FieldError]:
    if depth > _DEEPEST or not isinstance(value, dict):
        return []
    for name in _BY_FIELD:
        fields = mapping(value, name)
        found = [
            FieldError(str(field), message)
            for field, said in list(fields.items())[:MOST_ERRORS]
            for message in _texts(said)
        ]
        if found:
            return found
    return next((found for name in _HOLDERS if (found := _by_field(value.get(name), depth + 1))), [])


def _texts(said: Any) -> list[str]:
    """A text, a list of texts, or Discord's `{"_errors": [{"message": ...}]}`."""
    if isinstance(said, dict):
        return [message for one in items(said.get("_errors")) if (message := text(one, "message"))]
    return texts(said)[:3]
