"""Whether a site is there, seen from the connections that did or did not come to be; and the pause that it is left when
it is not.

Nothing else counts. A site that answers 5xx is there, and so is one that is slow: were a slow report to count, it would
take the whole shop away. With one address a pause can make a restart longer than it is, so it begins with a second, a
row of failures comes first, and one connection without a request in it finds out whether the site is back.
"""

from __future__ import annotations

import asyncio
import errno
import logging
from typing import Any, Final

from saywhy.edge.events import named
from saywhy.edge.seldom import Seldom
from saywhy.edge.settings import Upstream
from saywhy.relay.dial import is_hangup
from saywhy.relay.troubles import HUNG_UP, explain

_LOG: Final = logging.getLogger("saywhy.relay")

FIRST_SECONDS: Final = 1.0
WINDOW_SECONDS: Final = 60.0
"""A row of failures that took longer is none: with connections kept, few are made."""
_OURS: Final = frozenset(("connection_limit_reached", "proxy_internal_error"))
"""Failures that say nothing about the site."""
_OUR_ERRORS: Final = frozenset((errno.EADDRNOTAVAIL, errno.ENOBUFS, errno.ENOMEM))
"""The same, by number: this machine has no port left to call from, or no memory for a socket (connect(2))."""


class Breaker:
    """Closed, open until a time, or waiting for the one trial after it. Times are the loop's."""

    def __init__(self, failures: int, most_seconds: float) -> None:
        self._enough = failures
        self._most = most_seconds
        self._count = 0
        self._since = 0.0
        self._pause = FIRST_SECONDS
        self._until = 0.0
        self._trying = False
        self.openings = 0

    @property
    def is_open(self) -> bool:
        """Whether the site counts as away."""
        return self._until > 0

    @property
    def count(self) -> int:
        """Failures in a row."""
        return self._count

    def rest(self, now: float) -> float:
        """Seconds until a connection may be tried; 0: now."""
        if not self._until or (now >= self._until and not self._trying):
            return 0.0
        return max(self._until - now, FIRST_SECONDS)

    def trying(self) -> None:
        """A connection is tried. Where the site counts as away, it is the only one."""
        self._trying = self.is_open

    def failed(self, now: float) -> bool:
        """It did not come to be. Whether the site counts as away from now on."""
        if not self._enough:
            return False
        if self._until:
            self._count += 1
            if self._trying:
                self._trying = False
                self._pause = min(self._pause * 2, self._most)
                self._until = now + self._pause
            return False
        if not self._count or now - self._since > WINDOW_SECONDS:
            self._count, self._since = 0, now
        self._count += 1
        if self._count < self._enough:
            return False
        self._until = now + self._pause
        self.openings += 1
        return True

    def stood(self) -> bool:
        """It came to be. Whether the site counted as away until now."""
        was_open = self.is_open
        self._count, self._until, self._trying = 0, 0.0, False
        self._pause = FIRST_SECONDS
        return was_open

    def given_up(self) -> None:
        """It was not waited for; nothing is known."""
        self._trying = False


class Health(Breaker):
    """The breaker of the upstream `name`, telling the operator: the same sentence once in ten minutes. `path` is that
    of its Unix socket.
    """

    def __init__(self, name: str, upstream: Upstream, path: str = "") -> None:
        super().__init__(upstream.breaker_failures, upstream.breaker_seconds)
        self._name = name
        self._url = upstream.url
        self._path = path
        self._seldom = Seldom()
        self._since_open = 0.0

    def note(self, error: BaseException, token: str, now: float) -> bool:
        """A connection did not come to be. Whether the site counts as away from now on."""
        self.tell(error)
        if not isinstance(error, OSError | asyncio.CancelledError):
            _LOG.error(
                "A connection to upstream %s failed in saywhy itself.",
                self._name, exc_info=error, extra=self._event("upstream_failure"),
            )  # fmt: skip
        if token in _OURS or (isinstance(error, OSError) and error.errno in _OUR_ERRORS):
            self.given_up()
            return False
        opened = self.failed(now)
        if opened:
            self._since_open = now
            _LOG.warning(
                "Upstream %s (%s) is away: %d connections in a row failed, the last with %s. Callers get 503 at once until"
                " one stands again.",
                self._name, self._url, self.count, token,
                extra=self._event("upstream_away", failures=self.count, failure=token),
            )  # fmt: skip
        return opened

    def stands(self, now: float) -> None:
        """A connection came to be."""
        failures = self.count
        if self.stood():
            _LOG.warning(
                "Upstream %s (%s) is back after %.1f s and %d failed connections.",
                self._name, self._url, now - self._since_open, failures,
                extra=self._event("upstream_back", seconds=round(now - self._since_open, 1), failures=failures),
            )  # fmt: skip

    def tell(self, error: BaseException) -> None:
        """Say what is wrong and what to do, where it is more than a site that is not there."""
        sentence = HUNG_UP if is_hangup(error) else explain(error, self._path)
        if sentence and self._seldom.due(sentence):
            path = {"path": self._path} if self._path else {}
            _LOG.warning(
                "Upstream %s (%s): %s",
                self._name, self._url, sentence, extra=self._event("upstream_trouble", **path),
            )  # fmt: skip

    def _event(self, word: str, **about: Any) -> dict[str, Any]:
        return named(word, upstream=self._name, url=self._url, **about)
