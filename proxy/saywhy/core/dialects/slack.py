"""Slack's Web API: `{"ok": false, "error": "missing_scope", "needed": "..."}`, nearly always with 200."""

from __future__ import annotations

from saywhy.core.dialects import words
from saywhy.core.dialects.members import said, text, top
from saywhy.core.model import Evidence, Head
from saywhy.core.page import Page


def read(head: Head, page: Page) -> Evidence | None:
    """The error word decides; `needed` are the scopes."""
    body = top(page)
    word = text(body, "error")
    if body.get("ok") is not False or word is None:
        return None
    code = words.code_of(word, 200)
    if code is None:
        code = (
            "not_found"
            if word.endswith("_not_found")
            else "invalid_input"
            if word.startswith(("invalid_", "no_"))
            else None
        )
    scopes = tuple(one.strip() for one in (text(body, "needed") or "").split(",") if one.strip())
    detail = text(body, "detail", "description")
    return said(
        "slack",
        code=code,
        message=detail or f"The API answered {word}.",
        required_scopes=scopes,
        on_success="annotate",
    )
