"""The settings reference, generated: one row a key. The README and `saywhy schema settings` show the same rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from saywhy.edge.settings.listening import Tls
from saywhy.edge.settings.model import Section
from saywhy.edge.settings.sections import (
    Deadlines,
    Forwarding,
    Limits,
    Log,
    Route,
    Rules,
    Settings,
)
from saywhy.edge.settings.upstreams import Upstream

_SECTIONS: dict[str, tuple[str, type[Section]]] = {
    "tls": ("tls", Tls),
    "upstreams": ("upstreams.<name>", Upstream),
    "routes": ("routes[]", Route),
    "rules": ("rules", Rules),
    "limits": ("limits", Limits),
    "deadlines": ("deadlines", Deadlines),
    "forwarding": ("forwarding", Forwarding),
    "log": ("log", Log),
}
_UNITS = {"bytes": "bytes", "budget": "bytes", "seconds": "s", "connections": "connections", "count": "fields",
          "waiting": "exchanges", "requests": "requests", "failures": "failures", "workers": "processes",
          "version": "TLS"}  # fmt: skip


class Row(NamedTuple):
    """One setting; all members as text for people."""

    name: str
    unit: str
    default: str
    why: str


def _default(field: FieldInfo) -> str:
    value: Any = field.get_default(call_default_factory=True, validated_data={})
    if value is PydanticUndefined:
        return "(required)"
    if value is None or value in ("", (), {}):
        return "none" if value != "" else "empty"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ", ".join(str(one) for one in value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def rows() -> Iterator[Row]:
    """Every setting, sections in the order of the file."""
    for name, field in Settings.model_fields.items():
        if name not in _SECTIONS:
            yield Row(name, _UNITS.get(name, ""), _default(field), field.description or "")
    for prefix, section in _SECTIONS.values():
        for key, field in section.model_fields.items():
            yield Row(
                f"{prefix}.{key}",
                _UNITS.get(key.rpartition("_")[2], ""),
                _default(field),
                field.description or "",
            )


def markdown() -> str:
    """The rows as a Markdown table."""
    lines = ["| setting | unit | default | why |", "|---|---|---|---|"]
    for row in rows():
        why = row.why.replace("|", "\\|")
        lines.append(f"| `{row.name}` | {row.unit} | {row.default} | {why} |")
    return "\n".join(lines) + "\n"


def json_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of the settings file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Settings.model_json_schema(mode="validation"),
        "title": "saywhy settings",
    }
