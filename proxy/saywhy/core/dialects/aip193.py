"""Google's error model (AIP-193): `{"error": {"code": 400, "status": "INVALID_ARGUMENT", "message", "details": [...]}}`."""

from __future__ import annotations

from saywhy.core.dialects import words
from saywhy.core.dialects.members import items, mapping, said, text, top
from saywhy.core.model import Evidence, FieldError, Head
from saywhy.core.page import Page

_CODES = {
    "UNAUTHENTICATED": "auth_required",
    "RESOURCE_EXHAUSTED": "rate_limited",
    "ALREADY_EXISTS": "conflict",
    "ABORTED": "conflict",
    "UNAVAILABLE": "temporarily_unavailable",
}
"""Canonical codes (google.rpc.Code) that say more than their HTTP status, or stand behind several."""


def read(head: Head, page: Page) -> Evidence | None:
    """The canonical code, the reason of an ErrorInfo, the fields of a BadRequest, the wait of a RetryInfo."""
    error = mapping(top(page), "error")
    canonical = text(error, "status")
    if (
        canonical is None
        or not isinstance(error.get("code"), int)
        or not canonical.replace("_", "").isupper()
    ):
        return None
    details = [one for one in items(error.get("details")) if isinstance(one, dict)]
    reasons = [code for one in details if (code := words.code_of(one.get("reason"), head.response.status))]
    errors = [
        FieldError(text(violation, "field"), text(violation, "description") or "Invalid value")
        for one in details
        for violation in items(one.get("fieldViolations"))
        if isinstance(violation, dict)
    ]
    code = reasons[0] if reasons else _CODES.get(canonical)
    if code is None and errors and errors[0].field and words.says_missing(errors[0].message):
        code = "missing_field"
    return said(
        "aip193",
        code=code,
        message=text(error, "message"),
        field=errors[0].field if errors else None,
        errors=tuple(errors),
        retry_after=next((wait for one in details if (wait := _wait(text(one, "retryDelay")))), None),
        documentation_url=next(
            (url for one in details for link in items(one.get("links")) if (url := text(link, "url"))), None
        ),
    )


def _wait(delay: str | None) -> int | None:
    """A protobuf Duration in JSON ("32.5s") as whole seconds, rounded up."""
    whole, _, fraction = (delay or "").removesuffix("s").partition(".")
    if not whole.isascii() or not whole.isdecimal() or len(whole) > 9:
        return None
    return (int(whole) + bool(fraction.strip("0"))) or None
