"""SOAP faults, 1.1 and 1.2. SOAP 1.1 sends every fault with 500, so a fault that names the sender overrules it."""

from __future__ import annotations

from saywhy.core.dialects import words
from saywhy.core.dialects.elements import Element, parse
from saywhy.core.dialects.members import said
from saywhy.core.model import Evidence, Head
from saywhy.core.page import Page

_SENDER = ("Client", "Sender")


def read(head: Head, page: Page) -> Evidence | None:
    """faultcode / Code and faultstring / Reason; the subcode after the dot of a 1.1 code is often the real word."""
    if page.kind != "xml" or "Fault" not in page.source or page.truncated:
        return None
    root = parse(page.source)
    fault = root.first("Fault") if root is not None and root.name == "Envelope" else None
    if fault is None:
        return None
    code_text = fault.said("faultcode") or _values(fault, "Code")
    message = fault.said("faultstring") or fault.said("Text")
    whose, _, rest = code_text.rpartition(":")[2].partition(".") if code_text else ("", "", "")
    if whose not in _SENDER:
        return said("soap", message=message)
    subcode = rest.rpartition(".")[2] or (fault.said("Subcode") or _sub(fault)).rpartition(":")[2]
    code = (
        words.code_of(subcode, 400) or (words.code_in(message, 400) if message else None) or "invalid_input"
    )
    field = words.field_in(message) if message and code in ("invalid_input", "missing_field") else None
    if field and message and words.says_missing(message):
        code = "missing_field"
    return said("soap", code=code, message=message, field=field, outranks_failure=True)


def _values(fault: Element, name: str) -> str:
    code = fault.first(name)
    return (code.said("Value") if code else None) or ""


def _sub(fault: Element) -> str:
    return _values(fault, "Subcode")
