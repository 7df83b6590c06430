"""What a response's head asks of its body: the Plan. Decided before a byte of the body is read (no stream is held)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from saywhy.core import callers
from saywhy.core.model import Caller, Head, PassReason, Plan
from saywhy.core.policy import Policy

if TYPE_CHECKING:
    from saywhy.core.rules import Rulebook

_UNASKED = Caller(False, "nothing", reason="nobody looked, for this answer passes whoever asks")
_NO_CONTENT = frozenset({204, 205, 206, 304})
"""Successes that no rule looks at: nothing stands in them, or a part of something (RFC 9110 15.3.5-7, 15.4.5)."""


def plan(head: Head, policy: Policy, rulebook: Rulebook, *, hold: int, peek: int) -> Plan:
    """The plan for one response. `hold` and `peek` are the bytes wanted of an error and of a success."""
    status = head.response.status
    reason = _untouchable(head, policy)
    if reason:
        return Plan("pass", reason if status >= 400 else "", _UNASKED, policy)
    if status < 400:
        return _success(head, policy, rulebook, peek)
    caller = callers.identify(head.request, policy)
    if not caller.is_agent and not (policy.scrub == "everyone" and policy.mode == "enforce"):
        return Plan("pass", "not_agent", caller, policy)
    return Plan("hold", "", caller, policy, 0 if head.request.method.upper() == "HEAD" else hold)


def _success(head: Head, policy: Policy, rulebook: Rulebook, peek: int) -> Plan:
    status = head.response.status
    if status < 200 or status in _NO_CONTENT or not rulebook.has_success_rules:
        return Plan("pass", "", _UNASKED, policy)
    # A claim that nobody verified never changes a success.
    caller = callers.identify(head.request, policy, claims=False)
    if not caller.is_agent or not rulebook.wants_success(head, policy.packs):
        return Plan("pass", "", caller, policy)
    return Plan("peek", "", caller, policy, 0 if head.request.method.upper() == "HEAD" else peek)


def _untouchable(head: Head, policy: Policy) -> PassReason:
    """Why nobody's answer is touched here; empty where it may be."""
    request, response = head.request.fields, head.response.fields
    if response_is_upgrade(head):
        return "upgrade"
    if policy.mode == "off" or policy.passes_through(head.request.path):
        return "opted_out"
    kind = (response.get("content-type") or "").lower()
    if kind.startswith("application/grpc") or (request.get("content-type") or "").lower().startswith(
        "application/grpc"
    ):
        return "grpc"  # the status travels in trailers, the message in frames
    if kind.startswith("text/event-stream") or head.response.status == 206:
        return "streaming"
    return ""


def response_is_upgrade(head: Head) -> bool:
    """Whether the exchange switches protocols or asked to. HTTP/2 does not count: that offer never gets to a site."""
    if head.response.status == 101:
        return True
    wanted = (head.request.fields.get("upgrade") or "").lower()
    return bool(wanted) and not wanted.startswith("h2c")
