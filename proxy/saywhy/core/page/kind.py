"""What a body is: by Content-Type, corrected by a look at its first characters where sites get it wrong."""

from typing import Literal

import re2

Kind = Literal["html", "json", "xml", "text", "binary", "empty"]

_HTML = re2.compile(
    r"(?i)^<(?:!doctype\s+html|html|head|body|title|meta|script|style|h[1-6]|div|p|table|center|font|a|b|br|iframe|form|main|"
    r"section|pre)(?:[\s/>]|$)"
)
_PAGE = re2.compile(r"(?i)^<(?:!doctype\s+html|html)(?:[\s/>]|$)")
_COMMENT = re2.compile(r"(?s)^<!--.*?-->\s*")
_TEXTUAL = frozenset(
    {
        "application/javascript",
        "application/ecmascript",
        "application/x-www-form-urlencoded",
        "application/graphql",
    }
)
_ANYTHING = frozenset(
    {"", "application/octet-stream", "binary/octet-stream", "application/x-unknown", "unknown/unknown"}
)
"""Types that say nothing, so that the content has to."""


def media_of(content_type: str) -> str:
    """The media type of a Content-Type value, lower case without parameters; "" where none is written."""
    media = content_type.partition(";")[0].strip().lower()
    return media if "/" in media else ""


def declared(media: str) -> Kind:
    """The kind that a media type names; "binary" where it names none that can be read."""
    if media in {"text/html", "application/xhtml+xml"}:
        return "html"
    if media.endswith(("/json", "+json", "/x-json", "/problem+json")) or media.startswith(
        "application/x-amz-json-"
    ):
        return "json"
    if media.endswith(("/xml", "+xml")):
        return "xml"
    if media.startswith("text/") or media in _TEXTUAL:
        return "text"
    return "binary"


def possible(media: str) -> frozenset[Kind]:
    """The kinds that a body sent as `media` may turn out to be; for decisions on the head alone. What is sent as JSON
    counts as that: an agent's API traffic must not be held for rules about pages.
    """
    kind = declared(media)
    if media in _ANYTHING or kind == "text":
        return frozenset({"html", "json", "xml", "text", "binary", "empty"})
    extra: dict[Kind, frozenset[Kind]] = {
        "html": frozenset({"json", "xml", "text"}),
        "xml": frozenset({"html"}),
    }
    return frozenset({kind, "empty"}) | extra.get(kind, frozenset())


def is_readable(media: str, data: bytes) -> bool:
    """Whether `data` is worth turning into text: not an image, an archive or a font."""
    if declared(media) != "binary":
        return True
    if media not in _ANYTHING:
        return False
    start = data[:512]
    return b"\0" not in start or start[:2] in {b"\xff\xfe", b"\xfe\xff"}


def _opening(source: str) -> str:
    """The first characters that mean something: byte order marks, white space and comments skipped."""
    start = source[:4096].lstrip("\ufeff \t\r\n\f\0")
    for _ in range(8):
        if not start.startswith("<!--"):
            break
        shorter = _COMMENT.sub("", start, 1)
        if shorter == start:
            return "<html>"  # one long comment: what frameworks put before a page
        start = shorter.lstrip()
    return start


def settle(media: str, source: str) -> Kind:
    """The kind of a text sent as `media`. "json" is provisional: the value still has to parse."""
    start = _opening(source)
    if not start:
        return "empty"
    kind = declared(media)
    if start[0] == "<":
        return _markup(kind, media, start)
    if start[0] in "{[" and kind != "xml":
        return "json"
    if kind == "json":
        return "json"
    if kind == "xml":
        return "text"
    return "text" if kind == "binary" else kind


def _markup(kind: Kind, media: str, start: str) -> Kind:
    if start[:5].lower() == "<?xml":
        rest = start.partition("?>")[2].lstrip()
        if kind == "html" or _PAGE.search(rest):
            return "html"
        return "xml"
    if kind == "html" or _PAGE.search(start):
        return "html"
    if kind == "xml":
        return "xml"
    if (kind == "json" or media in _ANYTHING) and _HTML.search(start):
        return "html"
    return "xml" if kind == "json" or media in _ANYTHING else kind
