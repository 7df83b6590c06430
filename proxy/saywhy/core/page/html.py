"""HTML on lxml: title, visible text, scripts, and the tree that CSS runs on.

lxml reads a page of 8 KB in a tenth of a millisecond and stops by itself at 256 levels; BeautifulSoup, twenty times
slower, is built only when a selector asks for it, and never on html.parser or html5lib, which hostile pages stall.
"""

import re
from typing import NamedTuple

import re2
from bs4 import BeautifulSoup
from lxml import etree

_BLOCKS = (
    "address", "article", "aside", "blockquote", "body", "br", "button", "caption", "center", "dd", "details", "dialog",
    "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header",
    "hr", "img", "input", "label", "legend", "li", "main", "nav", "ol", "option", "p", "pre", "section", "select", "summary",
    "table", "tbody", "td", "textarea", "tfoot", "th", "thead", "tr", "ul",
)  # fmt: skip
"""Elements whose edges part words: `<td>a</td><td>b</td>` is two, `<b>a</b><i>b</i>` one."""

_UNSEEN = ("head", "script", "style", "template", "noembed", "noframes", "datalist", "object", "canvas")
"""Elements whose content nobody sees. noscript is seen, by callers without scripts: walls speak there."""

_MAYBE_HIDDEN = (etree.XPath("//@hidden/.."), etree.XPath("//@style[contains(., 'isp') or contains(., 'ISP')]/.."))
"""From the attributes up: several times as fast as a predicate on every element."""
_HIDES = re2.compile(r"(?i)\bhidden\b|display\s*:\s*none")
_PROLOGUE = re2.compile(r"^\s*<\?[^>]*\?>")
_TAG = re2.compile(r"<[^<>]*>")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
"""What lxml refuses to write back (XML 1.0 2.2); entities bring it in behind the parser's back."""


class Script(NamedTuple):
    """One script element: `src` as written, `type` lower case, `text` its content."""

    src: str
    type: str
    text: str


class Tree(NamedTuple):
    """A parsed page; `root` None where there is nothing to parse or where it nests deeper than lxml follows."""

    root: etree._Element | None
    too_deep: bool


def fold_space(text: str) -> str:
    """`text` with every run of white space (no-break spaces too) as one blank, none at the ends."""
    return " ".join(text.split())


def elements(path: etree.XPath, root: etree._Element) -> list[etree._Element]:
    """What a compiled XPath that selects elements finds below `root`."""
    found = path(root)
    return [item for item in found if isinstance(item, etree._Element)] if isinstance(found, list) else []


def own_text(element: etree._Element) -> str:
    """The text within an element, white space folded."""
    return fold_space("".join(part for part in element.itertext() if isinstance(part, str)))


def _open_ended(source: str) -> str:
    """`source` as the parser should see it: control characters as blanks, no XML prologue, and without the end tags of
    body and html, since libxml2 drops what follows them and frameworks print their traces there.
    """
    markup = _CONTROL.sub(" ", _PROLOGUE.sub("", source))
    for tag in ("</body>", "</html>", "</BODY>", "</HTML>"):
        markup = markup.replace(tag, "")
    return markup


def plant(source: str) -> Tree:
    """The lxml tree of `source`, without comments."""
    parser = etree.HTMLParser(encoding="utf-8", recover=True, no_network=True, remove_comments=True, remove_pis=True)
    try:
        root = etree.fromstring(_open_ended(source).encode("utf-8", "replace"), parser)
    except (etree.LxmlError, ValueError):
        root = None
    deep = any(entry.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT for entry in parser.error_log.filter_from_fatals())
    return Tree(None if deep else root, deep)


def title_of(root: etree._Element) -> str:
    """The text of the first title element outside of drawings."""
    for element in root.iter("title"):
        parent = element.getparent()
        if parent is None or parent.tag != "svg":
            return own_text(element)
    return ""


def scripts_of(root: etree._Element, most: int) -> tuple[Script, ...]:
    """The script elements in order; at most `most`."""
    found: list[Script] = []
    for element in root.iter("script"):
        if len(found) >= most:
            break
        kind = (element.get("type") or "").strip().lower()
        found.append(Script((element.get("src") or "").strip(), kind, element.text or ""))
    return tuple(found)


def text_of(source: str, tree: Tree) -> str:
    """The visible text: entities decoded, white space folded. Takes the tree apart: the last thing to ask of it.

    Past lxml's depth there is no tree; then the tags are cut out of the source, which no nesting can make slow.
    """
    if tree.root is None:
        return fold_space(_TAG.sub(" ", source)) if tree.too_deep else ""
    root = tree.root
    etree.strip_elements(root, *_UNSEEN, with_tail=False)
    if _HIDES.search(source):
        for element in (found for path in _MAYBE_HIDDEN for found in elements(path, root)):
            if element.get("hidden") is not None or _HIDES.search(element.get("style") or ""):
                _drop(element)
    entities = "&#" in source  # raw control characters never got past the parser
    for element in root.iter(*_BLOCKS):
        tail, text = element.tail, element.text
        if entities:
            tail, text = _CONTROL.sub(" ", tail or ""), _CONTROL.sub(" ", text or "")
        element.tail = " " + tail if tail else " "
        if text:
            element.text = " " + text
    return fold_space(etree.tostring(root, method="text", encoding="unicode"))


def _drop(element: etree._Element) -> None:
    parent = element.getparent()
    if parent is None:
        return
    tail, previous = element.tail, element.getprevious()
    if tail:
        if previous is not None:
            previous.tail = _CONTROL.sub(" ", (previous.tail or "") + " " + tail)
        else:
            parent.text = _CONTROL.sub(" ", (parent.text or "") + " " + tail)
    parent.remove(element)


def grow(source: str) -> BeautifulSoup | None:
    """The tree for CSS. The caller has checked depth and size."""
    # BeautifulSoup warns about text without a tag and about XML; neither is news here, and warnings cost.
    markup = _open_ended(source)
    if "<" not in markup:
        markup = f"<p>{markup}</p>"
    try:
        return BeautifulSoup(markup, features="lxml")
    except (etree.LxmlError, ValueError, AssertionError, RecursionError):
        return None


def xml_text(source: str) -> str | None:
    """The text of an XML document: no entity is expanded, nothing is fetched. None where it does not parse."""
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(source.lstrip("\ufeff \t\r\n").encode("utf-8", "replace"), parser)
    except (etree.LxmlError, ValueError):
        return None
    return fold_space(" ".join(part for part in root.itertext() if isinstance(part, str)))




def strip_tags(source: str) -> str:
    """`source` without anything between angle brackets, white space folded."""
    return fold_space(_TAG.sub(" ", source))
