"""AWS and S3-compatible stores: `<Error><Code><Message>` in any wrapping, and JSON with `__type` or `x-amzn-errortype`."""

from __future__ import annotations

from saywhy.core.dialects import words
from saywhy.core.dialects.elements import parse
from saywhy.core.dialects.members import said, text, top
from saywhy.core.model import Evidence, Head
from saywhy.core.page import Page


def read(head: Head, page: Page) -> Evidence | None:
    """The code word decides: S3 says AccessDenied, IAM NoSuchEntity, everyone Throttling."""
    if page.kind == "xml":
        return _xml(head, page)
    body = top(page)
    name = text(body, "__type") or head.response.fields.get("x-amzn-errortype")
    if not body or not name:
        return None
    word = name.rpartition("#")[2].partition(":")[0]
    return _evidence(head, word, text(body, "message", "Message"))


def _xml(head: Head, page: Page) -> Evidence | None:
    if page.truncated or not ("Code>" in page.source or "Message>" in page.source):
        return None
    root = parse(page.source)
    if root is None:
        return None
    error = root.first("Error")
    if error is not None and error.said("Code"):
        return _evidence(head, error.said("Code") or "", error.said("Message"))
    if root.name.endswith("Exception"):
        return _evidence(head, root.name, root.said("Message", "message"))
    return None


def _evidence(head: Head, word: str, message: str | None) -> Evidence:
    code = words.code_of(word, head.response.status)
    field = words.field_in(message) if message and head.response.status == 400 else None
    if message and " " not in message and code in (None, "invalid_input"):
        field, message = message, f"Invalid parameter {message}."  # SNS says the parameter's name and no more
    return said("aws", code=code, message=message, field=field)
