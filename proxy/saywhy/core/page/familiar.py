"""Pages that come again, byte for byte: read once.

Many sites send one document for every address that is not there, one wall, one notice that the shop is being looked
after. Reading such a page is a pure function of its bytes and of how they are labelled, and the dearest step of a
rewrite: two thirds of it. A page that carries a nonce, a time or the path comes only once, and costs two hundredths more for
having been looked up. Only what the page says is kept: every decision is made anew, with this request, head and clock.
"""

from __future__ import annotations

import threading

from saywhy.core.model import Fields
from saywhy.core.page.limits import PageLimits
from saywhy.core.page.page import Page, read

_LEAST, _MOST = 256, 65_536
"""Bytes of a body: below, reading is as quick as looking up; above, a few pages would fill what there is."""

_KEPT_BYTES = 2 << 20
"""For all pages together; one of 8 KB takes 40."""

_MARKS = 256
"""Pages that came once are known by a number, of which so many are kept: an agent at work meets fewer in between."""

_Key = tuple[str, str | None, bool, bytes]


class Familiar:
    """Reads pages, and keeps what it read of those that came twice. `kept_bytes` bounds it. Threads may share one: what
    they lose to each other is a page that is read once more, and never the count of what is kept.
    """

    __slots__ = ("_keeping", "_limits", "_marks", "_most", "_pages", "kept_bytes")

    def __init__(self, limits: PageLimits | None = None, *, most: int = _KEPT_BYTES) -> None:
        self._limits = limits or PageLimits()
        self._most = most
        self._pages: dict[_Key, Page] = {}
        self._marks: dict[int, None] = {}
        self._keeping = threading.Lock()
        self.kept_bytes = 0

    def read(self, fields: Fields, body: bytes, *, complete: bool) -> Page:
        """As `page.read`: the page, for this caller alone."""
        if not _LEAST <= len(body) <= _MOST:
            return read(fields, body, complete=complete, limits=self._limits)
        key = (fields.get("content-type") or "", fields.joined("content-encoding"), complete, body)
        kept = self._pages.get(key)
        if kept is not None:
            return kept.again()
        page = read(fields, body, complete=complete, limits=self._limits)
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
        weight = kept.weigh() + len(key[3])
        if weight > self._most // 4:
            return
        with self._keeping:
            if self._pages.setdefault(key, kept) is not kept:
                return  # another thread was quicker
            self.kept_bytes += weight
            while self.kept_bytes > self._most:
                oldest = next(iter(self._pages))
                self.kept_bytes -= self._pages.pop(oldest).weigh() + len(oldest[3])
