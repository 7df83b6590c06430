"""Structured errors that sites already send: what each dialect says, as raw evidence.

One short file a dialect, each with `read(head, page)`. Here stands the order (most precise first) and what holds for
all: a server failure stays a server failure, below 400 a dialect only annotates, and where a dialect gives only a
message the narrow phrases of `words` may name the code. `members`, `elements`, `listed` and `words` are what dialects read with;
no dialect knows another. Adding one: its file, its line in the table below, its rows in the table test.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from saywhy.core.dialects import (
    aip193,
    aws,
    challenge,
    contract,
    declines,
    drf,
    elements,
    fastapi,
    graphql,
    issues,
    jsonapi,
    mediawiki,
    message,
    nestjs,
    oauth,
    problem,
    rails,
    slack,
    soap,
    spring,
    stripe,
    wordpress,
    words,
    x402,
)
from saywhy.core.model import Evidence, Head
from saywhy.core.page import NOT_JSON, Page

Dialect = Callable[[Head, Page], Evidence | None]

DIALECTS: tuple[tuple[str, Dialect], ...] = (
    ("contract", contract.read),
    ("x402", x402.read),
    ("problem", problem.read),
    ("fastapi", fastapi.read),
    ("aip193", aip193.read),
    ("mediawiki", mediawiki.read),
    ("wordpress", wordpress.read),
    ("slack", slack.read),
    ("issues", issues.read),
    ("graphql", graphql.read),
    ("jsonapi", jsonapi.read),
    ("stripe", stripe.read),
    ("oauth", oauth.read),
    ("soap", soap.read),
    ("aws", aws.read),
    ("declines", declines.read),
    ("spring", spring.read),
    ("rails", rails.read),
    ("nestjs", nestjs.read),
    ("drf", drf.read),
    ("message", message.read),
)
"""Name and reader, the most precise first; the first that speaks wins."""

_ALL = tuple(dialect for _, dialect in DIALECTS)

_ON_SUCCESS = {
    "contract": ("contract_version", "retry"),
    "graphql": ("errors",),
    "slack": ("error",),
    "mediawiki": ("error",),
    "declines": ("declin", "refused", "reject", "denied", "respstat"),
    "wordpress": ("failure",),
}
"""Dialects that speak below 400 too, and words of which one is in whatever they read there: most of what an agent gets is
a success that has none.
"""

_REPEATED = frozenset(
    {(409, "conflict"), (403, "not_allowed"), (404, "not_found"), (402, "payment_required")}
)
"""Words that only say the status again; the message may say which conflict it is."""
_SHARPER = frozenset({"out_of_stock", "payment_declined", "scope_missing", "rate_limited"})

_JSON_RPC = "jsonrpc"


def read(head: Head, page: Page) -> Evidence | None:
    """What the body says in a dialect that is known, else what the header fields say, else None."""
    status = head.response.status
    by_head = read_head(head)
    if page.kind not in ("json", "xml"):
        return by_head
    for dialect in _on_success(page) if status < 400 else _ALL:
        found = dialect(head, page)
        if found is not None:
            return _with_head(_ruled(found, status), by_head)
    return by_head


def _on_success(page: Page) -> list[Dialect]:
    """The dialects that may have something to say of a success."""
    low = page.low
    escaped = "\\" in low  # so may the words be
    found = []
    for dialect, telling in _TELLING:
        for word in telling:
            if escaped or word in low:
                found.append(dialect)
                break
    return found


_TELLING = tuple((dialect, _ON_SUCCESS[name]) for name, dialect in DIALECTS if name in _ON_SUCCESS)


def read_head(head: Head) -> Evidence | None:
    """What the header fields alone say: missing scopes of a challenge, the price of a 402."""
    return challenge.read_head(head)


def _with_head(found: Evidence, by_head: Evidence | None) -> Evidence:
    """Exact header fields come before a dialect (ENVELOPE, order of evidence) and after a contract."""
    if by_head is None or found.decided_by == "contract":
        return found
    return replace(
        by_head,
        message=found.message or by_head.message,
        required_scopes=by_head.required_scopes or found.required_scopes,
        documentation_url=by_head.documentation_url or found.documentation_url,
        payment=by_head.payment or found.payment,
    )


def _ruled(found: Evidence, status: int) -> Evidence:
    if found.decided_by == "contract":
        return found
    if status >= 500:
        return found if found.outranks_failure else replace(found, code=None, on_success="")
    if status < 400:
        return found if found.on_success else replace(found, on_success="annotate")
    return _by_phrase(replace(found, on_success=""), status)


def _by_phrase(found: Evidence, status: int) -> Evidence:
    """Fills in what the message says in plain words: the code where the dialect named none or only the status's own,
    and the field."""
    if not found.message:
        return found
    repeats = (status, found.code) in _REPEATED
    if (found.code in (None, "invalid_input", "missing_field") or repeats) and not found.field:
        code = words.code_in(found.message, status)
        if code is not None and (not repeats or code in _SHARPER):
            scopes = found.required_scopes or (
                words.scopes_in(found.message) if code == "scope_missing" else ()
            )
            return replace(found, code=code, required_scopes=scopes)
    if status in (400, 422) or (status == 409 and found.code in ("missing_field", "invalid_input")):
        field = found.field or (words.field_in(found.message) if not found.errors else None)
        missing = (
            field
            and found.code in (None, "invalid_input")
            and not found.errors
            and words.says_missing(found.message)
        )
        return replace(found, field=field, code="missing_field" if missing else found.code)
    return found


def is_structured(page: Page) -> bool:
    """Whether the body is whole, well-formed JSON (an object or a list) or XML that an app may be reading."""
    if page.truncated:
        return False
    if page.kind == "json":
        return page.json is not NOT_JSON and isinstance(page.json, dict | list)
    return page.kind == "xml" and elements.parse(page.source) is not None


def is_protocol(head: Head, page: Page) -> bool:
    """JSON-RPC, gRPC and OAuth endpoint bodies: their form is the protocol's, and nothing ever replaces them."""
    media = page.media or (head.response.fields.get("content-type") or "").partition(";")[0].strip().lower()
    if (
        media.startswith(("application/grpc", "application/connect+"))
        or "grpc-status" in head.response.fields
    ):
        return True
    value = page.json if page.kind == "json" else None
    first = value[0] if isinstance(value, list) and value else value
    if (
        isinstance(first, dict)
        and isinstance(first.get(_JSON_RPC), str)
        and first.keys() & {"error", "result", "id", "method"}
    ):
        return True
    return _is_oauth(head, value)


def _is_oauth(head: Head, value: object) -> bool:
    """RFC 6749 5.2: `error` is one of its words; the description or the endpoint's name leaves no doubt."""
    if not isinstance(value, dict) or not isinstance(value.get("error"), str):
        return False
    if value["error"] not in oauth.CODES:
        return False
    path = head.request.path.lower()
    return (
        "error_description" in value
        or "oauth" in path
        or path.rstrip("/").endswith(("/token", "/revoke", "/introspect", "/register"))
    )
