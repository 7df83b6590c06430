"""Stripe and the APIs that copy its shape (OpenAI and kin): `{"error": {"type", "code", "message", "param"}}`."""

from __future__ import annotations

from saywhy.core.dialects import words
from saywhy.core.dialects.members import mapping, said, text, top
from saywhy.core.model import Evidence, Head
from saywhy.core.page import Page


def read(head: Head, page: Page) -> Evidence | None:
    """`type` together with `message` marks it; `decline_code` or a card error is a decline."""
    error = mapping(top(page), "error")
    kind, message = text(error, "type"), text(error, "message")
    if kind is None or message is None:
        return None
    status = head.response.status
    code = next((code for word in (error.get("code"), kind) if (code := words.code_of(word, status))), None)
    if text(error, "decline_code") or kind == "card_error":
        code = "payment_declined"
    field = text(error, "param")
    if field and code in (None, "invalid_input") and status in (400, 422) and words.says_missing(message):
        code = "missing_field"
    return said("stripe", code=code, message=message, field=field, documentation_url=text(error, "doc_url"))
