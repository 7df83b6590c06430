"""Payment declines of gateways: a status word beside an amount or a reference, whatever the HTTP status."""

from __future__ import annotations

from typing import Any

from saywhy.core.dialects.elements import Element, parse
from saywhy.core.dialects.members import mapping, said, text, top
from saywhy.core.model import Evidence, Head
from saywhy.core.page import Page

_STATUS_MEMBERS = (
    "resultCode",
    "status",
    "transaction_status",
    "transactionStatus",
    "payment_status",
    "paymentStatus",
    "outcome",
    "result",
)
_DECLINED = frozenset(
    {
        "refused",
        "declined",
        "rejected",
        "card_declined",
        "denied",
        "payment_declined",
        "authorization_declined",
    }
)
_PAYMENT = frozenset(
    "pspreference payment_method_id card card_brand transaction_id transactionid merchantreference "
    "transaction_tag payment_type payment_method retref merchid authorization auth_code card_network paymentid payment_id".split()
)
_REASONS = (
    "refusalReason",
    "status_detail",
    "decline_reason",
    "failure_message",
    "bank_message",
    "reason",
    "message",
    "resptext",
    "description",
)


_XML_STATUS = (
    "decision",
    "Response",
    "Status",
    "TransactionStatus",
    "Result",
    "ResponseMessage",
    "Message",
    "result",
    "status",
    "message",
)
_XML_DECLINED = _DECLINED | {"reject", "decline", "do not honor", "do not honour"}
_XML_PAYMENT = frozenset(
    "authcode orderid cardtype transamount transid transactionid merchantreferencecode requesttoken hostrefnum "
    "receiptid ccauthreply approvalcode panmasked".split()
)


def read(head: Head, page: Page) -> Evidence | None:
    """Two signals: a word for declined, and a member that only a payment has. Below 400 it annotates."""
    if page.kind == "xml":
        return _xml(page)
    body = top(page)
    if not any(str(name).lower() in _PAYMENT for name in body) or not _is_declined(body):
        return None
    inner = (
        mapping(body, "status_details", "error", "reason")
        or mapping(body, "status_details", "error")
        or mapping(body, "error")
    )
    return said(
        "declines",
        code="payment_declined",
        message=text(inner, "description", "message") or text(body, *_REASONS) or "The payment was declined.",
        on_success="annotate",
    )


def _xml(page: Page) -> Evidence | None:
    low = page.source.lower()
    if page.truncated or not ("declin" in low or "reject" in low or "refused" in low):
        return None
    root = parse(page.source)
    if (
        root is None
        or not any(one.name.lower() in _XML_PAYMENT for one in root.walk())
        or not _xml_declined(root)
    ):
        return None
    field = root.said("invalidField", "missingField")
    if field:  # CyberSource rejects requests with the same word as cards
        name = field.rpartition(":")[2]
        return said(
            "declines",
            code="invalid_input",
            message=f"The payment request was rejected: {name}.",
            field=name,
            on_success="annotate",
        )
    message = (
        root.said("ErrMsg", "ErrorMessage", "ResponseMessage", "reasonText") or "The payment was declined."
    )
    return said("declines", code="payment_declined", message=message, on_success="annotate")


def _xml_declined(root: Element) -> bool:
    return any(
        one.name in _XML_STATUS and one.text.strip(" \t\r\n*=.!-").lower() in _XML_DECLINED
        for one in root.walk()
    )


def _is_declined(body: dict[str, Any]) -> bool:
    words = [text(body, name) for name in _STATUS_MEMBERS]
    # CardConnect answers respstat C for "declined", A for approved, B for retry.
    return any(word and word.lower() in _DECLINED for word in words) or (
        "retref" in body and body.get("respstat") == "C"
    )
