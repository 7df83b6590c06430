"""Answers, and requests, that leave together at the end of the loop's round. Measured with 64 busy callers: one answer at a
time wakes its reader in the middle of our work each time, and costs a sixth more CPU than a handful written one after
the other.
"""

from __future__ import annotations

import asyncio
from typing import Final

from saywhy.relay.intake import Intake

BATCH: Final = 64
"""So many wait for each other at most: about a millisecond of work where it is busy. With 32 it costs 5 % more CPU."""

SMALL_BYTES: Final = 16384
"""Larger ones go at once, so that what waits is bounded, and a slow caller is noticed as soon as it is."""


class Outbox:
    """Whose bytes wait. Each connection keeps its own bytes, and sends them itself before it closes."""

    __slots__ = ("_loop", "_waiting")

    def __init__(self) -> None:
        self._waiting: list[Outlet] = []
        self._loop: asyncio.AbstractEventLoop | None = None

    def add(self, outlet: Outlet) -> None:
        """`outlet` has something to send."""
        waiting = self._waiting
        if not waiting:
            if self._loop is None:
                self._loop = asyncio.get_running_loop()
            self._loop.call_soon(self.flush)
        waiting.append(outlet)
        if len(waiting) >= BATCH:
            self.flush()

    def flush(self) -> None:
        """Send all that waits."""
        waiting, self._waiting = self._waiting, []
        for outlet in waiting:
            outlet.flush()


class Outlet(Intake):
    """One connection as far as its bytes go: read until paused, what is said sent with what others say."""

    __slots__ = ("_outbox", "_unsent")

    def __init__(self, outbox: Outbox) -> None:
        super().__init__()
        self._outbox = outbox
        self._unsent = b""

    def say(self, data: bytes) -> None:
        """Send an answer, or the beginning of one, together with those of others."""
        if self._unsent or len(data) > SMALL_BYTES:
            self.write(data)
        else:
            self._unsent = data
            self._outbox.add(self)

    def write(self, data: bytes) -> None:
        """Send at once, after what was said before."""
        if self._unsent:
            self.flush()
        self.transport.write(data)

    def write_both(self, head: bytes, body: bytes | memoryview) -> None:
        """Send both at once, after what was said before. Joined they would be copied once more: 100 KB cost 5 us."""
        if self._unsent:
            self.flush()
        self.transport.writelines((head, body))

    def flush(self) -> None:
        """Send what was said. Whoever ends the connection does so first."""
        data, self._unsent = self._unsent, b""
        if data and not self.transport.is_closing():
            self.transport.write(data)
