"""The Verdict that a finding becomes: rewritten, annotated, redacted, or passed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from saywhy.core import fields as sections
from saywhy.core.compose import Composed, bare, leaking, leaks
from saywhy.core.contract import codes
from saywhy.core.contract.envelope import Envelope
from saywhy.core.model import Caller, DecidedBy, Head, PassReason, Plan, Verdict
from saywhy.core.render import RENDERINGS, render

if TYPE_CHECKING:
    from saywhy.core.scrub import Scrubber


@dataclass(frozen=True, slots=True)
class Case:
    """One exchange at the moment of answering. `size` counts the bytes of the body that came."""

    head: Head
    plan: Plan
    size: int
    now: float
    shadowed: tuple[str, ...] = ()

    @property
    def caller(self) -> Caller:
        """Who asks."""
        return self.plan.caller


def passed(case: Case, reason: PassReason, *, fault: str = "") -> Verdict:
    """The site's answer as it is."""
    status = case.head.response.status
    return Verdict(
        action="pass",
        status=status,
        fields=case.head.response.fields,
        caller=case.caller,
        reason=reason,
        original_status=status,
        original_bytes=case.size,
        shadow_rules=case.shadowed,
        fault=fault,
    )


def rewritten(case: Case, composed: Composed, scrubber: Scrubber) -> Verdict:
    """The envelope in the caller's rendering. What scrub would still redact in it never leaves: then the bare one."""
    redactions = dict(composed.redactions)
    envelope = composed.envelope
    # One serialisation stands for all: the others are made of the same texts, escaped in ways that hide from a scan.
    found = leaking(envelope, scrubber)
    if found:
        _add(redactions, found)
        envelope = bare(case.head, now=case.now, code=envelope.error.code)
    return _with_envelope(case, envelope, redactions, decided_by=composed.decided_by, rule=composed.rule)


def bare_answer(case: Case, *, fault: str) -> Verdict:
    """What is left when rewriting itself failed: the envelope of the status."""
    return _with_envelope(case, bare(case.head, now=case.now), {}, fault=fault)


def annotated(
    case: Case, composed: Composed, scrubber: Scrubber, *, vary: bool, reason: PassReason = ""
) -> Verdict:
    """The site's body with `Agent-Error` above it. On a success shared caches must not replay it to people."""
    status = case.head.response.status
    envelope = composed.envelope
    if leaks(sections.agent_error(envelope.error).decode("ascii"), scrubber):
        envelope = bare(case.head, now=case.now, code=envelope.error.code)
    verdict = replace(
        passed(case, reason),
        action="annotate",
        fields=sections.annotated_fields(
            case.head.response.fields,
            envelope.error,
            vary=vary,
            private=status < 400,
            useragents=case.plan.policy.useragents,
            now=case.now,
        ),
        envelope=envelope,
    )
    return replace(verdict, code=envelope.error.code, decided_by=composed.decided_by, rule=composed.rule)


def redacted(case: Case, verdict: Verdict, body: bytes, counts: Mapping[str, int]) -> Verdict:
    """`verdict`, whose body is now the site's with the floor redacted in place (content coding off)."""
    policy = case.plan.policy
    fields = sections.redacted_fields(
        verdict.fields, len(body), differs=policy.scrub != "everyone", useragents=policy.useragents
    )
    return replace(verdict, action="redact", fields=fields, body=body, redactions=dict(counts))


def shadowed(case: Case, verdict: Verdict) -> Verdict:
    """What a route in shadow mode sends: the original, and in the log what would have been."""
    return replace(
        passed(case, "opted_out"),
        envelope=verdict.envelope,
        code=verdict.code,
        decided_by=verdict.decided_by,
        rule=verdict.rule,
        would=verdict.action,
    )


def _with_envelope(
    case: Case,
    envelope: Envelope,
    redactions: Mapping[str, int],
    *,
    decided_by: DecidedBy = "status",
    rule: str | None = None,
    fault: str = "",
) -> Verdict:
    received = case.head.response.status
    # A site's own error status is kept; a success that is a failure takes the code's.
    status = received if received >= 400 else codes.look_up(envelope.error.code).status
    media = case.caller.media
    is_head = case.head.request.method.upper() == "HEAD"
    body = render(envelope, media, status=status, public_url=case.plan.policy.public_url)
    body = b"" if is_head else body
    fields = sections.rewritten_fields(
        case.head.response.fields,
        envelope.error,
        status=status,
        received=received,
        content_type=RENDERINGS[media].content_type,
        length=None if is_head else len(body),
        useragents=case.plan.policy.useragents,
        now=case.now,
    )
    return Verdict(
        action="rewrite",
        status=status,
        fields=fields,
        body=body,
        envelope=envelope,
        media=media,
        code=envelope.error.code,
        caller=case.caller,
        decided_by=decided_by,
        rule=rule,
        original_status=received,
        original_bytes=case.size,
        redactions=redactions,
        shadow_rules=case.shadowed,
        fault=fault,
    )


def _add(counts: dict[str, int], more: Mapping[str, int]) -> None:
    for kind, count in more.items():
        counts[kind] = counts.get(kind, 0) + count
