"""Rules that can never win: at none of their statuses may they speak, or a rule above them in the pack holds wherever
they hold.

Sound and not complete: what it names is never reached; that two expressions mean the same it does not see.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from saywhy.core.contract.statuses import code_for_status
from saywhy.core.rules.compiled import asks_header
from saywhy.core.rules.shape import Rule, When
from saywhy.edge.packs import LoadedPack
from saywhy.edge.rulefaults import RuleError, row

_ANY_OF = frozenset({"status", "method", "host", "path", "media", "script"})
"""Conditions that hold where one of their values does: fewer values hold less often."""
_ALL_OF = frozenset({"json_", "all"})
"""Conditions that hold where all of their members do: fewer members hold more often."""


def eclipsed(packs: Iterable[LoadedPack]) -> Iterator[RuleError]:
    """A row for each rule that can never win."""
    for loaded in packs:
        rules = loaded.pack.rules
        for place, rule in enumerate(rules):
            if mute := _mute(rule):
                yield row(loaded.document, ("rules", place), *mute)
                continue
            above = next((one for one in rules[:place] if _forestalls(one, rule)), None)
            if above is not None:
                yield row(
                    loaded.document, ("rules", place), f"can never win: {above.id} above it holds wherever it holds",
                    f"move it above {above.id}, or narrow that",
                )  # fmt: skip


_ALL_STATUSES = frozenset(range(100, 1000))


def _statuses(when: When) -> frozenset[int]:
    """The statuses at which the group may hold, as far as conditions on the status say."""
    found = _ALL_STATUSES
    if when.status is not None:
        found = frozenset(
            status for span in when.status for status in range(max(span.low, 100), min(span.high, 999) + 1)
        )
    for group in when.all or ():
        found &= _statuses(group)
    if when.any:
        found &= frozenset().union(*(_statuses(group) for group in when.any))
    return found


def _mute(rule: Rule) -> tuple[str, str] | None:
    """What is wrong and what to write, for a rule that may speak at none of its statuses (the promises about successes
    and server failures).
    """
    statuses = _statuses(rule.when)
    successes = frozenset(status for status in statuses if status < 400)
    failures = frozenset(status for status in statuses if 500 <= status <= 599)
    if not statuses or statuses - successes - failures:
        return None
    if failures and (
        rule.outranks_failure or any(rule.then.code == code_for_status(status) for status in failures)
    ):
        return None
    if successes and rule.on_success:
        return None
    if successes:
        return (
            f"needs on_success: it asks for {_shown(statuses)}, and a success is looked at only by rules that have it",
            "add on_success: rewrite (or annotate), or ask for a status from 400 up",
        )
    usual = " or ".join(sorted({code_for_status(status) for status in failures}))
    return (
        f"can never win: a page's text never overrules a 5xx, and {rule.then.code} is not what {_shown(failures)} means",
        f"give it the code {usual}, or rest it on an exact vendor header with outranks_failure: true",
    )


def _shown(statuses: frozenset[int]) -> str:
    return str(min(statuses)) if len(statuses) == 1 else f"{min(statuses)} to {max(statuses)}"


def _forestalls(above: Rule, below: Rule) -> bool:
    if above.mode == "shadow" or above.on_success != below.on_success:
        return False
    # Past 500 only some rules speak, and rules on header fields alone are tried first, wherever they stand.
    if below.outranks_failure and not above.outranks_failure:
        return False
    if above.then.code != below.then.code and any(span.high >= 500 for span in below.when.status or ()):
        return False
    return asks_header(above.when) == asks_header(below.when) and _holds_wherever(above.when, below.when)


def _holds_wherever(wide: When, narrow: When) -> bool:
    """Whether each condition of `wide` is in `narrow` too, as narrow or narrower."""
    for key in wide.model_fields_set:
        mine, theirs = getattr(wide, key), getattr(narrow, key)
        if mine is None or mine == theirs:
            continue
        if theirs is None:
            return False
        if key in _ANY_OF and set(theirs) <= set(mine):
            continue
        if key in _ALL_OF and all(one in theirs for one in mine):
            continue
        if key == "header" and all(theirs.get(name) == test for name, test in mine.items()):
            continue
        return False
    return True
