"""`Normalizer`: rules, routes and scrub put together; one immutable value that a reload replaces as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from saywhy.core import callers, dialects, failures
from saywhy.core.compose import Found, compose
from saywhy.core.model import Caller, Evidence, Head, PassReason, Plan, Request, Verdict
from saywhy.core.normalize import answer, triage
from saywhy.core.normalize.answer import Case
from saywhy.core.normalize.failing import failure_answer
from saywhy.core.normalize.gather import gather
from saywhy.core.normalize.record import Record
from saywhy.core.page import QUICK_BYTES, Familiar, PageLimits, TakesLong
from saywhy.core.page.coding import decode
from saywhy.core.policy import Policy, Routes
from saywhy.core.scrub import Scrubber

if TYPE_CHECKING:
    from saywhy.core.page import Page
    from saywhy.core.rules import Rulebook

_NOBODY = Caller(False, "nothing")


class Normalizer:
    """Decides about exchanges. `hold_bytes` and `peek_bytes` bound what is wanted of a body as it comes on the wire:
    an error page and its JSON report fit in 256 KiB, and a wall sent as a success shows itself in 64.
    """

    __slots__ = (
        "_familiar",
        "_hold",
        "_looks_at_all",
        "_looks_at_errors",
        "_peek",
        "_scrubber",
        "routes",
        "rulebook",
    )

    def __init__(
        self,
        rulebook: Rulebook,
        routes: Routes | None = None,
        scrubber: Scrubber | None = None,
        *,
        page_limits: PageLimits | None = None,
        hold_bytes: int = 262_144,
        peek_bytes: int = 65_536,
    ) -> None:
        self.rulebook = rulebook
        self.routes = routes or Routes()
        self._scrubber = scrubber or Scrubber()
        self._familiar = Familiar(page_limits)
        self._hold = hold_bytes
        self._peek = peek_bytes
        # Pins and the User-Agent list make agents of callers whose head shows no trace of one.
        self._looks_at_all = any(
            route.callers == "everyone" or route.useragents for route in self.routes.routes
        )
        self._looks_at_errors = self._looks_at_all or any(
            route.scrub == "everyone" for route in self.routes.routes
        )

    def glance(self, status: int, request_head: bytes) -> bool:
        """Whether anything but a pass is possible, from the status and the raw request head: for the relay, before it
        makes values of the heads. An error at which nobody need look passes as `not_agent`.
        """
        if status >= 400:
            return self._looks_at_errors or callers.may_be_agent(request_head)
        return (
            status >= 200
            and self.rulebook.has_success_rules
            and (self._looks_at_all or callers.may_be_agent(request_head))
        )

    def triage(self, head: Head) -> Plan:
        """What is wanted of the body of `head`. Never raises."""
        policy = self._policy(head.request)
        try:
            return triage.plan(head, policy, self.rulebook, hold=self._hold, peek=self._peek)
        except Exception:
            return self._unplanned(head, policy)

    def normalize(
        self, head: Head, plan: Plan, body: bytes, *, complete: bool, now: float, record: Record | None = None
    ) -> Verdict:
        """The verdict on one response. `body` is what came of it (codings on, framing off), `complete` whether that is
        all, `now` Unix time. Never raises: an agent then gets the bare envelope of the status, anyone else the site's
        bytes, and `Verdict.fault` names the class of what went wrong.
        """
        case = Case(head, plan, len(body), now)
        if plan.action == "pass":
            return answer.passed(case, plan.reason)
        try:
            return self._decide(case, body, complete, record)
        except Exception as error:
            return self._rescued(case, type(error).__name__)

    def hurry(self, head: Head, plan: Plan, body: bytes, *, complete: bool, now: float) -> Verdict | None:
        """As `normalize`, in a few milliseconds at most; None where it would take longer, up to some tenths of a second.
        For loops that serve others meanwhile.
        """
        case = Case(head, plan, len(body), now)
        if plan.action == "pass":
            return answer.passed(case, plan.reason)
        try:
            return self._decide(case, body, complete, None, hurried=True)
        except TakesLong:
            return None
        except Exception as error:
            return self._rescued(case, type(error).__name__)

    def _unplanned(self, head: Head, policy: Policy) -> Plan:
        """The plan where triage failed: an agent's error is held all the same, and anything else is the site's own."""
        try:
            caller = callers.identify(head.request, policy)
        except Exception:
            caller = _NOBODY
        held = caller.is_agent and head.response.status >= 400 and policy.mode == "enforce"
        return Plan("hold" if held else "pass", "", caller, policy, self._hold if held else 0)

    def fail(self, request: Request, token: str, *, now: float, wait: int | None = None) -> Verdict:
        """The answer to the proxy's own failure `token` (RFC 9209 2.3). `wait` in seconds overrules the table's."""
        policy = self._policy(request)
        failure = failures.look_up(token)
        try:
            caller = callers.identify(request, policy) if policy.mode == "enforce" else _NOBODY
        except Exception:
            caller = _NOBODY
        return failure_answer(request, failure, caller, policy, now=now, wait=wait)

    def _policy(self, request: Request) -> Policy:
        return self.routes.only or self.routes.pick(request.host, request.path) or Policy()

    def _rescued(self, case: Case, fault: str) -> Verdict:
        plan = case.plan
        keeps = plan.caller.browser_marks and plan.policy.signed_browsers == "headers"
        if (
            case.head.response.status < 400
            or not plan.caller.is_agent
            or keeps
            or plan.policy.mode != "enforce"
        ):
            return answer.passed(case, "", fault=fault)
        try:
            return answer.bare_answer(case, fault=fault)
        except Exception:
            return answer.passed(case, "", fault=fault)

    def _decide(
        self, case: Case, body: bytes, complete: bool, record: Record | None, *, hurried: bool = False
    ) -> Verdict:
        head, plan = case.head, case.plan
        if head.request.method.upper() == "HEAD":
            body, complete = b"", True
        page = self._familiar.read(head.response.fields, body, complete=complete)
        if hurried:
            page.hurried = True
            if page.kind in ("json", "xml") and page.size > QUICK_BYTES:
                raise TakesLong
        if record is not None:
            record.page = page
        if not plan.caller.is_agent:
            return self._floored(case, answer.passed(case, "not_agent"), page, body, complete)
        found = gather(head, page, self.rulebook, plan.policy.packs, record)
        case = Case(head, plan, case.size, case.now, found.shadowed)
        if record is not None:
            record.evidence = found.evidence
        if head.response.status < 400:
            verdict = self._success(case, page, found.evidence)
        else:
            verdict = self._error(case, page, found.evidence, body, complete)
        return answer.shadowed(case, verdict) if plan.policy.mode == "shadow" else verdict

    def _success(self, case: Case, page: Page, evidence: tuple[Evidence, ...]) -> Verdict:
        """A success page: rewritten or annotated where a rule says so, annotated where the site's own JSON does."""
        rule = next((one for one in evidence if one.on_success and one.decided_by != "dialect"), None)
        speaks = [one for one in evidence if one is rule or (one.on_success and one.code)]
        if not speaks:
            return answer.passed(case, "")
        rewrites = rule is not None and rule.on_success == "rewrite"
        if rule is not None:
            speaks = [rule, *(one for one in speaks if one is not rule)]
        found = Found(case.head, speaks, page, instance=_names_address(case))
        composed = compose(found, scrubber=self._scrubber, now=case.now)
        if rewrites:
            return answer.rewritten(case, composed, self._scrubber)
        return answer.annotated(case, composed, self._scrubber, vary=True)

    def _error(
        self, case: Case, page: Page, evidence: tuple[Evidence, ...], body: bytes, complete: bool
    ) -> Verdict:
        reason = self._keeps(case, page)
        envelope_wanted = reason is None
        original = _original(page) if envelope_wanted and dialects.is_structured(page) else None
        found = Found(case.head, evidence, page, original, _names_address(case))
        composed = compose(found, scrubber=self._scrubber, now=case.now)
        if reason is None:
            return answer.rewritten(case, composed, self._scrubber)
        # The caching of a site's own JSON stays its own; a page that another caller gets as an envelope must vary.
        verdict = answer.annotated(case, composed, self._scrubber, vary=not reason, reason=reason)
        return self._floored(case, verdict, page, body, complete) if reason == "structured" else verdict

    def _keeps(self, case: Case, page: Page) -> PassReason | None:
        """Why the site's body stays: "structured" or "too_large" for bodies that apps read, "" for the page of a signed
        browser; None where the envelope takes its place.
        """
        caller, policy = case.caller, case.plan.policy
        if dialects.is_protocol(case.head, page):
            return "structured"
        if caller.by == "signature" and caller.browser_marks and policy.signed_browsers == "headers":
            return ""
        if _wants_envelope(caller, policy):
            return None
        if dialects.is_structured(page) or (
            case.head.request.method.upper() == "HEAD" and _names_structure(page)
        ):
            return "structured"
        return "too_large" if page.truncated and not page.fault and _names_structure(page) else None

    def _floored(self, case: Case, verdict: Verdict, page: Page, body: bytes, complete: bool) -> Verdict:
        """`verdict` with the floor redacted in the kept body: stack traces, private keys, provider tokens and
        connection strings, which no app needs.
        """
        if case.plan.policy.scrub == "off" or not complete or not body or page.fault or page.kind == "binary":
            return verdict
        coding = case.head.response.fields.joined("content-encoding")
        plain = decode(body, coding, self._hold * 8)
        if plain.fault or plain.truncated:
            return verdict
        if page.hurried and len(plain.data) > QUICK_BYTES:
            raise TakesLong
        kept, counts = self._scrubber.redact_floor(plain.data)
        return answer.redacted(case, verdict, kept, counts) if counts else verdict


def _wants_envelope(caller: Caller, policy: Policy) -> bool:
    """Whether a structured body becomes the envelope for this caller. One known by `Accept: application/json` alone may
    be the site's own app, which reads its own JSON.
    """
    return (
        policy.structured_errors == "envelope"
        or caller.by == "signature"
        or (caller.named and caller.media != "application/json")
    )


def _names_structure(page: Page) -> bool:
    """Whether the site calls this content JSON or XML and it does not look like anything else."""
    named = page.media.endswith(("/json", "+json", "/xml")) or page.media.endswith("+xml")
    return named and page.kind in ("json", "xml", "empty", "text") and page.media != "application/xhtml+xml"


def _names_address(case: Case) -> bool:
    """Problem details name the address that failed (RFC 9457 3.1.5)."""
    return case.caller.media == "application/problem+json"


def _original(page: Page) -> Any:
    return page.text if page.kind == "xml" else page.json
