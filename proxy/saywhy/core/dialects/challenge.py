"""What the header fields alone say: WWW-Authenticate challenges (RFC 9110 11.6.1, RFC 6750 3, RFC 9728 5.1), payment
offers of x402 v2 (PAYMENT-REQUIRED) and pay per crawl (crawler-price).
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any

from saywhy.core.dialects.members import mapping
from saywhy.core.model import Evidence, Head
from saywhy.core.page import Page

_MOST = 8192
_RANK = {"insufficient_scope": "scope_missing", "insufficient_user_authentication": "needs_human"}


def read(head: Head, page: Page) -> Evidence | None:
    """As `read_head`; the page is not asked."""
    return read_head(head)


def read_head(head: Head) -> Evidence | None:
    """Evidence by header: scope_missing with the scopes of the challenge, or payment_required with the offer."""
    return _scope(head) or _payment(head)


def _scope(head: Head) -> Evidence | None:
    if head.response.status not in (401, 403):
        return None
    for line in head.response.fields.all("www-authenticate"):
        params = parameters(line)
        code = _RANK.get(params.get("error", ""))
        if code:
            return Evidence(
                decided_by="header",
                rule="dialect/challenge",
                signals=(f"WWW-Authenticate says {params['error']}",),
                code=code,
                message=params.get("error_description") or None,
                required_scopes=tuple(params.get("scope", "").split()[:20]),
            )
    return None


def _payment(head: Head) -> Evidence | None:
    if head.response.status != 402:
        return None
    fields = head.response.fields
    offer: dict[str, Any] = {}
    signal = ""
    encoded = fields.get("payment-required")
    if encoded and len(encoded) <= _MOST:
        signal, offer = "PAYMENT-REQUIRED field", _decoded(encoded)
    price = fields.get("crawler-price")
    if price:
        signal = signal or "crawler-price field"
        offer = {**offer, "crawler_price": price}
    if not signal:
        return None
    return Evidence(
        decided_by="header",
        rule="dialect/challenge",
        signals=(signal,),
        code="payment_required",
        message=f"The site charges {price} for this page." if price else None,
        payment=offer or None,
    )


def _decoded(encoded: str) -> dict[str, Any]:
    try:
        raw = base64.b64decode(
            encoded + "=" * (-len(encoded) % 4), altchars=b"-_" if "-" in encoded or "_" in encoded else None
        )
        return mapping(json.loads(raw))
    except (ValueError, binascii.Error, RecursionError):
        return {}


def parameters(line: str) -> dict[str, str]:
    """The auth-params of a challenge line by lower-cased name; of several challenges in one line, all together."""
    found: dict[str, str] = {}
    at = 0
    line = line[:_MOST]
    while (equals := line.find("=", at)) >= 0:
        name = line[at:equals].replace(",", " ").split()
        value, at = _value(line, equals + 1)
        if name:
            found.setdefault(name[-1].lower(), value)
    return found


def _value(line: str, at: int) -> tuple[str, int]:
    """The token or quoted-string (RFC 9110 5.6.4) at `at`, unquoted, and where it ends."""
    while at < len(line) and line[at] in " \t":
        at += 1
    if at < len(line) and line[at] == '"':
        value, at = "", at + 1
        while at < len(line) and line[at] != '"':
            at += line[at] == "\\"
            value += line[at : at + 1]
            at += 1
        return value, at + 1
    end = at
    while end < len(line) and line[end] not in ", \t":
        end += 1
    return line[at:end], end
