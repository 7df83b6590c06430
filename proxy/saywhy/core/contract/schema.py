"""The JSON Schema (2020-12) of the envelope as it is sent, for everybody who reads it.

Made from the model, then opened for readers: further members and further words are allowed (both contracts are
additive), what always stands is required, and what is optional is absent rather than null.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from saywhy.core.contract.envelope import Envelope, Error

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_ALWAYS = (
    "code", "message", "field", "retry", "retry_after", "contract_version", "kind", "origin", "recovery",
    "side_effects", "source",
)  # fmt: skip


@cache
def _schema() -> dict[str, Any]:
    schema = Envelope.model_json_schema(mode="validation")
    parts = schema.pop("$defs")
    for name, part in parts.items():
        parts[name] = _opened(part, Error.nullable() if name == "Error" else frozenset())
    parts["Error"]["required"] = list(_ALWAYS)
    for name in (
        "source",
        "retry_after_source",
    ):  # closed for the writer, open for readers like every vocabulary
        words = parts["Error"]["properties"][name]
        parts["Error"]["properties"][name] = {"anyOf": [words, {"type": "string"}]}
    return {
        "$schema": DIALECT,
        "title": "AgentErrorResponse",
        **{key: value for key, value in _opened(schema, frozenset()).items() if key != "title"},
        "$defs": parts,
    }


def json_schema() -> dict[str, Any]:
    """The JSON Schema of `{"error": {...}}`; a copy that the caller may change."""
    copy: dict[str, Any] = _copied(_schema())
    return copy


def _opened(part: dict[str, Any], nullable: frozenset[str]) -> dict[str, Any]:
    """One object's schema without `additionalProperties: false`, and null only where null is written."""
    opened = {key: value for key, value in part.items() if key != "additionalProperties"}
    opened["properties"] = {
        name: value if name in nullable else _without_null(value)
        for name, value in part["properties"].items()
    }
    return opened


def _without_null(value: dict[str, Any]) -> dict[str, Any]:
    kinds = [kind for kind in value.get("anyOf", ()) if kind != {"type": "null"}]
    rest = {key: item for key, item in value.items() if key not in ("anyOf", "default") or item is not None}
    if not kinds:
        return rest
    rest.pop("anyOf", None)
    return {**rest, **kinds[0]} if len(kinds) == 1 else {**rest, "anyOf": kinds}


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value
