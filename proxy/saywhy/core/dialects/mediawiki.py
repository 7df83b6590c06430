"""MediaWiki's action API: `{"error": {"code": "badtoken", "info": "..."}}`, with 200 and `MediaWiki-API-Error`."""

from __future__ import annotations

from saywhy.core.dialects import words
from saywhy.core.dialects.members import mapping, said, text, top
from saywhy.core.model import Evidence, Head
from saywhy.core.page import Page


def read(head: Head, page: Page) -> Evidence | None:
    """`info` beside `code` is this dialect alone."""
    error = mapping(top(page), "error")
    word, info = text(error, "code"), text(error, "info")
    if word is None or info is None:
        return None
    code = words.code_of(word, 200)
    field = words.field_in(info)
    return said(
        "mediawiki",
        code=code or ("invalid_input" if field else None),
        message=info,
        field=field,
        on_success="annotate",
    )
