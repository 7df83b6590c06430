"""Lists of issues that JavaScript's validators make: express-validator, Zod, celebrate (joi), Ajv and the OpenAPI
validators on it.
"""

from __future__ import annotations

import json
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

_PLACES = frozenset({"body", "query", "params", "headers", "cookies", "querystring", "path"})
_ZOD = frozenset(
    "invalid_type too_small too_big invalid_string invalid_format invalid_value unrecognized_keys invalid_union invalid_literal "
    "invalid_enum_value invalid_date not_multiple_of not_finite custom".split()
)
_STATUSES = (400, 409, 422)
_LONGEST = 8000


def read(head: Head, page: Page) -> Evidence | None:
    """The first issue's field; a value that was not there at all is missing_field."""
    if head.response.status not in _STATUSES:
        return None
    body = top(page)
    errors = [error for one in _issues(body) if (error := _error(one))] or _by_place(body)
    if not errors:
        return None
    first = next((one for one in errors if one.field), None)
    missing = first and any(_says_missing(one.message) for one in errors if one.field == first.field)
    return said(
        "issues",
        code="missing_field" if missing else "invalid_input",
        message=joined(named(errors)),
        field=first.field if first else None,
        errors=tuple(errors),
    )


def _issues(body: dict[str, Any]) -> list[dict[str, Any]]:
    error = mapping(body, "error")
    lists = (
        body.get("errors"),
        body.get("issues"),
        error.get("issues"),
        error.get("errors"),
        error.get("details"),
        body.get("details"),
        body.get("error"),
    )
    for value in (*lists, _inside(body), _inside(error)):
        found = [one for one in items(value) if isinstance(one, dict) and _is_issue(one)]
        if found:
            return found
    return []


def _inside(body: dict[str, Any]) -> Any:
    """The issues that an error of Zod carries as the text of its message."""
    message = text(body, "message")
    if not message or not message.startswith("[") or len(message) > _LONGEST:
        return None
    try:
        return json.loads(message)
    except (ValueError, RecursionError):
        return None


def _is_issue(one: dict[str, Any]) -> bool:
    if text(one, "msg", "message") is None:
        return False
    if isinstance(one.get("path"), list):
        return one.get("code") in _ZOD or ("type" in one and isinstance(one.get("context"), dict))
    if one.get("location") in _PLACES:
        return text(one, "path", "param") is not None
    return isinstance(one.get("instancePath"), str) or (text(one, "errorCode") or "").endswith(
        ".openapi.validation"
    )


def _error(one: dict[str, Any]) -> FieldError | None:
    message = text(one, "msg", "message")
    if message is None:
        return None
    path = one.get("path")
    params = mapping(one, "params")
    field = text(params, "missingProperty", "additionalProperty")
    if field is None and isinstance(path, list):
        field = dotted(path)
    if field is None:
        field = _named(text(one, "instancePath", "path", "param") or "")
    return FieldError(field or words.field_in(message), message)


def _named(path: str) -> str | None:
    """/body/qty and qty alike; a place alone names nothing."""
    if "/" not in path:
        return path.removeprefix(".") or None
    parts = [part for part in path.split("/") if part]
    while parts and parts[0] in _PLACES:
        parts.pop(0)
    return pointed("/" + "/".join(parts)) if parts else None


def _by_place(body: dict[str, Any]) -> list[FieldError]:
    """celebrate: {"validation": {"body": {"source", "keys", "message"}}}; Zod's flat form: {"fieldErrors": {"qty": [...]}}."""
    found = []
    for place, value in mapping(body, "validation").items():
        message = text(value, "message")
        keys = texts(value.get("keys")) if isinstance(value, dict) else []
        if place in _PLACES and message:
            found.append(FieldError(keys[0] if keys else None, message))
    flat = next(
        (
            one
            for one in (
                mapping(body, "fieldErrors"),
                mapping(body, "error", "fieldErrors"),
                mapping(body, "errors", "fieldErrors"),
            )
            if one
        ),
        {},
    )
    found += [
        FieldError(str(name), message)
        for name, member in list(flat.items())[:20]
        for message in texts(member)[:3]
    ]
    return found


def _says_missing(message: str) -> bool:
    return words.says_missing(message) or message == "Required" or message.endswith("received undefined")
