"""A claim to be an agent by HTTP Message Signatures (RFC 9421) with the Web Bot Auth tag.

Only the shape is read here: a `Signature-Input` member with `tag="web-bot-auth"` and its `Signature` member. A claim
is enough for the format of an error, and for nothing else.
"""

from __future__ import annotations

import http_sf

from saywhy.core.model import Fields

TAG = "web-bot-auth"
_MAX_FIELD = 8192  # a real one is below 500 bytes; structured fields are parsed byte by byte in Python
_MAX_CANDIDATES = 4
_MAX_COMPONENTS = 32


def claims(fields: Fields) -> bool:
    """Whether a well-formed signature claims an agent."""
    given = fields.joined("signature-input")
    if given is None or TAG not in given:
        return False
    signatures = _dictionary(fields.joined("signature"))
    inputs = _dictionary(given)
    candidates = [(label, member) for label, member in inputs.items() if _is_tagged(member)]
    return any(
        _is_input(member) and _is_signature(signatures.get(label))
        for label, member in candidates[:_MAX_CANDIDATES]
    )


def _dictionary(value: str | None) -> dict[str, object]:
    if not value or len(value) > _MAX_FIELD:
        return {}
    try:
        # latin-1 gives back the bytes that came; any above 127 is a parse error, as RFC 9651 asks.
        parsed = http_sf.parse(value.encode("latin-1"), tltype="dictionary")
    except (http_sf.StructuredFieldError, ValueError, IndexError, OverflowError):
        return {}
    return dict(parsed) if isinstance(parsed, dict) else {}


def _is_tagged(member: object) -> bool:
    return isinstance(member, tuple) and isinstance(member[1], dict) and member[1].get("tag") == TAG


def _is_input(member: object) -> bool:
    """An inner list of component names, each a string item (RFC 9421 4.1)."""
    if not isinstance(member, tuple) or not isinstance(member[0], list) or len(member[0]) > _MAX_COMPONENTS:
        return False
    names = [item[0] if isinstance(item, tuple) else item for item in member[0]]
    return type(member[1]["tag"]) is str and all(type(name) is str for name in names)


def _is_signature(member: object) -> bool:
    value = member[0] if isinstance(member, tuple) else member
    return isinstance(value, bytes) and bool(value)
