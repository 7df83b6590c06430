"""All evidence about one response, in the order in which it may speak (the code is chosen by compose)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from saywhy.core import dialects
from saywhy.core.compose import choose
from saywhy.core.model import Evidence, Head
from saywhy.core.normalize.record import Record

if TYPE_CHECKING:
    from saywhy.core.page import Page
    from saywhy.core.rules import Match, Rulebook


class Gathered(NamedTuple):
    """Evidence in its order, and the shadowed rules that would have matched."""

    evidence: tuple[Evidence, ...]
    shadowed: tuple[str, ...]


def gather(
    head: Head, page: Page, rulebook: Rulebook, packs: tuple[str, ...] | None, record: Record | None
) -> Gathered:
    """Contracts, vendor headers, the site's own rules, dialects, shipped packs. What comes after the first that may
    choose the code is left out, but for a dialect's message and fields.
    """
    status = head.response.status
    note = record.steps.append if record is not None else None
    said = dialects.read(head, page)
    if said is not None and said.decided_by == "contract":
        return Gathered((said,), ())
    evidence: list[Evidence] = []
    shadowed: list[str] = []

    def take(match: Match) -> None:
        shadowed.extend(match.shadowed)
        if match.evidence is not None:
            evidence.append(match.evidence)

    take(rulebook.match_head(head, packs=packs, note=note))
    if said is not None and said.decided_by == "header":
        evidence.append(said)
    if not _settled(evidence, status):
        take(rulebook.match(head, page, packs=packs, note=note, origin="site"))
    if said is not None and said not in evidence:
        evidence.append(said)
    if not _settled(evidence, status):
        take(rulebook.match(head, page, packs=packs, note=note, origin="shipped"))
    return Gathered(tuple(evidence), tuple(dict.fromkeys(shadowed)))


def _settled(evidence: list[Evidence], status: int) -> bool:
    """Whether the code is chosen already. On a success a dialect only tells, so that rules go on."""
    if status < 400:
        return any(one.on_success and one.decided_by != "dialect" for one in evidence)
    return bool(evidence) and choose(status, evidence).decider is not None
