"""JSON text -> value, bounded: no recursion however deep it is nested, no NaN, no infinite numbers, no lone surrogates."""

import json
import math
from typing import Any, Final

import re2


class NotJson:
    """The type of `NOT_JSON`: None is a JSON value, so absence needs a value of its own."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "NOT_JSON"

    def __bool__(self) -> bool:
        return False


NOT_JSON: Final = NotJson()

_STRINGS = re2.compile(r'"(?:[^"\\]|\\.)*"')
_GUARDS = (")]}',", ")]}'", "for(;;);", "while(1);")
"""What sites put before JSON against inclusion as a script."""


def levels(text: str) -> int:
    """How deep the brackets of `text` nest, those within strings not counted."""
    deepest = level = 0
    for mark in _STRINGS.sub("", text):
        if mark in "[{":
            level += 1
            deepest = max(deepest, level)
        elif mark in "]}":
            level -= 1
    return deepest


def _whole(digits: str) -> int | str:
    # Python refuses integers of more than 4,300 digits; a text that long is not a number for anybody else either.
    return int(digits) if len(digits) <= 400 else digits


def _real(digits: str) -> float | str:
    value = float(digits)
    return value if math.isfinite(value) else digits


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON (RFC 8259 6)")


_UNUSUAL = re2.compile(r"\d[eE]|\d{300}")
"""What a number may be that Python cannot hold. To ask of every number costs more than all else."""

_PLAIN, _CAREFUL = (
    {
        strict: json.JSONDecoder(**how, parse_constant=_refuse, strict=strict)  # type: ignore[arg-type]
        for strict in (True, False)
    }
    for how in ({}, {"parse_int": _whole, "parse_float": _real})
)
"""Decoders, made once, by `strict`."""


def sound(text: str) -> str:
    """`text` with lone surrogates, which a JSON escape can make and UTF-8 cannot carry, replaced."""
    return text.encode("utf-8", "replace").decode("utf-8") if not _is_sound(text) else text


def _is_sound(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return sound(value)
    if isinstance(value, list):
        return [_mended(item) for item in value]
    if isinstance(value, dict):
        return {sound(key): _mended(item) for key, item in value.items()}
    return value


def parse(text: str, *, deepest: int, strict: bool = True) -> Any:
    """The value that `text` holds, or NOT_JSON. `strict` False lets raw line breaks stand in strings (JSON-LD on real
    pages). Numbers that Python cannot hold come as their digits.
    """
    text = text.strip("\ufeff \t\r\n")
    for guard in _GUARDS:
        if text.startswith(guard):
            text = text[len(guard) :]
            break
    if text.count("[") + text.count("{") > deepest and levels(text) > deepest:
        return NOT_JSON
    try:
        value = (_CAREFUL if _UNUSUAL.search(text) else _PLAIN)[strict].decode(text)
    except (ValueError, RecursionError):
        return NOT_JSON
    return _mended(value) if "\\ud" in text or "\\uD" in text else value


def strings(value: Any, most: int = 2000) -> list[str]:
    """The texts within a JSON value in document order, keys left out; at most `most`."""
    found: list[str] = []
    waiting = [value]
    while waiting and len(found) < most:
        item = waiting.pop()
        if isinstance(item, str):
            found.append(item)
        elif isinstance(item, list):
            waiting.extend(reversed(item))
        elif isinstance(item, dict):
            waiting.extend(reversed(list(item.values())))
    return found


def point(value: Any, pointer: str) -> Any:
    """What a JSON Pointer (RFC 6901) finds in `value`, or NOT_JSON. `-` finds the last item of a list."""
    if value is NOT_JSON:
        return NOT_JSON
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif (
            isinstance(value, list)
            and value
            and (key == "-" or (key.isdecimal() and int(key[:6]) < len(value)))
        ):
            value = value[-1 if key == "-" else int(key[:6])]
        else:
            return NOT_JSON
    return value
