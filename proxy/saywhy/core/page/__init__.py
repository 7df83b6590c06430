"""Bytes -> Page: what a body says, whatever a site sent.

Here live content codings, charsets, kinds of content, HTML (title, text, tree), JSON values and structured data, each
with its bounds; nothing here knows a code, a rule or a caller. The route: `read` takes the codings off (coding), makes
text of the bytes (charset), settles what it is (kind), and hands out a Page (page) that reads the rest when asked
(html, jsonvalue, structured). What comes again byte for byte is read once (familiar), what differs in a
few words from what came before is filled in (stencil). bs4 and lxml are used in this package alone.
"""

from saywhy.core.page.familiar import Familiar
from saywhy.core.page.jsonvalue import NOT_JSON, point
from saywhy.core.page.limits import QUICK_BYTES, PageLimits, TakesLong
from saywhy.core.page.page import Page, read
from saywhy.core.page.selector import Selector
from saywhy.core.page.structured import Thing, availability_word, type_word

__all__ = [
    "NOT_JSON",
    "QUICK_BYTES",
    "Familiar",
    "Page",
    "PageLimits",
    "Selector",
    "TakesLong",
    "Thing",
    "availability_word",
    "point",
    "read",
    "type_word",
]
