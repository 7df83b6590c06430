"""All deadlines in one sweep: whoever waits writes the time at which it has waited too long into its `deadline`, and
one timer looks at everybody a few times a second. A timer a request would cost more than the request.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from saywhy.edge.settings import Deadlines

NEVER = float("inf")


class Sweep:
    """The timer. `now` is the loop's time at the last tick: good enough to set deadlines from, and free to read.
    `wall` plus a `time.perf_counter()` is Unix time, for the record: one clock is read an exchange, not two.

    Deadlines are late by at most two ticks; a tick is an eighth of the shortest deadline, between 20 ms and 500 ms.
    """

    __slots__ = ("_handle", "_look", "_loop", "now", "tick", "wall")

    def __init__(self, deadlines: Deadlines, look: Callable[[float], None]) -> None:
        shortest = min(
            deadlines.connect_seconds,
            deadlines.first_byte_seconds,
            deadlines.idle_seconds,
            deadlines.hold_seconds,
            deadlines.peek_seconds
            * 2,  # a finer tick would cost ten thousand idle callers more than it gives
            deadlines.tunnel_idle_seconds,
            deadlines.request_head_seconds,
            deadlines.caller_keepalive_seconds,
            deadlines.upstream_keepalive_seconds,
        )
        self.tick = min(0.5, max(0.02, shortest / 8))
        self.now = 0.0
        self.wall = time.time() - time.perf_counter()
        self._look = look
        self._loop: asyncio.AbstractEventLoop | None = None
        self._handle: asyncio.TimerHandle | None = None

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begin to tick, if it does not yet."""
        if self._handle is None:
            self._loop = loop
            self.now = loop.time()
            self._handle = loop.call_later(self.tick, self._run)

    def stop(self) -> None:
        """No more ticks."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _run(self) -> None:
        assert self._loop is not None
        self.now = self._loop.time()
        self.wall = time.time() - time.perf_counter()  # anew each time: the wall's clock may be set
        self._handle = self._loop.call_later(self.tick, self._run)
        self._look(self.now)
