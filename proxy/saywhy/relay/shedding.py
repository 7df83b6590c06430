"""Callers who do not take what they asked for: what waits for all of them together has a bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from saywhy.relay.downstream import Downstream

SEGMENT_BYTES: Final = 256_000
"""The most that uvloop reads at once. A slow caller keeps that much, whole until its last byte is sent, on top of
`stream_buffer_bytes`.
"""


class SlowCallers:
    """Those whose connection takes no more, in the order in which they became so. Whoever keeps up again, however
    slowly, is out of it; what stays at the front takes nothing, or next to it.
    """

    __slots__ = ("_most", "_slow")

    def __init__(self, most_bytes: int, stream_buffer_bytes: int) -> None:
        self._most = max(1, most_bytes // (SEGMENT_BYTES + stream_buffer_bytes))
        self._slow: dict[Downstream, None] = {}

    def add(self, down: Downstream) -> None:
        """`down` takes no more. Are there too many now, the one goes that has been slow for longest."""
        self._slow[down] = None
        if len(self._slow) > self._most:
            longest = next(iter(self._slow))
            del self._slow[longest]
            longest.abort()

    def discard(self, down: Downstream) -> None:
        """`down` keeps up again, or is gone."""
        self._slow.pop(down, None)

    def __len__(self) -> int:
        return len(self._slow)
