"""HTML on lxml: title, visible text, scripts, and the tree that CSS runs on.

lxml reads a page of 8 KB in a tenth of a millisecond and stops by itself at 256 levels; BeautifulSoup, twenty times
slower, is built only when a selector asks for it, and never on html.parser or html5lib, which hostile pages stall.
"""

import re
from collections.abc import Iterator, Sequence
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

_PROLOGUE = re2.compile(r"^(?:[\s\x{FEFF}\x0B]*<\?[^>]*(?:>|\z))+")
_END_TAGS = re.compile("(?i)</(?:body|html)>")
_TAG = re.compile(r"<[^<>]*>")  # one class, one repetition: linear
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
"""What XML 1.0 2.2 does not know; entities bring it in behind the parser's back."""
_CONTROL_BYTES = bytes([*range(9), 11, 12, *range(14, 32)])

_EDGE, _BREAK = "\u2028", "\u2029"
"""What stands at the edges of blocks and for `br` while the text is one string; both fold as white space."""

_MAYBE_HIDDEN = (
    etree.XPath("//@hidden/.."),
    etree.XPath(
        "//@style[contains(., 'isp') or contains(., 'ISP') or contains(., 'hidden') or contains(., 'HIDDEN')]/.."
    ),
)
"""From the attributes up: several times as fast as a predicate on every element."""
_HIDES = re2.compile(r"(?i)\bdisplay\s*:\s*none|\bvisibility\s*:\s*hidden")
_HIDDEN = "hidden"
"""The name that hidden elements are given; HTML has no such element."""


def _reader() -> etree.XSLT:
    """A stylesheet that writes the visible text: the walk over the tree runs in C, and takes what it takes to print it."""
    template = '<xsl:template match="{}">{}</xsl:template>'.format
    blocks = [name for name in _BLOCKS if name != "br"]
    inner = f"<xsl:text>{_EDGE}</xsl:text><xsl:apply-templates/><xsl:text>{_EDGE}</xsl:text>"
    return etree.XSLT(
        etree.XML(
            '<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:output method="text"/>'
            + template("|".join(_UNSEEN), "")
            + template(_HIDDEN, "<xsl:text> </xsl:text>")
            + template("|".join(blocks), inner)
            + template("br", f"<xsl:text>{_BREAK}</xsl:text>")
            + "</xsl:stylesheet>"
        )
    )


_READ = _reader()


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
    """`source` as the parser should see it: no XML prologue, and without the end tags of body and html, since libxml2
    drops what follows them and frameworks print their traces there.
    """
    markup = _END_TAGS.sub("", source)
    start = markup[:64].lstrip("\ufeff \t\r\n\f\v")
    return _PROLOGUE.sub("", markup) if start.startswith("<?") else markup


def _printable(markup: str) -> bytes:
    """`markup` for the parser: UTF-8, control characters as blanks."""
    data = markup.encode("utf-8", "replace")
    # Counting first costs a tenth of replacing, and next to no page has any.
    odd = len(data) != len(markup) and ("\ufffe" in markup or "\uffff" in markup)
    if odd or len(data.translate(None, _CONTROL_BYTES)) != len(data):
        return _CONTROL.sub(" ", markup).encode("utf-8", "replace")
    return data


def plant(source: str) -> Tree:
    """The lxml tree of `source`, without comments."""
    parser = etree.HTMLParser(
        encoding="utf-8", recover=True, no_network=True, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(_printable(_open_ended(source)), parser)
    except (etree.LxmlError, ValueError):
        root = None
    deep = any(
        entry.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT for entry in parser.error_log.filter_from_fatals()
    )
    return Tree(None if deep else root, deep)


def are_words(source: str, marks: Sequence[str]) -> bool:
    """Whether each of `marks`, which stand in `source` once, is read as words: within a text, a comment, or the value of an
    attribute that cannot hide anything.
    """
    parser = etree.HTMLParser(encoding="utf-8", recover=True, no_network=True)
    try:
        root = etree.fromstring(_printable(_open_ended(source)), parser)
    except (etree.LxmlError, ValueError):
        return False
    if root is None:
        return False
    said: list[str] = []
    for node in root.iter():
        said.append(node.tail or "")
        if isinstance(node.tag, str):
            said += (str(value) for name, value in node.attrib.items() if name != "style")
        if isinstance(node.tag, str) or node.tag is etree.Comment:
            said.append(node.text or "")
    whole = "\0".join(said)
    return all(whole.count(mark) == 1 for mark in marks)


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


def text_of(source: str, low: str, tree: Tree) -> str:
    """The visible text, entities decoded, as it comes out of the tree: to be folded, or cut into `lines_of` it. Renames
    what is hidden: the last thing to ask of the tree.

    Past lxml's depth there is no tree; then the tags are cut out of the source, which no nesting can make slow.
    """
    if tree.root is None:
        return _TAG.sub(_EDGE, source) if tree.too_deep else ""
    if _may_hide(low):
        _hide(tree.root)
    try:
        text = str(_READ(tree.root))
    except etree.LxmlError:
        text = "".join(part for part in tree.root.itertext() if isinstance(part, str))
    return _CONTROL.sub(" ", text) if "&#" in source else text  # raw ones never got past the parser


def _may_hide(low: str) -> bool:
    """Whether a page, in lower case, may hide something at all, by the attribute or by a style."""
    return "hidden" in low or ("display" in low and "none" in low and _HIDES.search(low) is not None)


def _hide(root: etree._Element) -> None:
    """Gives every hidden element a name that is not read."""
    for path in _MAYBE_HIDDEN:
        for element in elements(path, root):
            if element.get("hidden") is not None or _HIDES.search(element.get("style") or ""):
                element.tag = _HIDDEN


def lines_of(text: str) -> Iterator[str]:
    """The text of each block that has any, white space folded. One `br` is a blank, two part blocks, as they look."""
    for block in text.split(_EDGE):
        waiting: list[str] = []
        for piece in block.split(_BREAK):
            line = fold_space(piece)
            if line:
                waiting.append(line)
            elif waiting:
                yield " ".join(waiting)
                waiting = []
        if waiting:
            yield " ".join(waiting)


def grow(source: str) -> BeautifulSoup | None:
    """The tree for CSS. The caller has checked depth and size."""
    # BeautifulSoup warns about text without a tag and about XML; neither is news here, and warnings cost.
    markup = _printable(_open_ended(source)).decode("utf-8")
    if "<" not in markup:
        markup = f"<p>{markup}</p>"
    try:
        return BeautifulSoup(markup, features="lxml")
    except (etree.LxmlError, ValueError, AssertionError, RecursionError):
        return None


def xml_text(source: str) -> str | None:
    """The text of an XML document: no entity is expanded, nothing is fetched. None where it does not parse."""
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(source.lstrip("\ufeff \t\r\n").encode("utf-8", "replace"), parser)
    except (etree.LxmlError, ValueError):
        return None
    return fold_space(" ".join(part for part in root.itertext() if isinstance(part, str)))


def strip_tags(source: str) -> str:
    """`source` without anything between angle brackets, white space folded."""
    return fold_space(_TAG.sub(" ", source))
