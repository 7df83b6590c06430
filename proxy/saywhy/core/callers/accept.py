"""Accept (RFC 9110 12.5.1): parsing, the quality of a media type, and which rendering a caller asks for.

Malformed elements are dropped, the others count: a wrong element must not turn an agent into a browser, nor the
reverse. Work is bounded: 8 KiB of the field and 64 elements are read, whatever comes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

AGENT_TYPES = ("application/json", "application/problem+json", "text/markdown")
"""What an envelope can be rendered as, the default first."""

_HTML_TYPES = ("text/html", "application/xhtml+xml")
_MAX_FIELD = 8192
_MAX_ELEMENTS = 64  # the longest Accept of any browser or library measured has 12
_TOKEN = frozenset("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")


class Range(NamedTuple):
    """One element of Accept: a media range, lower case; its parameters without the weight; the weight, 0 to 1."""

    type: str
    subtype: str
    params: tuple[tuple[str, str], ...]
    q: float

    @property
    def name(self) -> str:
        """`type/subtype`."""
        return f"{self.type}/{self.subtype}"


@lru_cache(maxsize=256)
def parse(field: str) -> tuple[Range, ...]:
    """The well-formed elements of an Accept field, in order."""
    ranges = (_range(element) for element in _split(field[:_MAX_FIELD], ",")[:_MAX_ELEMENTS])
    return tuple(found for found in ranges if found is not None)


def quality(ranges: tuple[Range, ...], media: str, params: Mapping[str, str] | None = None) -> float:
    """The weight of `media` with `params`: that of the most specific range that matches (RFC 9110 12.5.1), else 0."""
    match = _best(ranges, media, params or {})
    return match.q if match else 0.0


def agent_type(ranges: tuple[Range, ...]) -> str | None:
    """The agent type that Accept names exactly and prefers to HTML, or None (not an agent by Accept).

    Wildcards never make an agent, and count for HTML: `*/*` beside `application/json;q=0.5` is somebody who takes
    anything. A tie goes to the named type, which a browser's own navigation never sends.
    """
    named = _named(ranges)
    if named is None or named.q <= 0 or named.q < _html_quality(ranges):
        return None
    return named.name


def html_first(ranges: tuple[Range, ...]) -> bool:
    """Whether HTML is named, and nothing that we could render is named before it or weighs more."""
    html = [(item.q, -at) for at, item in enumerate(ranges) if item.name in _HTML_TYPES and item.q > 0]
    if not html:
        return False
    ours = [
        (item.q, -at)
        for at, item in enumerate(ranges)
        if item.name in AGENT_TYPES or item.name in ("application/*", "text/*")
    ]
    named = _named(ranges)
    if named is not None and named.q > 0 and named.q >= max(html)[0]:
        return False
    return not ours or max(html) > max(ours)


def preferred(ranges: tuple[Range, ...]) -> tuple[str, bool]:
    """What to render for a caller known to be an agent by other evidence, and whether it was named exactly.

    The heaviest of our types wins; at equal weight the one that comes first, and under one wildcard JSON. `text/*`
    asks for Markdown only where HTML is not named before it. Where nothing fits: JSON.
    """
    best: tuple[float, int, int] | None = None
    chosen, exact = AGENT_TYPES[0], False
    for order, media in enumerate(AGENT_TYPES):
        match = _best(ranges, media, {})
        if match is None or match.q <= 0 or (match.name == "text/*" and not _before_html(ranges, match)):
            continue
        named = match.name == media
        # Exact names come before every wildcard, and `*/*` after the narrower ones.
        place = ranges.index(match) + (
            0 if named else _MAX_ELEMENTS if match.type != "*" else 2 * _MAX_ELEMENTS
        )
        if best is None or (match.q, -place, -order) > best:
            best, chosen, exact = (match.q, -place, -order), media, named
    return chosen, exact


def _before_html(ranges: tuple[Range, ...], wildcard: Range) -> bool:
    at = ranges.index(wildcard)
    return not any(
        item.name in _HTML_TYPES and item.q > 0 and (item.q, -place) > (wildcard.q, -at)
        for place, item in enumerate(ranges)
    )


def _named(ranges: tuple[Range, ...]) -> Range | None:
    """The agent type with the highest weight; of equals the first. Parameters do not matter: `variant`, `charset`."""
    return max((item for item in ranges if item.name in AGENT_TYPES), key=lambda item: item.q, default=None)


def _html_quality(ranges: tuple[Range, ...]) -> float:
    # A page is sent with parameters (charset), so a range that names some may still be about this very page: such a
    # caller counts as one who takes HTML.
    plain = quality(ranges, "text/html")
    return max([plain, *(item.q for item in ranges if item.name == "text/html")])


def _best(ranges: tuple[Range, ...], media: str, params: Mapping[str, str]) -> Range | None:
    kind, _, subtype = media.partition("/")
    best: tuple[int, int, float] | None = None
    found = None
    for item in ranges:
        if item.type not in ("*", kind) or item.subtype not in ("*", subtype):
            continue
        # Agent types are taken with any parameter; for others each that the range names must be there.
        if media not in AGENT_TYPES and any(
            params.get(name, "").lower() != value.lower() for name, value in item.params
        ):
            continue
        specific = 0 if item.type == "*" else 1 if item.subtype == "*" else 2
        rank = (specific, len(item.params) if params else 0, item.q)
        if best is None or rank > best:
            best, found = rank, item
    return found


def _range(element: str) -> Range | None:
    media, *rest = _split(element, ";")
    kind, slash, subtype = media.strip(" \t").lower().partition("/")
    if not slash or not _is_token(kind) or not _is_token(subtype) or (kind == "*" and subtype != "*"):
        return None
    params: list[tuple[str, str]] = []
    weight = 1.0
    weighed = False
    for part in rest:
        name, equals, value = (piece.strip(" \t") for piece in part.partition("="))
        if not name and not equals:
            continue  # RFC 9110 5.6.6 allows an empty parameter
        if not _is_token(name) or (equals and not _is_value(value)) or (not equals and not weighed):
            return None
        if name.lower() == "q" and not weighed:
            q = _weight(value)
            if q is None:
                return None
            weight, weighed = q, True
        elif not weighed:  # what follows the weight is an extension that RFC 9110 no longer gives a meaning
            params.append((name.lower(), value[1:-1].replace("\\", "") if value.startswith('"') else value))
    return Range(kind, subtype, tuple(params), weight)


def _weight(text: str) -> float | None:
    """`0` or `1` with up to three decimals (RFC 9110 12.4.2), or None."""
    whole, dot, decimals = text.partition(".")
    if (
        whole not in ("0", "1")
        or len(decimals) > 3
        or (decimals and not (decimals.isascii() and decimals.isdigit()))
    ):
        return None
    value = float(f"{whole}.{decimals or 0}") if dot else float(whole)
    return value if value <= 1 else None


def _is_token(text: str) -> bool:
    return bool(text) and _TOKEN.issuperset(text)


def _is_value(text: str) -> bool:
    return _is_token(text) or (len(text) >= 2 and text[0] == text[-1] == '"')


def _split(text: str, separator: str) -> list[str]:
    """`text` cut at `separator` outside quoted strings; an unclosed quote reaches to the end."""
    if '"' not in text:
        return text.split(separator)
    parts: list[str] = []
    start = 0
    quoted = escaped = False
    for at, char in enumerate(text):
        if escaped:
            escaped = False
        elif quoted:
            escaped = char == "\\"
            quoted = char != '"'
        elif char == '"':
            quoted = True
        elif char == separator:
            parts.append(text[start:at])
            start = at + 1
    parts.append(text[start:])
    return parts
