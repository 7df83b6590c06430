"""The last resort for JSON: an object that says `message`, `error`, `detail` or the like, in nobody's dialect.

It gives the message, and a code only for a machine word that names one.
"""

from __future__ import annotations

from typing import Any

from saywhy.core.dialects import listed, words
from saywhy.core.dialects.members import items, joined, mapping, named, said, seconds, text, texts, top
from saywhy.core.model import Evidence, Head
from saywhy.core.page import Page

_MESSAGES = (
    "message", "error_description", "error_message", "errorMessage", "detail", "details", "description", "explanation", "msg",
    "error_msg", "errmsg", "info", "reason", "resptext", "title", "userMessage", "Message", "ErrorMessage", "exceptionMessage",
    "statusMessage",
)  # fmt: skip
_CODES = (
    "code",
    "error_code",
    "errorCode",
    "category_code",
    "Code",
    "type",
    "error_type",
    "errorType",
    "error",
    "reason",
    "kind",
    "name",
    "status",
)
_FIELDS = (
    "field",
    "param",
    "parameter",
    "parameter_name",
    "property",
    "argument",
    "attribute",
    "key",
    "target",
)
_OPENINGS = (
    "bad request",
    "validation error",
    "api validation failed",
    "request is not well-formed",
    "the request is invalid",
    "the requested action could not",
    "record invalid",
    "invalid form body",
    "validation failed",
    "validation error",
    "request validation failed",
    "invalid request",
)
_GENERIC = frozenset(
    {
        "error",
        "bad request",
        "not found",
        "forbidden",
        "unauthorized",
        "conflict",
        "validation failed",
        "unprocessable entity",
    }
)


def read(head: Head, page: Page) -> Evidence | None:
    """Looks into the object, its `error`, and the first of its `errors`."""
    body = top(page)
    if isinstance(page.json, list):
        body = {"errors": page.json}
    if not body:
        return None
    inner = [
        body,
        mapping(body, "error"),
        *(one for one in items(body.get("errors"))[:1] if isinstance(one, dict)),
        mapping(body, "meta"),
    ]
    status = head.response.status
    errors = listed.errors(body)
    message = _filled(_message(inner), mapping(body, "parameters"))
    if message and errors and message.lower().startswith(_OPENINGS):
        message = joined(named(errors))
    code = next(
        (code for one in inner for name in _CODES if (code := words.code_of(one.get(name), status))), None
    )
    code = code if code not in (None, "invalid_input") else listed.code(body, status) or code
    field = next((field for one in inner if (field := _field(one))), None) or next(
        (one.field for one in errors if one.field), None
    )
    if message is None and code is None and field is None:
        return None
    return said(
        "message",
        code=code,
        message=message,
        field=field,
        errors=tuple(errors) if len(errors) > 1 else (),
        retry_after=next((wait for one in inner if (wait := seconds(one.get("retry_after")))), None),
        documentation_url=next(
            (
                url
                for one in inner
                if (url := text(one, "documentation_url", "doc_url", "more_info", "moreInfo", "docs"))
                and url.startswith("http")
            ),
            None,
        ),
    )


def _message(inner: list[dict[str, Any]]) -> str | None:
    found = [said for one in reversed(inner[1:3]) if (said := text(one, *_MESSAGES))]
    for name in _MESSAGES:
        outer = text(inner[0], name)
        if outer:
            found.append(outer)
    error = text(inner[0], "error")
    if error:
        found.append(error)
    found += [
        one
        for name in ("errors", "message", "messages", "error_messages", "errorMessages")
        for one in (texts(inner[0].get(name)) if name == "errors" else items(inner[0].get(name)))
        if isinstance(one, str) and one.strip()
    ][:1]
    return next(
        (
            one
            for one in found
            if one.lower().rstrip(".") not in _GENERIC and (" " in one or not one.islower())
        ),
        found[0] if found else None,
    )


def _field(one: dict[str, Any]) -> str | None:
    fields = items(one.get("fields")) + items(one.get("params"))
    return text(one, *_FIELDS) or next((name for name in fields if isinstance(name, str) and name), None)


def _filled(message: str | None, parameters: dict[str, Any]) -> str | None:
    """Magento sends `%fieldName is required` and the values of the places beside it."""
    if not message or "%" not in message:
        return message
    for name, value in list(parameters.items())[:10]:
        if isinstance(value, str | int):
            message = message.replace(f"%{name}", str(value)[:80])
    return message
