"""The members of a saved response, each checked as it is taken: what is wrong with one is told in a sentence."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


class NotARecord(ValueError):
    """A record lacks something; the message is a sentence."""


def status_of(value: Any) -> int:
    """`value`, which must be a status."""
    if isinstance(value, bool) or not isinstance(value, int) or not 100 <= value <= 999:
        raise NotARecord(f"status must be a number of three digits, not {shown(value)}.")
    return value


def shown(value: Any) -> str:
    """`value` as JSON, cut to what a sentence has room for."""
    written = json.dumps(value)
    return written if len(written) <= 40 else f"{written[:37]}..."


def whole(text: str, name: str) -> str:
    """`text`, which must be sendable: JSON can write half of a character, and nothing else can."""
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise NotARecord(f"{name} holds half a character (a lone surrogate, {shown(text)}); write it whole.")
    return text


def text_of(record: Mapping[str, Any], name: str) -> str:
    """The member `name` as text, "" where it is absent; a number will do."""
    value = record.get(name)
    if value is None:
        return ""
    if isinstance(value, dict | list):
        raise NotARecord(f"{name} must be a text, not {shown(value)}.")
    return whole(str(value), name)


def pairs_of(headers: Any) -> list[tuple[str, str]]:
    """The header lines of an object of names, in order."""
    if not isinstance(headers, dict):
        raise NotARecord("headers must be an object of name to value, or name to a list of values.")
    pairs = []
    for name, values in headers.items():
        for value in values if isinstance(values, list) else [values]:
            if isinstance(value, dict | list):
                raise NotARecord(f"the header {shown(name)} must be a text or a list of texts.")
            pairs.append((whole(name, "a header's name"), whole(str(value), f"the header {shown(name)}")))
    return pairs


def object_of(parent: Any, name: str, *, optional: bool = False) -> dict[str, Any]:
    """The member `name` of `parent`, which must be an object."""
    value = parent.get(name) if isinstance(parent, dict) else None
    if value is None and optional:
        return {}
    if not isinstance(value, dict):
        raise NotARecord(f"{name} must be an object.")
    return value
