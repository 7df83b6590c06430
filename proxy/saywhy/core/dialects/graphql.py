"""GraphQL errors (spec 7.1.2): `errors` with `message`, `extensions.code`; mostly inside a 200, beside partial data."""

from __future__ import annotations

from typing import Any

from saywhy.core.dialects import words
from saywhy.core.dialects.members import items, mapping, said, text, texts, top
from saywhy.core.model import Evidence, Head
from saywhy.core.page import Page

_CODES = {
    "GRAPHQL_PARSE_FAILED": "invalid_input", "GRAPHQL_VALIDATION_FAILED": "invalid_input", "BAD_USER_INPUT": "invalid_input",
    "PERSISTED_QUERY_NOT_FOUND": "not_found", "OPERATION_RESOLUTION_FAILURE": "invalid_input", "BAD_REQUEST": "invalid_input",
    "UNAUTHENTICATED": "auth_required", "AUTH_NOT_AUTHENTICATED": "auth_required", "FORBIDDEN": "not_allowed",
    "AUTH_NOT_AUTHORIZED": "not_allowed", "ACCESS_DENIED": "not_allowed", "NOT_FOUND": "not_found", "THROTTLED": "rate_limited",
    "RATE_LIMITED": "rate_limited", "INTERNAL_SERVER_ERROR": "internal", "MAX_COST_EXCEEDED": "invalid_input", "CONFLICT": "conflict",
}  # fmt: skip
_MEMBERS = frozenset({"message", "locations", "path", "extensions", "type", "code", "errorCode"})
_MUTATION_ERRORS = ("userErrors", "errors", "customerUserErrors", "checkoutUserErrors", "checkoutErrors")
_MUTATION_MEMBERS = frozenset(
    {
        "field",
        "message",
        "code",
        "__typename",
        "elementIndex",
        "addressType",
        "variants",
        "attributes",
        "values",
        "lines",
    }
)
_PERMISSION = ("permission", "not authorized", "not authorised", "access denied", "forbidden")
_INPUT = (
    "cannot query field",
    "unknown argument",
    "unknown type",
    "got invalid value",
    "expected value of type",
    "syntax error",
)


def read(head: Head, page: Page) -> Evidence | None:
    """The first error. At 200 it annotates: there may be data beside it."""
    found = [one for one in items(top(page).get("errors")) if isinstance(one, dict)]
    if not found and head.response.status == 200 and head.request.method == "POST":
        return _mutation(mapping(top(page), "data"))
    if not found or not _is_graphql(top(page), found):
        return None
    first, status = found[0], head.response.status
    message = text(first, "message")
    extensions = mapping(first, "extensions")
    word = text(extensions, "code", "errorCode") or text(extensions, "category") or text(first, "type")
    code = _CODES.get((word or "").upper()) or words.code_of(word, 200 if status < 400 else status)
    if message and code in (None, "invalid_input"):
        code = _by_message(message) or code
    return said(
        "graphql",
        code=code,
        message=message,
        field=words.field_in(message) if message and code in ("invalid_input", "missing_field") else None,
        required_scopes=tuple(texts(extensions.get("requiredScopes"))),
        on_success="annotate",
    )


def _mutation(data: dict[str, Any]) -> Evidence | None:
    """Shopify's and Saleor's mutations fail inside their data: `userErrors` or `errors` of field, message and code."""
    for result in list(data.values())[:5]:
        for name in _MUTATION_ERRORS:
            found = [one for one in items(mapping(result).get(name)) if isinstance(one, dict)]
            if found and all(
                text(one, "message") and one.keys() <= _MUTATION_MEMBERS and one.keys() & {"field", "code"}
                for one in found
            ):
                return _refused(found[0])
    return None


def _refused(one: dict[str, Any]) -> Evidence:
    message, word, place = text(one, "message") or "", text(one, "code") or "", one.get("field")
    code = (
        words.code_of(word, 200)
        or words.code_in(message, 400)
        or ("out_of_stock" if "STOCK" in word else "invalid_input")
    )
    field = place if isinstance(place, str) else next(iter(reversed(texts(place))), None)
    return said("graphql", code=code, message=message, field=field, on_success="annotate")


def _by_message(message: str) -> str | None:
    low = message.lower()
    if words.says_missing(message):
        return "missing_field"
    if any(phrase in low for phrase in _INPUT):
        return "invalid_input"
    if any(phrase in low for phrase in _PERMISSION):
        return "not_allowed"
    return words.code_in(message, 403)


def _is_graphql(body: dict[str, Any], found: list[dict[str, Any]]) -> bool:
    if not all(isinstance(one.get("message"), str) and set(one) <= _MEMBERS for one in found):
        return False
    return "data" in body or any("locations" in one or "path" in one or "extensions" in one for one in found)
