"""What an agent may do about an error: retry, side effects, and whether the same request may be sent again.

What only a proxy knows decides here: the method, an Idempotency-Key, and where the exchange failed. No advice invites
a doubled POST.
"""

from __future__ import annotations

from typing import NamedTuple

from saywhy.core.contract.codes import Code
from saywhy.core.contract.words import SAFE_METHODS
from saywhy.core.failures import Failure
from saywhy.core.model import Evidence

_NOT_ACTED_ON = frozenset({425, 429})  # RFC 8470 5.2 and RFC 6585 4: refused before anything was done

NEVER_MENDED = frozenset({501, 505, 508})
"""Server failures that stay what they are: not implemented, no such version, a loop (RFC 9110 15.6.2, RFC 5842 7.2)."""

_REPEATS = frozenset({"once", "after_delay"})
"""The retry words that send the same request again."""


ACTIONS = {
    "fix_input": "revise_and_retry", "no": "do_not_retry", "refetch": "revise_and_retry", "get_grant": "reauthenticate",
    "pay": "confirm", "ask_human": "inspect_and_escalate", "after_delay": "retry_later", "once": "inspect_and_escalate",
}  # fmt: skip
"""Retry word (Agent errors draft 0.1) -> recovery.action (Agent error contract v1), where no code's row says it."""


class Advice(NamedTuple):
    """Words of the contracts (a contract body may bring its own), and whether a repetition may act twice."""

    retry: str
    same_arguments: str
    side_effects: str
    doubtful: bool


def advise(
    row: Code,
    *,
    method: str,
    keyed: bool,
    status: int,
    waits: bool,
    failure: Failure | None,
    given: Evidence | None,
) -> Advice:
    """Advice about one exchange. `keyed`: an Idempotency-Key was sent; `waits`: the site itself named a wait;
    `given`: the evidence that decided, whose own words go first where it is a contract.
    """
    safe = method in SAFE_METHODS
    effects = _effects(row, safe=safe, status=status, waits=waits, failure=failure)
    same: str = row.same_safe if safe else row.same_unsafe
    retry: str = row.retry
    own_same = None
    if row.code == "internal" and status in NEVER_MENDED:
        same = "discouraged"
    if given is not None:
        retry = given.retry or retry
        effects = given.side_effects or effects
        own_same = _word(given, "same_arguments")
        if retry != row.retry and retry in ACTIONS and retry not in _REPEATS:
            same = "never"  # the contract advises otherwise than its code, and not to repeat
        same = own_same or same
    if failure is not None and failure.effects_unsafe == "none_expected" and row.retry == "after_delay":
        same = "safe"  # the request never left, so that sending it now is the first time
    if safe or effects == "none_expected" or own_same == "safe":
        return Advice(retry, same, effects, False)
    if keyed:
        return Advice(retry, "conditional" if same == "discouraged" else same, effects, False)
    repeats = retry in _REPEATS
    if repeats or same in ("safe", "conditional"):
        same = "discouraged"
    return Advice("refetch" if repeats else retry, same, effects, repeats)


def _effects(row: Code, *, safe: bool, status: int, waits: bool, failure: Failure | None) -> str:
    if safe:
        return "none_expected"
    if failure is not None:
        return failure.effects_unsafe
    if status in _NOT_ACTED_ON or (status == 503 and waits):
        return "none_expected"
    return row.effects_unsafe


def _word(given: Evidence, name: str) -> str | None:
    value = (given.recovery or {}).get(name)
    return value if isinstance(value, str) and value else None
