"""What every dialect reads with: members of JSON objects that may be anything, and XML by local names.

Everything returns nothing instead of raising; a member of the wrong type is a member that is absent.
"""

from __future__ import annotations

from typing import Any

from saywhy.core.model import Evidence, FieldError
from saywhy.core.page import Page

MOST_ERRORS = 20
"""Fields at fault that are passed on; the rest is more of the same."""


def top(page: Page) -> dict[str, Any]:
    """The JSON object that the page is, or an empty one."""
    value = page.json if page.kind == "json" else None
    return value if isinstance(value, dict) else {}


def mapping(value: Any, *names: str) -> dict[str, Any]:
    """The object found under `names`, one inside the other, or an empty one."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    """`value` where it is a list, bounded."""
    return value[:MOST_ERRORS] if isinstance(value, list) else []


def text(value: Any, *names: str) -> str | None:
    """The first of the members `names` that is a text with something in it."""
    if not isinstance(value, dict):
        return None
    for name in names:
        found = value.get(name)
        if isinstance(found, str) and found.strip():
            return found.strip()
    return None


def texts(value: Any) -> list[str]:
    """The texts of a list, or a text alone as a list of one."""
    if isinstance(value, str):
        return [value] if value.strip() else []
    return [one for one in items(value) if isinstance(one, str) and one.strip()]


def seconds(value: Any) -> int | None:
    """A wait in whole seconds, rounded up; None for what is no number above zero."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e9:
        return None
    return -int(-value // 1)


def dotted(parts: list[Any]) -> str | None:
    """A location of names and list places as one name: ["items", 0, "sku"] -> items[0].sku."""
    name = ""
    for part in parts:
        if isinstance(part, bool) or not isinstance(part, str | int):
            continue
        if isinstance(part, int):
            name += f"[{part}]"
        else:
            name += f".{part}" if name else part
    return name or None


def pointed(pointer: str) -> str | None:
    """The name that a JSON Pointer (RFC 6901, with or without `#`) points at: /data/attributes/title -> title."""
    parts = [part.replace("~1", "/").replace("~0", "~") for part in pointer.lstrip("#").split("/") if part]
    while parts and parts[-1].isdecimal():
        parts.pop()
    return parts[-1] if parts else None


def pointer_of(parts: list[Any]) -> str:
    """The JSON Pointer of a location."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def said(name: str, **members: Any) -> Evidence:
    """The evidence of dialect `name`; members that are None or empty were not said."""
    known = {key: value for key, value in members.items() if value not in (None, "", (), {})}
    return Evidence(decided_by="dialect", rule=f"dialect/{name}", signals=(f"dialect {name}",), **known)


def joined(errors: list[FieldError], most: int = 3) -> str | None:
    """The messages of several errors as one text, each closed by a stop."""
    seen: list[str] = []
    for error in errors:
        message = error.message.strip()
        if message and message not in seen:
            seen.append(message)
    if not seen:
        return None
    return " ".join(one if one[-1] in ".!?。！？…" else one + "." for one in seen[:most])


def _spoken(words: str) -> str:
    """Lower-cased words between single blanks, for comparing whole words."""
    return f" {' '.join(''.join(letter if letter.isalnum() else ' ' for letter in words.lower()).split())} "


def named(errors: list[FieldError]) -> list[FieldError]:
    """As `errors`, a message that does not say its field opened by the field's name."""
    result = []
    for error in errors:
        known = _spoken(error.field.rpartition(".")[2]) if error.field else ""
        if known.strip() and known not in _spoken(error.message):
            error = FieldError(error.field, f"{error.field}: {error.message}", error.pointer)
        result.append(error)
    return result
