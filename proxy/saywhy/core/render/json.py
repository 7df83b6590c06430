"""application/json: the envelope as it is."""

from __future__ import annotations

import json

from saywhy.core.contract.envelope import Envelope

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))

CONTENT_TYPE = "application/json"  # RFC 8259 11: always UTF-8, no charset parameter


def render(envelope: Envelope, status: int, public_url: str) -> bytes:
    """`{"error": {...}}` in UTF-8."""
    return _ENCODER.encode(envelope.as_dict()).encode("utf-8", "replace")
