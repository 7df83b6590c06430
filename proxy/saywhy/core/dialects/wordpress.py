"""WordPress REST and WooCommerce's Store API: `{"code", "message", "data": {"status", "params"}}`."""

from __future__ import annotations

from typing import Any

from saywhy.core.dialects import words
from saywhy.core.dialects.members import mapping, said, text, texts, top
from saywhy.core.model import Evidence, FieldError, Head
from saywhy.core.page import Page


def read(head: Head, page: Page) -> Evidence | None:
    """`params` names the fields: a list for missing ones, an object of messages for invalid ones."""
    body = top(page)
    if body.get("result") == "failure" and text(body, "messages"):
        return said("wordpress", code=_by_notice(body), message=text(body, "messages"), on_success="annotate")
    if head.response.status < 400:
        return None
    word, data = text(body, "code"), mapping(body, "data")
    if word is None or text(body, "message") is None or not isinstance(data.get("status"), int):
        return None
    listed, by_field = texts(data.get("params")), mapping(data, "params")
    errors = [
        FieldError(str(name), message)
        for name, message in list(by_field.items())[:20]
        if isinstance(message, str)
    ]
    fields = listed + [one.field for one in errors if one.field]
    code = words.code_of(word, head.response.status) or _by_word(word)
    return said(
        "wordpress",
        code=code,
        message=text(body, "message"),
        field=fields[0] if fields else None,
        errors=tuple(errors),
    )


def _by_notice(body: dict[str, Any]) -> str:
    """WooCommerce's form posts answer 200 with the notices as markup."""
    return words.code_in(text(body, "messages") or "", 400) or "invalid_input"


def _by_word(word: str) -> str | None:
    if word.endswith("_out_of_stock"):
        return "out_of_stock"
    return "not_found" if word.endswith(("_invalid_id", "_not_found")) else None
