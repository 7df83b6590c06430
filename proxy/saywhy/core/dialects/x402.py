"""x402: a 402 whose body carries the offer, `{"x402Version": 1, "accepts": [...]}` (v1; v2 sends it as a field)."""

from __future__ import annotations

from saywhy.core.dialects.members import items, said, text, top
from saywhy.core.model import Evidence, Head
from saywhy.core.page import Page

_MEMBERS = (
    "scheme",
    "network",
    "maxAmountRequired",
    "amount",
    "asset",
    "payTo",
    "resource",
    "description",
    "maxTimeoutSeconds",
    "extra",
)


def read(head: Head, page: Page) -> Evidence | None:
    """The offers as they are, bounded to the members that pay."""
    body = top(page)
    offers = [one for one in items(body.get("accepts")) if isinstance(one, dict)]
    if head.response.status != 402 or "x402Version" not in body or not offers:
        return None
    accepts = [{name: one[name] for name in _MEMBERS if name in one} for one in offers[:5]]
    description = text(offers[0], "description")
    error = text(body, "error")
    message = f"Payment required: {description}." if description else error
    return said(
        "x402",
        code="payment_required",
        message=message,
        payment={"protocol": "x402", "version": body["x402Version"], "accepts": accepts},
    )
