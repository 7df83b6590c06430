"""How long a kept connection to a site may be idle before it is likely to be closed under the next request.

A site closes what was idle for too long, and the request that is on its way then is lost. GET and the like are sent once
more (RFC 9110 9.2.2), POST never: for those a connection near its end is not used.
"""

from __future__ import annotations

from typing import Final

from saywhy.relay.lines import CRLF

_SAFE_SHARE: Final = 0.8
"""So much of a site's own time is used: the rest is for the way there, and for what loaded machines take longer."""


class Keeping:
    """What is known of a site's patience. `most` is ours, in seconds."""

    __slots__ = ("_seen", "most")

    def __init__(self, most: float) -> None:
        self.most = most
        self._seen = float("inf")

    def announced(self, raw: bytes) -> float:
        """How long the connection on which the head `raw` came may be idle: `Keep-Alive: timeout=N` (RFC 2068 19.7.1.1,
        as Apache, Node and nginx send it), less a margin.
        """
        for line in raw.split(CRLF):
            name, _, value = line.partition(b":")
            if name.lower() == b"keep-alive":
                for part in value.lower().split(b","):
                    word, _, number = part.partition(b"=")
                    seconds = number.strip()
                    if word.strip() == b"timeout" and seconds.isdigit() and len(seconds) < 10:
                        return min(self.most, int(seconds) * _SAFE_SHARE)
        return self.most

    def closed_after(self, idle: float) -> None:
        """The site closed a connection that had been idle for `idle` seconds."""
        self._seen = min(self._seen, idle)

    def outlived(self, idle: float) -> None:
        """A connection is open after `idle` seconds: so long the site does wait. It closed others for another reason."""
        if idle > self._seen:
            self._seen = idle

    def is_fresh(self, idle: float) -> bool:
        """Whether a request that cannot be sent twice may go on a connection that was idle for `idle` seconds."""
        return idle < self._seen * _SAFE_SHARE
