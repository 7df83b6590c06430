"""All rules in their order; the first that matches wins."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from saywhy.core.contract.statuses import code_for_status
from saywhy.core.model import Evidence, Head
from saywhy.core.page import Page, PageLimits
from saywhy.core.page.kind import media_of
from saywhy.core.rules.compiled import CompiledRule, Origin, RuleInfo, base_of
from saywhy.core.rules.exam import Exam, OutOfWork, PastBound, Work
from saywhy.core.rules.headtests import sees_success
from saywhy.core.rules.prefilter import NOTHING_SEEN, Prefilter


class Step(NamedTuple):
    """One rule that was tried, for `explain`. `outcome`: matched, shadowed, stopped or skipped; `condition`: in words."""

    rule: str
    outcome: str
    condition: str


class Match(NamedTuple):
    """What the rules say. `shadowed` are the rules in shadow mode that would have matched before it; `exhausted`: a
    bound on work was met, and something stayed undecided.
    """

    evidence: Evidence | None = None
    shadowed: tuple[str, ...] = ()
    exhausted: bool = False


_NO_MATCH = Match()


Note = Callable[[Step], None] | None

_MOST_KINDS = 512
"""Kinds of response (status, method, media type, packs) whose candidates are remembered: a site has a dozen."""
_SHORT_ORDER = 64  # rules; longer orders are asked for once for each kind of response


def _bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


class Rulebook:
    """An immutable set of rules. Safe for several threads; one match costs what its candidates cost."""

    def __init__(
        self,
        rules: Sequence[CompiledRule] = (),
        *,
        packs: tuple[str, ...] | None = None,
        work: Work | None = None,
    ) -> None:
        self._rules = tuple(rule._replace(bit=1 << place) for place, rule in enumerate(rules))
        self._work = work or Work()
        self._prefilter = Prefilter(
            (rule.condition.literals for rule in self._rules),
            (rule.condition.door for rule in self._rules),
        )
        self._by_pack: dict[str, int] = {}
        for rule in self._rules:
            self._by_pack[rule.info.pack] = self._by_pack.get(rule.info.pack, 0) | rule.bit
        self._vendor = sum(rule.bit for rule in self._rules if rule.vendor)
        self._successes = sum(rule.bit for rule in self._rules if rule.info.on_success)
        self._by_origin = {
            origin: sum(rule.bit for rule in self._rules if rule.info.origin == origin)
            for origin in ("site", "shipped")
        }
        opted_in = {rule.info.pack for rule in self._rules if rule.info.opt_in}
        self._default = (
            packs if packs is not None else tuple(pack for pack in self._by_pack if pack not in opted_in)
        )
        self.rules: tuple[RuleInfo, ...] = tuple(rule.info for rule in self._rules)
        self.has_success_rules: bool = bool(self._successes)
        self._by_status: dict[int, int] = {}
        self._orders: dict[tuple[int, tuple[str, ...] | None], tuple[CompiledRule, ...]] = {}
        self._candidates: dict[tuple[int, str, str, tuple[str, ...] | None], tuple[CompiledRule, ...]] = {}
        self._worth: dict[tuple[int, str, str, str, tuple[str, ...] | None], int] = {}

    @property
    def packs(self) -> tuple[str, ...]:
        """The packs that are loaded, in their order, those that must be named included."""
        return tuple(self._by_pack)

    def _speaking(self, status: int) -> int:
        """The rules that may speak at this status (the promises about successes and server failures)."""
        known = self._by_status.get(status)
        if known is not None:
            return known
        if status < 400:
            mask = self._successes
        elif 500 <= status <= 599:
            # A page never overrules a server failure; a rule that agrees with the status overrules nothing, and may
            # still name the message or the wait (a maintenance page sent with 503).
            usual = code_for_status(status)
            mask = sum(
                rule.bit for rule in self._rules if rule.info.outranks_failure or rule.info.code == usual
            )
        else:
            mask = (1 << len(self._rules)) - 1
        if len(self._by_status) < 1000:
            self._by_status[status] = mask
        return mask

    def _ordered(self, mask: int, packs: tuple[str, ...] | None) -> tuple[CompiledRule, ...]:
        """The rules in `mask`, in the order of the packs. Remembered: a site's answers open the same doors again and again."""
        order = self._orders.get((mask, packs))
        if order is None:
            order = tuple(
                self._rules[place]
                for pack in (self._default if packs is None else packs)
                for place in _bits(mask & self._by_pack.get(pack, 0))
            )
            if len(order) <= _SHORT_ORDER and len(self._orders) < _MOST_KINDS:
                self._orders[mask, packs] = order
        return order

    def match_head(self, head: Head, *, packs: tuple[str, ...] | None = None, note: Note = None) -> Match:
        """Rules that heads alone decide by at least one field of the response: exact vendor signals, of every origin."""
        mask = self._vendor & self._speaking(head.response.status)
        if note is None:
            mask &= self._prefilter.fields(head) | self._prefilter.open
            if not mask:
                return _NO_MATCH
        shadowed: list[str] = []
        for rule in self._ordered(mask, packs):
            if rule.condition.on_head(head) is not True:
                if note:
                    exam = Exam(head, _NO_PAGE, NOTHING_SEEN, self._work)
                    note(Step(rule.info.name, "stopped", rule.condition.why(exam)))
                continue
            if self._won(rule, shadowed, note):
                return Match(
                    rule.saying.evidence(_head_exam(head, self._work), base_of(rule)), tuple(shadowed)
                )
        return Match(None, tuple(shadowed))

    def match(
        self,
        head: Head,
        page: Page,
        *,
        packs: tuple[str, ...] | None = None,
        origin: Origin | None = None,
        note: Note = None,
    ) -> Match:
        """The rules on the page. With an `origin` only its rules, and without those that `match_head` tries; without one,
        every rule there is.
        """
        if origin is not None and not self._by_origin[origin]:
            return _NO_MATCH
        worth = (
            self._worth_a_look(head, page, packs) if note is None else self._speaking(head.response.status)
        )
        mask = worth if origin is None else worth & self._by_origin[origin] & ~self._vendor
        if not mask:
            return _NO_MATCH
        seen = self._prefilter.look(page, worth)
        if note is None:
            mask &= self._prefilter.open | self._prefilter.fields(head) | self._prefilter.opened(seen)
            if not mask:
                return _NO_MATCH
        exam = Exam(head, page, seen, self._work)
        shadowed: list[str] = []
        for rule in self._ordered(mask, packs):
            try:
                holds = rule.condition.holds(exam)
            except PastBound as bound:
                exam.exhausted = True
                if note:
                    note(Step(rule.info.name, "stopped", f"undecided: {bound}"))
                if isinstance(bound, OutOfWork):
                    break  # a later rule must not speak where an earlier one might have
                continue
            if not holds:
                if note:
                    note(Step(rule.info.name, "stopped", _why(rule, exam)))
            elif self._won(rule, shadowed, note):
                return Match(rule.saying.evidence(exam, base_of(rule)), tuple(shadowed), exam.exhausted)
        return Match(None, tuple(shadowed), exam.exhausted)

    def _worth_a_look(self, head: Head, page: Page, packs: tuple[str, ...] | None) -> int:
        """The rules that status, method, kind of content and packs leave: remembered, so that ruling out a thousand
        rules costs one look-up, and what only they would look for is not looked for.
        """
        status, method = head.response.status, head.request.method
        kind = (status, method, page.kind, page.media, packs)
        mask = self._worth.get(kind)
        if mask is None:
            exam = Exam(head, page, NOTHING_SEEN, self._work)
            rules = self._ordered(self._speaking(status), packs)
            mask = 0
            for rule in rules:
                if all(test.holds(exam) for test in rule.early):
                    mask |= rule.bit
            if len(self._worth) < _MOST_KINDS:
                self._worth[kind] = mask
        return mask

    def _won(self, rule: CompiledRule, shadowed: list[str], note: Note) -> bool:
        shadow = rule.info.mode == "shadow"
        if note:
            note(
                Step(
                    rule.info.name,
                    "shadowed" if shadow else "matched",
                    ", ".join(rule.signals) or "its conditions hold",
                )
            )
        if shadow:
            shadowed.append(rule.info.name)
        return not shadow

    def wants_success(self, head: Head, packs: tuple[str, ...] | None = None) -> bool:
        """Whether some rule that looks at successes survives the heads: the page has to be seen. HTML and JSON are worth
        that. Anything else (a download, a feed, what has no type) is let through unless the heads alone decide for a
        rule, or a rule names that kind and what came may be as small as it says.
        """
        if not self._successes:
            return False
        media = media_of(head.response.fields.get("content-type") or "")
        kind = (head.response.status, head.request.method, media, packs)
        candidates = self._candidates.get(kind)
        if candidates is None:
            candidates = tuple(
                rule
                for rule in self._ordered(self._successes, packs)
                if all(test.on_head(head) is not False for test in rule.early)
                and (rule.condition.may_settle or sees_success(rule.media, media))
            )
            if len(self._candidates) < _MOST_KINDS:
                self._candidates[kind] = candidates
        fields = head.response.fields
        for rule in candidates:
            if rule.fields and not any(name in fields for name in rule.fields):
                continue
            holds = rule.condition.on_head(head)
            if holds or (holds is None and sees_success(rule.media, media)):
                return True
        return False


def _why(rule: CompiledRule, exam: Exam) -> str:
    try:
        return rule.condition.why(exam)
    except PastBound as bound:
        return f"undecided: {bound}"


_NO_PAGE = Page("empty", "", "", size=0, truncated=False, fault="", limits=PageLimits())


def _head_exam(head: Head, work: Work) -> Exam:
    return Exam(head, _NO_PAGE, NOTHING_SEEN, work)
