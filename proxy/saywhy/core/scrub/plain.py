"""Site text to plain text: markup and entities out, invisible and chat-template characters out, white space folded.

Lines are kept until `fold`, because traces are told by their lines.
"""

from __future__ import annotations

import html
import unicodedata

import re2

_OPAQUE = re2.compile(r"(?is)<(?:script|style)\b.*?(?:</(?:script|style)\s*>|\z)|<!--.*?(?:-->|\z)")
_BLOCKS = re2.compile(
    r"(?i)</?(?:address|article|aside|blockquote|br|dd|div|dl|dt|fieldset|figure|footer|form|h[1-6]|header|hr|li|main"
    r"|nav|ol|p|pre|section|table|tbody|td|tfoot|th|thead|title|tr|ul|head|body|html)(?:\s[^<>]*)?/?>"
)
# An element that HTML knows, anything that closes, and anything with attributes. A bare <word> is a placeholder
# ("Bearer <token>") and stays.
_MARKUP = re2.compile(
    r"(?i)</?(?:a|abbr|acronym|area|audio|b|base|bdi|bdo|big|button|canvas|caption|center|cite|code|col|colgroup"
    r"|data|datalist|del|details|dfn|dialog|dir|em|embed|figcaption|font|frame|frameset|i|iframe|img|input|ins|kbd"
    r"|label|legend|link|map|mark|marquee|menu|meta|meter|nobr|noframes|noscript|object|optgroup|option|output"
    r"|param|picture|progress|q|rp|rt|ruby|s|samp|script|select|slot|small|source|span|strike|strong|style|sub"
    r"|summary|sup|svg|template|textarea|time|tt|u|var|video|wbr|xmp)(?:\s[^<>]*)?/?>"
    r"|</[a-z][^<>\s]*\s*>|<[a-z][\w:.-]*\s+[\w:.-]+\s*=[^<>]*>|<[a-z][\w:.-]*\s*/>"
    r"|<!(?:doctype|\[)[^<>]*>|<\?[a-z=][^<>]*\?>|\]\]>"
)
# Marks that chat templates give a meaning to. A page must not be able to speak in another role.
_CHAT = re2.compile(
    r"(?i)<\s?[|｜][^|｜<>]*[|｜]\s?>|\[/?INST\]|<</?SYS>>"
    r"|</?(?:system|assistant|human|developer|tool_calls?|tool_results?|tool_response|function_calls?|function_results"
    r"|invoke|think|thinking|im_start|im_end|start_of_turn|end_of_turn|start_header_id|end_header_id|eot_id|bos|eos)>"
)
_INVISIBLE = re2.compile(
    r"[\p{Cf}\p{Cc}\x{034F}\x{115F}\x{1160}\x{17B4}\x{17B5}\x{180B}-\x{180F}\x{3164}\x{FE00}-\x{FE0F}\x{FFA0}\x{E0100}-\x{E01EF}]"
)
_ROUNDS = 4
_CLOSE_ENOUGH = ".…!?"


def bare(text: str) -> str:
    """`text` without markup, entities, control, bidi, zero-width and chat-template characters; line ends kept as \\n.

    A last `<|` or `&` that nested escaping would still turn into something is dropped, so that the result is stable.
    """
    if text.isascii() and text.isprintable() and "<" not in text and "&" not in text and "[" not in text:
        return text
    if not text.isascii():
        text = text.encode("utf-8", "ignore").decode("utf-8")  # lone surrogates
    for _ in range(_ROUNDS):
        before = text
        text = _visible(_unmarked(text))
        if "&" in text:
            text = html.unescape(text)
        if text == before:
            return text
    return _visible(text.replace("&", " ").replace("<", " ").replace("[INST", " ").replace("[/INST", " "))


def _unmarked(text: str) -> str:
    if "<" in text or "]" in text:
        text = _OPAQUE.sub(" ", text)
        text = _BLOCKS.sub("\n", text)
        text = _MARKUP.sub(" ", text)
        text = _CHAT.sub(" ", text)
    return text


def _visible(text: str) -> str:
    if text.isprintable():  # false for \n, for every control and format character, for odd spaces
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n").replace("\u2029", "\n")
    text = text.replace("\t", " ").replace("\x0b", " ").replace("\x0c", " ").replace("\x85", " ")
    # Looked up once for each letter that occurs, however often it does: a text may be made of nothing else.
    unseen = _INVISIBLE.findall("".join(set(text) - {"\n"}))
    if unseen:
        text = text.translate(dict.fromkeys(map(ord, unseen)))
    return text if text.isascii() else text.encode("utf-8", "ignore").decode("utf-8")


def fold(text: str) -> str:
    """One line: runs of white space become one space, the ends are stripped."""
    return " ".join(text.split())


def cut(text: str, limit: int) -> str:
    """At most `limit` characters, cut at a word's end and then closed by an ellipsis."""
    if len(text) <= limit:
        return text
    if limit < 2:
        return text[:limit]
    head = text[: limit - 1]
    space = head.rfind(" ")
    if space > limit // 2 or (space > 0 and not _one_token(head, space)):
        head = head[:space]
    return head.rstrip(" ,;:-–") + "…"


def _one_token(head: str, space: int) -> bool:
    """Whether what follows `space` is text of a script that writes without spaces: cutting there loses too much."""
    return not head[space + 1 :].isascii()


def twin(text: str) -> str:
    """`text` with look-alike letters of ASCII (full-width, mathematical) as ASCII, character by character: the same
    offsets, so that a finding in the twin is a finding in the text."""
    if text.isascii():
        return text
    return "".join(_ascii_of(letter) if letter > "\u2fff" else letter for letter in text)


def _ascii_of(letter: str) -> str:
    if "\uff01" <= letter <= "\uff5e" or "\U0001d400" <= letter <= "\U0001d7ff":
        plain = unicodedata.normalize("NFKC", letter)
        if len(plain) == 1:
            return plain
    return letter


def says_something(text: str) -> bool:
    """Whether more than marks and punctuation is left."""
    return any(letter.isalnum() for letter in text.replace("[redacted]", ""))


_STOPS = re2.compile(r"[.!?…](?:[\"'”»)\]])?(?:\s|\z)|[。！？]")


def sentences(text: str) -> list[str]:
    """The sentences of one folded line, each with its stop."""
    result: list[str] = []
    at = 0
    for match in _STOPS.finditer(text):
        result.append(text[at : match.end()].strip())
        at = match.end()
    result.append(text[at:].strip())
    return [one for one in result if one]
