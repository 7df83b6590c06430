"""The kinds of Agent error contract v1, one row each, for reading sites and tools that already speak it.

An unknown kind reads as origin runtime, inspect_and_escalate, discouraged, unknown, 500, internal. The last rows are
this project's own additive kinds.
"""

from typing import NamedTuple

from saywhy.core.contract.words import Action, Origin, SameArguments, SideEffects


class Kind(NamedTuple):
    """One kind: its defaults, and the stable code that says the same."""

    kind: str
    origin: Origin
    action: Action
    same_arguments: SameArguments
    side_effects: SideEffects
    status: int
    code: str


_ROWS = (
    Kind("unknown_action", "discovery", "rediscover", "never", "none_expected", 400, "invalid_input"),
    Kind("unknown_subaction", "discovery", "rediscover", "never", "none_expected", 400, "invalid_input"),
    Kind("unknown_instance", "discovery", "rediscover", "never", "none_expected", 404, "not_found"),
    Kind("unknown_tool", "discovery", "rediscover", "never", "none_expected", 404, "not_found"),
    Kind("unknown_upstream", "discovery", "rediscover", "never", "none_expected", 404, "not_found"),
    Kind("not_found", "discovery", "rediscover", "never", "none_expected", 404, "not_found"),
    Kind("route_not_found", "discovery", "revise_and_retry", "never", "none_expected", 404, "not_found"),
    Kind("snippet_not_found", "discovery", "rediscover", "never", "none_expected", 404, "not_found"),
    Kind("ambiguous_tool", "discovery", "rediscover", "never", "none_expected", 409, "invalid_input"),
    Kind("invalid_cursor", "discovery", "rediscover", "never", "none_expected", 422, "invalid_input"),
    Kind("invalid_code_mode_id", "validation", "rediscover", "never", "none_expected", 422, "invalid_input"),
    Kind("missing_param", "validation", "revise_and_retry", "never", "none_expected", 422, "missing_field"),
    Kind("invalid_param", "validation", "revise_and_retry", "never", "none_expected", 422, "invalid_input"),
    Kind("validation_failed", "validation", "revise_and_retry", "never", "none_expected", 422, "invalid_input"),
    Kind("invalid_hint", "validation", "revise_and_retry", "never", "none_expected", 422, "invalid_input"),
    Kind("conflict", "validation", "revise_and_retry", "never", "none_expected", 409, "conflict"),
    Kind("path_traversal", "validation", "revise_and_retry", "never", "none_expected", 422, "invalid_input"),
    Kind("symlink_rejected", "validation", "revise_and_retry", "never", "none_expected", 422, "invalid_input"),
    Kind("ssrf_blocked", "validation", "revise_and_retry", "never", "none_expected", 422, "invalid_input"),
    Kind("content_too_large", "validation", "reduce_work", "never", "none_expected", 413, "invalid_input"),
    Kind("restart_required", "validation", "start_dependency", "conditional", "none_expected", 409, "conflict"),
    Kind("stale_suggestion", "validation", "rediscover", "never", "none_expected", 409, "conflict"),
    Kind("merge_write_conflict", "validation", "revise_and_retry", "never", "none_expected", 409, "conflict"),
    Kind("workspace_not_configured", "validation", "start_dependency", "never", "none_expected", 409, "conflict"),
    Kind("forbidden", "policy", "do_not_retry", "never", "none_expected", 403, "not_allowed"),
    Kind("permission_denied", "policy", "do_not_retry", "never", "none_expected", 403, "not_allowed"),
    Kind("route_scope_denied", "policy", "do_not_retry", "never", "none_expected", 403, "not_allowed"),
    Kind("confirmation_required", "policy", "confirm", "never", "none_expected", 422, "needs_human"),
    Kind("auth_failed", "policy", "reauthenticate", "never", "none_expected", 401, "auth_required"),
    Kind("auth_required", "policy", "reauthenticate", "never", "none_expected", 401, "auth_required"),
    Kind("oauth_needs_reauth", "policy", "reauthenticate", "never", "none_expected", 401, "auth_required"),
    Kind("oauth_state_invalid", "policy", "reauthenticate", "never", "none_expected", 400, "auth_required"),
    Kind("oauth_scope_upgrade_required", "policy", "reauthenticate", "never", "none_expected", 403, "scope_missing"),
    Kind("oauth_resource_mismatch", "policy", "inspect_and_escalate", "never", "none_expected", 502, "internal"),
    Kind("oauth_issuer_mismatch", "policy", "inspect_and_escalate", "never", "none_expected", 502, "internal"),
    Kind("oauth_unsupported_method", "policy", "inspect_and_escalate", "never", "none_expected", 502, "internal"),
    Kind("rate_limited", "budget", "retry_later", "conditional", "none_expected", 429, "rate_limited"),
    Kind("queue_saturated", "budget", "retry_later", "conditional", "none_expected", 429, "rate_limited"),
    Kind("quota_exceeded", "budget", "reduce_work", "never", "none_expected", 429, "rate_limited"),
    Kind("budget_exceeded", "budget", "reduce_work", "never", "possible", 429, "rate_limited"),
    Kind("result_too_large", "budget", "reduce_work", "never", "possible", 413, "invalid_input"),
    Kind("response_too_large", "budget", "reduce_work", "never", "possible", 413, "invalid_input"),
    Kind("artifact_too_large", "budget", "reduce_work", "never", "none_expected", 413, "invalid_input"),
    Kind("tool_error", "tool_execution", "revise_and_retry", "discouraged", "possible", 422, "internal"),
    Kind("upstream_error", "upstream_transport", "retry_later", "conditional", "possible", 502, "temporarily_unavailable"),
    Kind("network_error", "upstream_transport", "retry_later", "conditional", "possible", 502, "temporarily_unavailable"),
    Kind("bad_gateway", "upstream_transport", "retry_later", "conditional", "possible", 502, "temporarily_unavailable"),
    Kind("not_connected", "upstream_transport", "retry_later", "conditional", "possible", 502, "temporarily_unavailable"),
    Kind("connection_error", "upstream_transport", "retry_later", "conditional", "possible", 502, "temporarily_unavailable"),
    Kind("connection_refused", "upstream_transport", "retry_later", "conditional", "none_expected", 502, "temporarily_unavailable"),
    Kind("dns_error", "upstream_transport", "retry_later", "conditional", "none_expected", 502, "temporarily_unavailable"),
    Kind("protocol_error", "upstream_transport", "inspect_and_escalate", "discouraged", "possible", 502, "internal"),
    Kind("timeout", "upstream_transport", "retry_later", "conditional", "possible", 504, "temporarily_unavailable"),
    Kind("service_unavailable", "upstream_transport", "retry_later", "conditional", "possible", 503, "temporarily_unavailable"),
    Kind("bridge_transport_error", "bridge", "start_dependency", "conditional", "unknown", 502, "temporarily_unavailable"),
    Kind("internal_error", "runtime", "inspect_and_escalate", "discouraged", "unknown", 500, "internal"),
    Kind("server_error", "runtime", "inspect_and_escalate", "discouraged", "unknown", 500, "internal"),
    Kind("decode_error", "runtime", "inspect_and_escalate", "discouraged", "unknown", 500, "internal"),
    Kind("cancelled", "runtime", "do_not_retry", "never", "unknown", 500, "internal"),
    Kind("code_mode_timeout", "code_mode", "reduce_work", "discouraged", "unknown", 504, "temporarily_unavailable"),
    Kind("code_mode_fuel_exhausted", "code_mode", "reduce_work", "discouraged", "unknown", 504, "invalid_input"),
    Kind("out_of_stock", "validation", "revise_and_retry", "never", "none_expected", 409, "out_of_stock"),
    Kind("payment_required", "policy", "confirm", "never", "none_expected", 402, "payment_required"),
    Kind("payment_declined", "policy", "confirm", "never", "possible", 402, "payment_declined"),
    Kind("needs_human", "policy", "inspect_and_escalate", "never", "none_expected", 403, "needs_human"),
)  # fmt: skip

KINDS: dict[str, Kind] = {row.kind: row for row in _ROWS}
"""Kind word -> row."""

ERROR_LEVEL_KINDS = frozenset({"internal_error", "server_error", "decode_error"})
"""Kinds that are logged at ERROR; every other kind is a WARNING (Agent error contract v1)."""


def look_up(kind: str) -> Kind:
    """The row of a known kind, or the defaults for an unknown one."""
    return KINDS.get(kind) or Kind(
        kind, "runtime", "inspect_and_escalate", "discouraged", "unknown", 500, "internal"
    )
