"""Every step of why: one exchange run through the route with its tracks kept. Values in, values out; whoever prints
chooses the colours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from saywhy.core.model import Evidence, Head, Plan, Verdict
from saywhy.core.normalize import Normalizer, Record

if TYPE_CHECKING:
    from saywhy.core.rules import Step

_WHY_PASSED = {
    "": "a success that no rule wants to look at",
    "not_agent": "the caller is not an agent",
    "structured": "the body is structured already, and an app may be reading it",
    "streaming": "an event stream or a part of something is never held",
    "too_large": "the structured body is larger than what is read of one",
    "coding": "the content coding is unknown",
    "opted_out": "the route says so",
    "upgrade": "the exchange switches protocols",
    "grpc": "gRPC carries its status in trailers",
    "budget": "the proxy holds as many bytes as it may",
}


@dataclass(frozen=True, slots=True)
class Side:
    """What stood or stands on one side: the status, the header lines (latin-1 text) and the content as text."""

    status: int
    fields: tuple[tuple[str, str], ...]
    text: str


@dataclass(frozen=True, slots=True)
class Trace:
    """Who was taken for what and why, each rule tried and what stopped it, the evidence, the verdict, before and after."""

    plan: Plan
    page: str  # what the body was read as, one clause
    title: str
    steps: tuple[Step, ...]
    evidence: tuple[Evidence, ...]
    verdict: Verdict
    before: Side
    after: Side

    def as_dict(self) -> dict[str, Any]:
        """The trace as plain JSON values."""
        verdict, caller = self.verdict, self.plan.caller
        return {
            "caller": {
                "agent": caller.is_agent,
                "by": caller.by,
                "media": caller.media,
                "reason": caller.reason,
            },
            "route": self.plan.policy.name,
            "plan": self.plan.action,
            "page": self.page,
            "title": self.title,
            "rules": [
                {"rule": step.rule, "outcome": step.outcome, "condition": step.condition}
                for step in self.steps
            ],
            "evidence": [_evidence(one) for one in self.evidence],
            "action": verdict.action,
            "reason": verdict.reason,
            "would": verdict.would,
            "decided_by": verdict.decided_by,
            "rule": verdict.rule,
            "shadow_rules": list(verdict.shadow_rules),
            "code": verdict.code,
            "redactions": dict(verdict.redactions),
            "fault": verdict.fault,
            "before": _side(self.before),
            "after": _side(self.after),
        }

    def lines(self) -> list[str]:
        """The road in sentences, one a line, in the order in which it was gone."""
        verdict, caller = self.verdict, self.plan.caller
        who = "an agent" if caller.is_agent else "not an agent"
        lines = [
            f"caller: {who} ({caller.by}): {caller.reason or 'nobody asked'}",
            f"route: {self.plan.policy.name}",
            f"plan: {self.plan.action}" + (f" up to {self.plan.limit} bytes" if self.plan.limit else ""),
        ]
        if self.page:
            lines.append(f"page: {self.page}" + (f", titled {self.title!r}" if self.title else ""))
        lines += [f"rule {step.rule}: {step.outcome}" + _because(step.condition) for step in self.steps]
        lines += [f"evidence: {_summary(one)}" for one in self.evidence]
        lines += [f"shadow: {rule} would have matched" for rule in verdict.shadow_rules]
        lines += [f"redacted: {kind}, {count} times" for kind, count in sorted(verdict.redactions.items())]
        if verdict.fault:
            lines.append(f"fault: {verdict.fault} on the way; the status decided")
        lines.append(self._end())
        return lines

    def _end(self) -> str:
        verdict = self.verdict
        if verdict.would and verdict.would != "pass":
            by = verdict.rule or verdict.decided_by
            return f"verdict: pass, the route is in shadow mode; else {verdict.would}, {verdict.code} by {by}"
        if verdict.action == "pass":
            return f"verdict: pass, {_WHY_PASSED[verdict.reason]}"
        by = verdict.rule or verdict.decided_by
        kept = f", the body stays: {_WHY_PASSED[verdict.reason]}" if verdict.reason else ""
        return f"verdict: {verdict.action}, {verdict.code} by {by}, status {self.before.status} -> {verdict.status}{kept}"


def explain(normalizer: Normalizer, head: Head, body: bytes, *, complete: bool = True, now: float) -> Trace:
    """Run one exchange as a relay would, holding no more of `body` than the plan asks for, and keep every step."""
    plan = normalizer.triage(head)
    record = Record()
    held = body[: plan.limit] if plan.action != "pass" else body
    whole = complete and len(held) == len(body)
    verdict = normalizer.normalize(head, plan, held, complete=whole, now=now, record=record)
    page = record.page
    before = page.source if page is not None else body[:65_536].decode("utf-8", "replace")
    after = before if verdict.body is None else verdict.body.decode("utf-8", "replace")
    return Trace(
        plan=plan,
        page=_page_clause(record),
        title=page.title if page is not None else "",
        steps=tuple(record.steps),
        evidence=tuple(record.evidence),
        verdict=verdict,
        before=Side(head.response.status, _text_lines(head.response.fields.lines), before),
        after=Side(verdict.status, _text_lines(verdict.fields.lines), after),
    )


def _page_clause(record: Record) -> str:
    page = record.page
    if page is None:
        return ""
    parts = [page.kind, f"sent as {page.media}" if page.media else "sent without a type"]
    if page.truncated:
        parts.append("cut")
    if page.fault:
        parts.append(f"fault: {page.fault}")
    return ", ".join(parts)


def _text_lines(lines: tuple[tuple[bytes, bytes], ...]) -> tuple[tuple[str, str], ...]:
    return tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in lines)


def _summary(evidence: Evidence) -> str:
    said = [f"{evidence.decided_by}" + (f" {evidence.rule}" if evidence.rule else "")]
    said.append(f"says {evidence.code}" if evidence.code else "knows no code")
    if evidence.signals:
        said.append("saw " + ", ".join(evidence.signals))
    return "; ".join(said)


def _evidence(evidence: Evidence) -> dict[str, Any]:
    return {
        "decided_by": evidence.decided_by,
        "rule": evidence.rule,
        "code": evidence.code,
        "field": evidence.field,
        "signals": list(evidence.signals),
    }


def _because(condition: str) -> str:
    return f", {condition}" if condition else ""


def _side(side: Side) -> dict[str, Any]:
    return {"status": side.status, "headers": [list(line) for line in side.fields], "body": side.text}
