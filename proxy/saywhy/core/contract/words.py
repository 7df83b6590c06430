"""The closed vocabularies of the two contracts, as literal types.

Retry words come from Agent errors draft 0.1; origin, action, same_arguments and side_effects from Agent error
contract v1. A reader must treat every one of them as an open set; a writer uses only what stands here.
"""

from typing import Final, Literal

Retry = Literal["fix_input", "no", "refetch", "get_grant", "pay", "ask_human", "after_delay", "once"]
Origin = Literal[
    "validation", "policy", "budget", "discovery", "tool_execution",
    "upstream_transport", "bridge", "code_mode", "runtime",
]  # fmt: skip
Action = Literal[
    "revise_and_retry", "retry_later", "reauthenticate", "confirm", "rediscover",
    "reduce_work", "start_dependency", "inspect_and_escalate", "do_not_retry",
]  # fmt: skip
SameArguments = Literal["safe", "conditional", "discouraged", "never"]
SideEffects = Literal["none_expected", "possible", "unknown"]
Source = Literal["site", "proxy"]

CONTRACT_VERSION: Final = 1

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
"""Methods that promise no effect (RFC 9110 9.2.1)."""

__all__ = [
    "CONTRACT_VERSION",
    "SAFE_METHODS",
    "Action",
    "Origin",
    "Retry",
    "SameArguments",
    "SideEffects",
    "Source",
]
