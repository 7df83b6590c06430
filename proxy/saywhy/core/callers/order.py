"""The order of evidence about a caller, and the cheap look at a raw head that spares most exchanges all of it."""

from __future__ import annotations

from saywhy.core.callers import accept, browser, signature, useragent
from saywhy.core.model import Caller, Request
from saywhy.core.policy import Policy


def may_be_agent(request_head: bytes) -> bool:
    """Whether `identify` could say agent by what the caller sent (a pin or a User-Agent list aside).

    A byte search on the raw head, half a microsecond: every success pays for it. False is certain; True may be wrong.
    """
    find = (
        request_head.lower().find
    )  # media types and field names are case-insensitive; `in` costs twice as much
    if find(b"json") >= 0 and (find(b"application/json") >= 0 or find(b"application/problem+json") >= 0):
        return True
    return find(b"text/markdown") >= 0 or find(b"signature-input") >= 0


def identify(request: Request, policy: Policy, *, claims: bool = True) -> Caller:
    """Who asks, by the first evidence that speaks. `claims=False` leaves signatures out: a claim that nobody has
    verified never changes a success.
    """
    fields = request.fields
    ranges = accept.parse(fields.joined("accept") or "")
    if policy.callers == "nobody":
        return Caller(False, "pinned", reason="the route says that nobody is an agent")
    if policy.callers == "everyone":
        media, named = accept.preferred(ranges)
        return Caller(True, "pinned", media, named, reason="the route says that everyone is an agent")
    marks = browser.marks(fields)
    if claims and signature.claims(fields):
        return _signed(ranges, marks)
    if marks:
        return Caller(False, "browser", browser_marks=True, reason=marks)
    named_type = accept.agent_type(ranges)
    if named_type is not None:
        return Caller(
            True, "accept", named_type, True, reason=f"Accept names {named_type} and prefers it to HTML"
        )
    product = useragent.listed(fields) if policy.useragents else None
    if product is not None:
        media, named = accept.preferred(ranges)
        return Caller(True, "useragent", media, named, reason=f"User-Agent names {product}")
    return Caller(False, "nothing", reason="nothing marks the caller as an agent")


def _signed(ranges: tuple[accept.Range, ...], marks: str) -> Caller:
    """A signed caller. Some drive a real browser: those keep the page, so that a challenge can still pass."""
    media, named = accept.preferred(ranges)
    html = accept.html_first(ranges)
    reason = "a web-bot-auth signature is claimed"
    if marks or html:
        reason += f", and {marks or 'Accept puts HTML first'}: the page stays, the headers are added"
    return Caller(True, "signature", media, named, bool(marks or html), reason)
