"""A loop that turns when told to, and wires that hold bytes until they are delivered."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import Any

MOST_TURNS = 10_000


class Handle:
    """What `call_later` gives; nothing is ever due by itself."""

    def cancel(self) -> None:
        """Nothing to cancel."""


class Dial:
    """Stands where the pool keeps the task that dials."""

    def __init__(self) -> None:
        self.error: Exception | None = None

    def cancelled(self) -> bool:
        """Never."""
        return False

    def cancel(self) -> None:
        """Nothing runs."""

    def exception(self) -> Exception | None:
        """How it ended."""
        return self.error


class Loop:
    """As much of an event loop as the relay asks of the running one."""

    def __init__(self) -> None:
        self.soon: deque[tuple[Callable[..., object], tuple[Any, ...]]] = deque()
        self.ahead = 0.0

    def call_soon(self, callback: Callable[..., object], *arguments: Any) -> Handle:
        """Run it in the next turn."""
        self.soon.append((callback, arguments))
        return Handle()

    def call_later(self, delay: float, callback: Callable[..., object], *arguments: Any) -> Handle:
        """Deadlines are looked at when a target says so."""
        return Handle()

    def time(self) -> float:
        """The clock, and what a target has let pass."""
        return time.monotonic() + self.ahead

    def create_task(self, work: Any, **_: Any) -> Any:
        """No task is ever begun: what the relay does in tasks (dialling, names) a stage plays."""
        work.close()
        return Dial()

    def turn(self) -> None:
        """One round."""
        for _ in range(len(self.soon)):
            callback, arguments = self.soon.popleft()
            callback(*arguments)

    def settle(self) -> None:
        """Turn until nothing is left to do."""
        for _ in range(MOST_TURNS):
            if not self.soon:
                return
            self.turn()
        raise AssertionError("the loop never comes to rest")


class Wire(asyncio.Transport):
    """One end of a connection: `said` is what the relay wrote, `coming` what it has not read yet, b"" being the end.

    While `stalled`, nobody takes what the relay writes.
    """

    def __init__(self, loop: Loop, protocol: Any, *, bare: bool) -> None:
        super().__init__({"peername": ("127.0.0.1", 4711), "ssl_object": None if bare else self})
        self.loop = loop
        self.protocol = protocol
        self.said = bytearray()
        self.coming: deque[bytes] = deque()
        self.stalled = False
        self.closed = False  # no more is read or written
        self.ended = False  # the relay says no more
        self.lost = False
        self.aborted = False  # by the relay: the other end sees a reset
        self._kept = 0
        self._high = 65536
        self._waiting = False  # the relay was asked to write no more
        self._reading = True

    # The relay's side.

    def write(self, data: Any) -> None:
        if self.closed:
            return
        self.said += data
        if self.stalled:
            self._kept += len(data)
            if self._kept > self._high and not self._waiting:
                self._waiting = True
                self.protocol.pause_writing()

    def writelines(self, pieces: Any) -> None:
        self.write(b"".join(pieces))

    def write_eof(self) -> None:
        self.ended = True

    def can_write_eof(self) -> bool:
        return True

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            if not self._kept:
                self.loop.call_soon(self._lose, None)

    def abort(self) -> None:
        self.aborted = self.aborted or not self.closed
        self.closed = True
        self._kept = 0
        self.loop.call_soon(self._lose, None)

    def _lose(self, exc: Exception | None) -> None:
        if not self.lost:
            self.lost = True
            self.protocol.connection_lost(exc)

    def pause_reading(self) -> None:
        self._reading = False

    def resume_reading(self) -> None:
        self._reading = True

    def is_reading(self) -> bool:
        return self._reading

    def set_protocol(self, protocol: Any) -> None:
        self.protocol = protocol

    def get_protocol(self) -> Any:
        return self.protocol

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._high = high or 0

    def get_write_buffer_size(self) -> int:
        return self._kept

    # The world's side.

    def deliver(self, most: int = 1 << 20) -> bool:
        """Let the relay read a segment of at most so many bytes; whether there was one."""
        if not self._reading or self.closed or not self.coming:
            return False
        piece = self.coming.popleft()
        if not piece:
            if not self.protocol.eof_received():
                self.close()
            return True
        if len(piece) > most:
            self.coming.appendleft(piece[most:])
        self.protocol.data_received(piece[:most])
        return True

    def reset(self) -> None:
        """The other end resets."""
        if not self.closed:
            self.closed = True
            self.coming.clear()
            self._kept = 0
            self.loop.call_soon(self._lose, ConnectionResetError())

    def flow(self) -> None:
        """The other end takes all that was written."""
        self.stalled = False
        self._kept = 0
        if self.closed:
            if not self.lost:
                self.loop.call_soon(self._lose, None)
        elif self._waiting:
            self._waiting = False
            self.protocol.resume_writing()
