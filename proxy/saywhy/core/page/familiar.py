"""Pages that come again, byte for byte: read once.

Many sites send one document for every address that is not there, one wall, one notice that the shop is being looked
after. Reading such a page is a pure function of its bytes and of how they are labelled, and the dearest step of a
rewrite: two thirds of it. A page that carries a nonce, a time or the path comes only once: its title and text come from a
stencil of the pages like it. Only what the page says is kept: every decision is made anew, with this request, head and clock.
"""

from __future__ import annotations

from saywhy.core.model import Fields
from saywhy.core.page.limits import PageLimits
from saywhy.core.page.page import Page, read
from saywhy.core.page.stencil import Stencils

_LEAST, _MOST = 256, 65_537
"""Bytes of a body, as far as it is read and one more: below, reading is as quick as looking up; above, a few pages would fill what there is."""

_KEPT_BYTES = 2 << 20
"""For all pages together; one of 8 KB takes 40."""

_MARKS = 256
"""Pages that came once are known by a number, of which so many are kept: an agent at work meets fewer in between."""

_Key = tuple[str, str | None, bool, bytes]


class Familiar:
    """Reads pages, and keeps what it read of those that came twice. `kept_bytes` bounds it. Threads may share one: what
    they lose to each other is a page that is read once more, and never the count of what is kept.
    """

    __slots__ = ("_limits", "_marks", "_most", "_pages", "_stencils", "kept_bytes")

    def __init__(self, limits: PageLimits | None = None, *, most: int = _KEPT_BYTES) -> None:
        self._limits = limits or PageLimits()
        self._most = most
        self._pages: dict[_Key, Page] = {}
        self._marks: dict[int, None] = {}
        self._stencils = Stencils()
        self.kept_bytes = 0

    def read(self, fields: Fields, body: bytes, *, complete: bool) -> Page:
        """As `page.read`: the page, for this caller alone."""
        coding, limit = fields.joined("content-encoding"), self._limits.decoded_bytes
        if len(body) > limit and not coding:
            body = body[: limit + 1]  # one more says that it goes on
        if not _LEAST <= len(body) <= _MOST:
            return read(fields, body, complete=complete, limits=self._limits)
        key = (fields.get("content-type") or "", coding, complete, body)
        kept = self._pages.get(key)
        if kept is not None:
            return kept.again()
        page = read(fields, body, complete=complete, limits=self._limits)
        page.stencils = self._stencils
        mark = hash(key)
        if mark in self._marks:
            self._keep(key, page)
        else:
            self._marks[mark] = None
            if len(self._marks) > _MARKS:
                self._marks.pop(next(iter(tuple(self._marks))), None)
        return page

    def _keep(self, key: _Key, page: Page) -> None:
        if page.kind not in ("html", "text"):  # JSON and XML are read anew by every dialect anyway
            return
        kept = page.again()
        if _weigh((key, kept)) > self._most // 4:
            return
        # All of it anew, and then swapped: threads lose pages to each other, but what is kept and its weight stay one.
        pages = {**self._pages, key: kept}
        whole = sum(map(_weigh, pages.items()))
        while whole > self._most:
            oldest = next(iter(pages))
            whole -= _weigh((oldest, pages.pop(oldest)))
        self._pages, self.kept_bytes = pages, whole


def _weigh(one: tuple[_Key, Page]) -> int:
    (*_, body), page = one
    return page.weigh() + len(body)
