"""text/markdown: YAML front matter for a program, then what happened and what to do for a reader.

The front matter holds no text of a site: words of the contracts and numbers, each scalar JSON-quoted, which YAML 1.2
reads alike. Below it every sign that Markdown could read as markup is escaped.
"""

from __future__ import annotations

import json
import re

from saywhy.core.contract.codes import CODES
from saywhy.core.contract.envelope import Envelope, Error

CONTENT_TYPE = "text/markdown; charset=utf-8"  # RFC 7763 2: charset is required

_MARKUP = re.compile(
    r"([\\`*\[\]<>|~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|!(?=\[)|&(?=#?[A-Za-z0-9]{1,32};)|:(?=//)|(?<=www)\.)"
)
"""What CommonMark, GFM (tables, strike-through, bare addresses) or math reads as markup within a line. An underscore within
a word is none, nor is a parenthesis behind an escaped bracket."""
_OPENING = re.compile(r"^(\s*)([-+#=:.]|\d+(?=[.)]))")
"""What only opens a block: list, heading, underline, definition."""


def render(envelope: Envelope, status: int, public_url: str) -> bytes:
    """Front matter, a title, what happened, what to do; UTF-8."""
    error = envelope.error
    front = {
        "status": status,
        "code": _word(error.code),
        "retry": _word(error.retry),
        "retry_after": error.retry_after,
        "kind": _word(error.kind),
        "origin": _word(error.origin),
        "recovery_action": _word(error.recovery.action),
        "same_arguments": _word(error.recovery.same_arguments),
        "side_effects": _word(error.side_effects),
    }
    if error.original_status is not None:
        front["original_status"] = error.original_status
    lines = ["---", *(f"{name}: {json.dumps(value)}" for name, value in front.items()), "---", ""]
    lines += [f"# {_title(error.code)}", "", escape(error.message), "", *_details(error)]
    lines += ["## What to do", "", escape(error.recovery.guidance), ""]
    return "\n".join(lines).encode("utf-8", "replace")


def escape(text: str) -> str:
    """`text` with every sign escaped that CommonMark, or a common extension of it, gives a meaning where it stands."""
    return _OPENING.sub(_opened, _MARKUP.sub(r"\\\1", " ".join(text.split())))


def _opened(match: re.Match[str]) -> str:
    space, sign = match.groups()
    return f"{space}{sign}\\" if sign.isdigit() else f"{space}\\{sign}"


def _word(word: str) -> str:
    """A site's own word is text of the site, and stays out of the front matter unless it looks like a word."""
    return (
        word
        if word.isascii() and word.replace("_", "").replace("-", "").replace(".", "").isalnum()
        else "other"
    )


def _title(code: str) -> str:
    return escape(code.replace("_", " ").capitalize() if code in CODES else code)


def _details(error: Error) -> list[str]:
    lines: list[str] = []
    if error.field:
        lines += [f"Field: {escape(error.field)}", ""]
    if error.errors:
        for fault in error.errors:
            name = f"{escape(fault.field)}: " if fault.field else ""
            lines.append(f"- {name}{escape(fault.message)}")
        lines.append("")
    named = (
        ("Scopes needed", ", ".join(error.required_scopes or ())),
        ("Valid values", ", ".join(error.valid or ())),
        ("Hint", error.hint),
        ("A person can go on at", error.continue_url),
        ("Documentation", error.documentation_url),
    )
    for name, value in named:
        if value:
            lines += [f"{name}: {escape(value)}", ""]
    return lines
