"""The stable codes, one row each: what a code means for the agent that receives it.

Adding a code: one row here, one line in the CHANGELOG under "Contract"; the table tests, the schema test and the
page under /.well-known/agent-errors follow from the row.
"""

from typing import NamedTuple

from saywhy.core.contract.words import Action, Origin, Retry, SameArguments, SideEffects


class Code(NamedTuple):
    """One stable code.

    `status` is what the proxy sends when the failure is its own or when a success status must change; a site's own
    error status is kept. `same_safe` and `same_unsafe` are `recovery.same_arguments` for safe methods (RFC 9110
    9.2.1) and for the others; `effects_unsafe` is `side_effects` for unsafe methods (safe ones: none_expected).
    Sources: retry and advice from Agent errors draft 0.1; kind, origin and action from Agent error contract v1.
    """

    code: str
    retry: Retry
    status: int
    kind: str
    origin: Origin
    action: Action
    same_safe: SameArguments
    same_unsafe: SameArguments
    effects_unsafe: SideEffects
    advice: str


_ROWS = (
    Code("invalid_input", "fix_input", 400, "invalid_param", "validation", "revise_and_retry", "never", "never", "none_expected", "Fix the named field and retry."),
    Code("missing_field", "fix_input", 400, "missing_param", "validation", "revise_and_retry", "never", "never", "none_expected", "Supply the named field and retry."),
    Code("not_found", "no", 404, "not_found", "discovery", "rediscover", "never", "never", "none_expected", "Stop; the thing doesn't exist."),
    Code("not_allowed", "no", 403, "forbidden", "policy", "do_not_retry", "never", "never", "none_expected", "Stop; the site doesn't allow this use here."),
    Code("conflict", "refetch", 409, "conflict", "validation", "revise_and_retry", "never", "never", "none_expected", "Re-read the current state, then retry."),
    Code("out_of_stock", "no", 409, "out_of_stock", "validation", "revise_and_retry", "never", "never", "none_expected", "Stop or choose another item."),
    Code("auth_required", "get_grant", 401, "auth_required", "policy", "reauthenticate", "never", "never", "none_expected", "Get a grant for this site."),
    Code("scope_missing", "get_grant", 403, "forbidden", "policy", "reauthenticate", "never", "never", "none_expected", "Ask the person for a grant with the named scope."),
    Code("payment_required", "pay", 402, "payment_required", "policy", "confirm", "never", "never", "none_expected", "Pay the advertised price."),
    Code("payment_declined", "ask_human", 402, "payment_declined", "policy", "confirm", "never", "never", "possible", "Ask the person."),
    Code("rate_limited", "after_delay", 429, "rate_limited", "budget", "retry_later", "conditional", "conditional", "none_expected", "Wait retry_after seconds."),
    Code("temporarily_unavailable", "after_delay", 503, "service_unavailable", "upstream_transport", "retry_later", "conditional", "conditional", "possible", "Wait and retry."),
    Code("needs_human", "ask_human", 403, "needs_human", "policy", "inspect_and_escalate", "never", "never", "none_expected", "Hand the step to the person."),
    Code("internal", "once", 500, "server_error", "tool_execution", "inspect_and_escalate", "conditional", "discouraged", "possible", "Retry once."),
)  # fmt: skip

CODES: dict[str, Code] = {row.code: row for row in _ROWS}
"""Code word -> row."""

DEFAULT_WAIT = {"rate_limited": 30, "temporarily_unavailable": 60}
"""Seconds to wait where neither the site nor a rule says: the codes that always carry Retry-After."""


def site_code(code: str) -> Code:
    """The row for a site's own code: advised `once`, and nothing claimed about it (Agent errors draft 0.1)."""
    return CODES["internal"]._replace(code=code, kind=code, origin="runtime")


def look_up(code: str) -> Code:
    """The row of a known code, or `site_code` for any other word."""
    return CODES.get(code) or site_code(code)
