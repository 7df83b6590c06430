"""A body that already speaks one of the two contracts, nested under `error` or flat.

It is one only with `contract_version`, or with a known code and a known retry word; `{code, message}` alone is
somebody's own dialect (Agent errors draft 0.1; Agent error contract v1).
"""

from __future__ import annotations

from typing import Any, get_args

from saywhy.core.contract import kinds
from saywhy.core.contract.codes import CODES
from saywhy.core.contract.words import Retry
from saywhy.core.dialects.members import items, mapping, seconds, text, texts, top
from saywhy.core.model import Evidence, FieldError, Head
from saywhy.core.page import Page

_RETRY_WORDS = frozenset(get_args(Retry))


def read(head: Head, page: Page) -> Evidence | None:
    """What the contract says, whole; it may overrule a 5xx, for nobody knows better."""
    body = top(page)
    error = mapping(body, "error") or body
    if not _is_contract(error):
        return None
    kind = text(error, "kind")
    code = text(error, "code") or (kinds.look_up(kind).code if kind else None)
    recovery = mapping(error, "recovery")
    milliseconds = seconds(recovery.get("retry_after_ms"))
    return Evidence(
        decided_by="contract",
        rule="dialect/contract",
        signals=("the body speaks the contract",),
        code=code,
        message=text(error, "message"),
        field=text(error, "field"),
        retry=text(error, "retry"),
        retry_after=seconds(error.get("retry_after")) or (-(-milliseconds // 1000) if milliseconds else None),
        errors=tuple(_errors(error)),
        required_scopes=tuple(texts(error.get("required_scopes"))),
        documentation_url=text(error, "documentation_url"),
        continue_url=text(error, "continue_url"),
        payment=mapping(error, "payment") or None,
        alternatives=tuple(one for one in items(error.get("alternatives")) if isinstance(one, dict)),
        valid=tuple(texts(error.get("valid"))),
        hint=text(error, "hint"),
        kind=kind,
        origin=text(error, "origin"),
        recovery=recovery or None,
        side_effects=text(error, "side_effects"),
        outranks_failure=True,
        on_success="annotate",
    )


def _is_contract(error: dict[str, Any]) -> bool:
    version = error.get("contract_version")
    if isinstance(version, int) and not isinstance(version, bool):
        return text(error, "code", "kind") is not None
    return error.get("retry") in _RETRY_WORDS and error.get("code") in CODES if _hashable(error) else False


def _hashable(error: dict[str, Any]) -> bool:
    return isinstance(error.get("retry"), str) and isinstance(error.get("code"), str)


def _errors(error: dict[str, Any]) -> list[FieldError]:
    found = []
    for one in items(error.get("errors")):
        message = text(one, "message")
        if message:
            found.append(
                FieldError(text(one, "field"), message, (text(one, "pointer") or "").lstrip("#") or None)
            )
    return found
