"""Which evidence decides the code. The list comes in the order of evidence; the first that may speak wins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from saywhy.core.contract import kinds
from saywhy.core.contract.statuses import code_for_status
from saywhy.core.model import DecidedBy, Evidence


class Choice(NamedTuple):
    """The code (raw: a site's own word is possible) and what chose it."""

    code: str
    decider: Evidence | None
    decided_by: DecidedBy


def choose(status: int, evidence: Sequence[Evidence]) -> Choice:
    """The code of an answer with `status`.

    A server failure stays a server failure, whatever its page or its JSON says; only the two contracts, exact vendor
    headers and SOAP faults that name the sender say otherwise (`outranks_failure`). Evidence that agrees overrules
    nothing, and is taken for what else it knows.
    """
    usual = code_for_status(status)
    for one in evidence:
        code = _code(one)
        if code and (not 500 <= status <= 599 or one.outranks_failure or code == usual):
            return Choice(code, one, one.decided_by)
    return Choice(usual, None, "status")


def _code(evidence: Evidence) -> str | None:
    if evidence.code:
        return evidence.code
    # A body in the Agent error contract may name its kind alone.
    return kinds.look_up(evidence.kind).code if evidence.kind and evidence.decided_by == "contract" else None
