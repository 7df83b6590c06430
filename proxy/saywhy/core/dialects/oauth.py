"""OAuth: error bodies of token endpoints (RFC 6749 5.2), and the challenges of protected resources (RFC 6750 3)."""

from __future__ import annotations

from saywhy.core.dialects import words
from saywhy.core.dialects.members import said, text, top
from saywhy.core.model import Evidence, Head
from saywhy.core.page import Page

CODES = {
    "invalid_client": "auth_required",
    "invalid_grant": "auth_required",
    "unauthorized_client": "not_allowed",
    "access_denied": "not_allowed",
    "invalid_token": "auth_required",
    "insufficient_scope": "scope_missing",
    "unsupported_grant_type": "invalid_input",
    "unsupported_response_type": "invalid_input",
    "invalid_scope": "invalid_input",
    "invalid_request": "invalid_input",
    "invalid_target": "invalid_input",
    "invalid_redirect_uri": "invalid_input",
    "invalid_client_metadata": "invalid_input",
    "temporarily_unavailable": "temporarily_unavailable",
    "server_error": "internal",
    "interaction_required": "needs_human",
    "login_required": "needs_human",
    "consent_required": "needs_human",
    "account_selection_required": "needs_human",
    "authorization_pending": "temporarily_unavailable",
    "slow_down": "rate_limited",
    "expired_token": "auth_required",
    "invalid_dpop_proof": "auth_required",
    "use_dpop_nonce": "auth_required",
}
"""RFC 6749 4.1.2.1 and 5.2, RFC 6750 3.1, RFC 7591 3.2.2, RFC 8628 3.5, RFC 8707 2, RFC 9449, OpenID Connect Core 3.1.2.6."""

_FIELDS = {"unsupported_grant_type": "grant_type", "unsupported_response_type": "response_type", "invalid_scope": "scope",
           "invalid_redirect_uri": "redirect_uri", "invalid_target": "resource"}  # fmt: skip
_STATUS_SAYS_MORE = frozenset({"invalid_request", "access_denied"})


def read(head: Head, page: Page) -> Evidence | None:
    """`error` is one of the registered words, alone or with its description."""
    body = top(page)
    word = text(body, "error")
    if word not in CODES or text(body, "message"):
        return None
    description = text(body, "error_description")
    code: str | None = CODES[word]
    if word in _STATUS_SAYS_MORE and not description and head.response.status not in (400, 403):
        code = None
    field = _FIELDS.get(word) or (
        words.field_in(description) if description and code == "invalid_input" else None
    )
    if code == "invalid_input" and description and words.says_missing(description):
        code = "missing_field"
    scopes = tuple((text(body, "scope") or "").split()) if word == "insufficient_scope" else ()
    return said(
        "oauth",
        code=code,
        message=description or _sentence(word),
        field=field,
        required_scopes=scopes,
        documentation_url=text(body, "error_uri"),
    )


def _sentence(word: str) -> str:
    return f"The authorization server answered {word}."
