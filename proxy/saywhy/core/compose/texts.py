"""Raw values of a site through scrub, with one count of what was redacted on the way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from saywhy.core.scrub.clean import Clean
from saywhy.core.scrub.patterns import MARK

if TYPE_CHECKING:
    from saywhy.core.scrub import Scrubber

_MAX_URL = 2000
_URL_SIGNS = frozenset(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/?#[]@!$&'()*+,;=%"
)


class Texts:
    """One answer's texts on their way through scrub. `redactions` counts by kind, over all of them."""

    __slots__ = ("_scrubber", "redactions")

    def __init__(self, scrubber: Scrubber) -> None:
        self._scrubber = scrubber
        self.redactions: dict[str, int] = {}

    def text(self, raw: str | None, limit: int = 500) -> Clean | None:
        """`raw` cleaned; None where nothing is left."""
        if not raw:
            return None
        clean, counts = self._scrubber.clean_counted(raw, limit=limit)
        self._count(counts)
        return clean or None

    def exact(self, raw: str | None, limit: int) -> Clean | None:
        """`raw` where scrub finds nothing to change in it, else None: for words, names of scopes and addresses, which
        are wrong when they are altered.
        """
        clean = self.text(raw, limit)
        return clean if clean == raw else None

    def passes(self, raw: str) -> str:
        """`raw` where scrub leaves it alone, else "". Not counted: it is for what came from the caller."""
        return raw if raw and self._scrubber.is_clean(raw) else ""

    def texts(self, raw: Iterable[str], limit: int, most: int) -> tuple[Clean, ...] | None:
        """At most `most` of `raw`, exact; None where none is left."""
        found = tuple(clean for one in list(raw)[:most] if (clean := self.exact(one, limit)) is not None)
        # A secret with a blank in it comes as two: judged as they will be read, side by side.
        whole = (" ".join(found), ", ".join(found)) if len(found) > 1 else ()
        return found if found and all(map(self._scrubber.is_clean, whole)) else None

    def pointer(self, raw: str | None, limit: int) -> Clean | None:
        """A JSON Pointer as a fragment, exact; None where it, its segments or what they decode to is no mere name."""
        if not raw:
            return None
        whole = "#" + raw.removeprefix("#")
        return self.exact(whole, limit) if self._parts_pass(whole) else None

    def name(self, raw: str | None, limit: int) -> Clean | None:
        """The name of a field; None where scrub redacts in it: half a name is none."""
        clean = self.text(raw, limit)
        return None if clean is None or MARK in clean or not self._parts_pass(clean) else clean

    def _parts_pass(self, pointer: str) -> bool:
        """Whether scrub leaves every segment alone: what hides behind a slash may be a path of its own."""
        return all(map(self._scrubber.is_clean, pointer.split("/")))

    def url(self, raw: str | None, page: str) -> Clean | None:
        """An absolute http or https address without user-info, taken against `page` (absolute, or ""), else None."""
        if not raw or len(raw) > _MAX_URL or not _URL_SIGNS.issuperset(raw):
            return None
        try:
            absolute = urljoin(page, raw)
            parts = urlsplit(absolute)
        except ValueError:
            return None
        if parts.scheme not in ("http", "https") or not parts.netloc or "@" in parts.netloc:
            return None
        return self.exact(absolute, _MAX_URL)

    def value(self, raw: Any, max_bytes: int) -> Any:
        """A JSON value cleaned to its leaves and cut to about `max_bytes`."""
        clean, counts = self._scrubber.clean_json(raw, max_bytes=max_bytes)
        self._count(counts)
        return clean

    def mapping(self, raw: Mapping[str, Any] | None, max_bytes: int) -> dict[str, Any] | None:
        """As `value`, for an object; None where it is empty."""
        if not raw:
            return None
        clean = self.value(dict(raw), max_bytes)
        return clean if isinstance(clean, dict) and clean else None

    def _count(self, counts: Mapping[str, int]) -> None:
        for kind, count in counts.items():
            self.redactions[kind] = self.redactions.get(kind, 0) + count
