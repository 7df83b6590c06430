"""application/problem+json: RFC 9457 problem details, with the whole envelope as the extension member `error`."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from saywhy.core.contract.codes import CODES
from saywhy.core.contract.envelope import Envelope

CONTENT_TYPE = "application/problem+json"
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_PAGES = "/.well-known/agent-errors/codes/"
_REPEATS = ("after_delay", "once")


def render(envelope: Envelope, status: int, public_url: str) -> bytes:
    """The problem details of `envelope` in UTF-8. `type` is unique per code and resolves to that code's page."""
    document = envelope.as_dict()
    error = document["error"]
    code = error["code"]
    problem: dict[str, Any] = {
        "type": f"{public_url.rstrip('/')}{_PAGES}{quote(code, safe='')}",
        "title": title(code),
        "status": status,
        "detail": error["message"],
    }
    if "instance" in error:
        problem["instance"] = error.pop("instance")
    problem["retryable"] = error["retry"] in _REPEATS
    if error["retry_after"] is not None:
        problem["retry_after"] = error["retry_after"]
    problem["error"] = error
    return _ENCODER.encode(problem).encode("utf-8", "replace")


def title(code: str) -> str:
    """A short summary of the type, the same for every occurrence (RFC 9457 3.1.3)."""
    return code.replace("_", " ").capitalize() if code in CODES else code
