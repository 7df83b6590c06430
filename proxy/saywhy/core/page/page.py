"""`Page`: one body, read as far as somebody asks. `read` decodes and looks at the kind; the rest is lazy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from saywhy.core.model import Fields
from saywhy.core.page import charset, coding, html, structured
from saywhy.core.page.jsonvalue import NOT_JSON, NotJson, parse, strings
from saywhy.core.page.kind import Kind, is_readable, media_of, settle
from saywhy.core.page.limits import QUICK_TAGS, PageLimits, TakesLong
from saywhy.core.page.stencil import Stencils, Told

if TYPE_CHECKING:
    from bs4 import BeautifulSoup

_UNREAD: Any = object()


class Page:
    """A decoded body and what can be read from it. Not safe for two threads at once; cheap to make.

    `kind` is what the content is, `media` what the site called it; `source` the text as sent, at most
    `limits.decoded_bytes` bytes of it; `truncated` says that the end is missing; `fault` is "" or the class of what
    was wrong: "coding", "charset", "too_deep" (known once text or tree were asked for).
    """

    __slots__ = (
        "_dom", "_json", "_jsonld", "_limits", "_low", "_raw", "_scripts", "_text", "_things", "_title",
        "fault", "hurried", "kind", "media", "seen", "size", "source", "stencils", "truncated",
    )  # fmt: skip

    def __init__(
        self,
        kind: Kind,
        media: str,
        source: str,
        *,
        size: int,
        truncated: bool,
        fault: str,
        limits: PageLimits,
    ) -> None:
        self.kind: Kind = kind
        self.media = media
        self.source = source
        self.size = size  # decoded bytes
        self.truncated = truncated
        self.fault = fault
        self.hurried = False  # whether to raise TakesLong rather than grow a large tree
        # What was found of literals, by who looked for which: site rules and shipped ones share one pass.
        self.seen: dict[object, object] = {}
        self.stencils: Stencils | None = None  # of pages like this one, where its reader keeps some
        self._limits = limits
        self._title: str = _UNREAD
        self._text: str = _UNREAD
        self._low = ""
        self._raw = ""  # the visible text before it is folded
        self._scripts: tuple[html.Script, ...] = _UNREAD
        self._jsonld: list[dict[str, Any]] = []
        self._things: tuple[structured.Thing, ...] = ()
        self._json: Any = _UNREAD
        self._dom: BeautifulSoup | None = _UNREAD

    def again(self) -> Page:
        """The same page for somebody else, with all that its markup says read; trees and values are not handed on."""
        self._need_tree()
        page = Page(
            self.kind,
            self.media,
            self.source,
            size=self.size,
            truncated=self.truncated,
            fault=self.fault,
            limits=self._limits,
        )
        page._low, page._title, page._text, page._raw = self._low, self._title, self._text, self._raw
        page._scripts, page._jsonld, page._things = self._scripts, self._jsonld, self._things
        page.seen = self.seen
        return page

    def weigh(self) -> int:
        """Bytes of memory that its texts take; structured data is taken at twenty times the page, which it never is."""
        texts = (self.source, self._low, self._raw, self._text, *(script.text for script in self._scripts))
        whole = sum(text.__sizeof__() for text in texts)
        return whole + 20 * len(self.source) if self._jsonld or self._things else whole

    def _read_markup(self) -> None:
        """Everything that lxml's tree tells, in one go, so that the tree need not be kept."""
        self._title, self._text, self._scripts = "", "", ()
        tree = html.plant(self.source)
        if tree.too_deep:
            self.fault = self.fault or "too_deep"
        if tree.root is not None:
            self._title = html.title_of(tree.root)
            self._scripts = html.scripts_of(tree.root, self._limits.items)
            if "availability" in self.source or "ld+json" in self.source:
                self._jsonld = structured.jsonld_of(self._scripts, self._limits.items)
                self._things = structured.things_of(tree.root, self._jsonld, self._limits.items)
        self._raw = html.text_of(self.source, self.low, tree)
        self._text = html.fold_space(self._raw)

    def _need_words(self) -> None:
        """Title and text: of a page like those that came before without a tree."""
        if self._title is not _UNREAD:
            return
        told = self.stencils.read(self.source) if self.stencils is not None and self.kind == "html" else None
        if told is None:
            self._need_tree()
        else:
            self._title, self._raw, self._text = told

    def _need_tree(self) -> None:
        """All that the markup says."""
        if self._scripts is not _UNREAD:
            return
        if self.kind != "html":
            self._title, self._text, self._scripts = "", self._plain_text(), ()
            self._raw = self._text
            return
        new = self._title is _UNREAD
        self._read_markup()
        if new and self.stencils is not None and self.fault != "too_deep":
            self.stencils.learn(self.source, Told(self._title, self._raw, self._text))

    def _plain_text(self) -> str:
        if self.kind == "json" and self.json is not NOT_JSON:
            return html.fold_space(" ".join(strings(self.json)))[: self._limits.decoded_bytes]
        if self.kind == "xml":
            text = html.xml_text(self.source)
            return html.strip_tags(self.source) if text is None else text
        return html.fold_space(self.source)

    @property
    def low(self) -> str:
        """The source in lower case."""
        if not self._low:
            self._low = self.source.lower()
        return self._low

    @property
    def title(self) -> str:
        """The title element's text; "" where there is none or the page is not HTML."""
        self._need_words()
        return self._title

    @property
    def text(self) -> str:
        """What a reader without scripts sees: entities decoded, white space folded. JSON: its strings, without keys."""
        self._need_words()
        return self._text

    @property
    def lines(self) -> Iterator[str]:
        """The visible text block by block: what stands in two elements that part words is two lines."""
        self._need_words()
        return html.lines_of(self._raw)

    @property
    def scripts(self) -> tuple[html.Script, ...]:
        """The script elements of an HTML page."""
        self._need_tree()
        return self._scripts

    @property
    def jsonld(self) -> list[dict[str, Any]]:
        """The nodes of the page's JSON-LD, arrays and @graph flattened."""
        self._need_tree()
        return self._jsonld

    @property
    def things(self) -> tuple[structured.Thing, ...]:
        """What the page offers, from JSON-LD, microdata, RDFa and product metas."""
        self._need_tree()
        return self._things

    @property
    def json(self) -> Any:
        """The JSON value, or NOT_JSON: not JSON, cut, nested too deep, or with numbers JSON does not know."""
        if self._json is _UNREAD:
            readable = self.kind in {"json", "text"} and not self.truncated
            self._json = parse(self.source, deepest=self._limits.json_levels) if readable else NOT_JSON
        return self._json

    @property
    def dom(self) -> BeautifulSoup | None:
        """The tree for CSS; None where the page is not HTML, has too many tags or nests too deep."""
        if self._dom is _UNREAD:
            if self.hurried and self.kind == "html" and self.source.count("<") > QUICK_TAGS:
                raise TakesLong
            self._dom = None
            if self.kind == "html" and self.source.count("<") <= self._limits.dom_nodes:
                self._need_tree()
                if self.fault != "too_deep":
                    self._dom = html.grow(self.source)
            elif self.kind == "html":
                self.fault = self.fault or "too_many_nodes"
        return self._dom


def read(fields: Fields, body: bytes, *, complete: bool = True, limits: PageLimits | None = None) -> Page:
    """The page in a response's `fields` and `body` (bytes as they came, content codings still on). Never raises.

    `complete` False: the body goes on, but no more of it is at hand.
    """
    limits = limits or PageLimits()
    content_type = fields.get("content-type") or ""
    media = media_of(content_type)
    decoded = coding.decode(body, fields.joined("content-encoding"), limits.decoded_bytes)
    truncated, fault = decoded.truncated or not complete, decoded.fault
    kind: Kind = "binary"
    source = ""
    if fault or not is_readable(media, decoded.data):
        kind = "binary" if body else "empty"
    else:
        text = charset.to_text(decoded.data, content_type, truncated=truncated)
        source, fault = text.text, text.fault
        kind = settle(media, source)
    page = Page(kind, media, source, size=len(decoded.data), truncated=truncated, fault=fault, limits=limits)
    if kind == "json" and isinstance(page.json, NotJson) and not (truncated and "json" in media):
        page.kind = "html" if "html" in media else "text"
    return page
