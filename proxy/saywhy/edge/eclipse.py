"""Rules that can never win, since a rule above them in the pack holds wherever they hold.

Sound and not complete: what it names is never reached; that two expressions mean the same it does not see.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from saywhy.core.rules.rulebook import asks_header
from saywhy.core.rules.shape import Rule, When
from saywhy.edge.packs import LoadedPack
from saywhy.edge.rulefaults import RuleError, row

_ANY_OF = frozenset({"status", "method", "host", "path", "media", "script"})
"""Conditions that hold where one of their values does: fewer values hold less often."""
_ALL_OF = frozenset({"json_", "all"})
"""Conditions that hold where all of their members do: fewer members hold more often."""


def eclipsed(packs: Iterable[LoadedPack]) -> Iterator[RuleError]:
    """A row for each rule that a rule above it always forestalls."""
    for loaded in packs:
        rules = loaded.pack.rules
        for place, rule in enumerate(rules):
            above = next((one for one in rules[:place] if _forestalls(one, rule)), None)
            if above is not None:
                yield row(
                    loaded.document, ("rules", place), f"can never win: {above.id} above it holds wherever it holds",
                    f"move it above {above.id}, or narrow that",
                )  # fmt: skip


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
