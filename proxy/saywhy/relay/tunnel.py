"""After a 101: two transports, bytes across, nothing read into them (RFC 9110 7.8)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import cast


class TunnelEnd(asyncio.Protocol):
    """One end. What it receives goes to `peer`; a half-close is passed on where the transport can."""

    __slots__ = ("_over", "ended", "moved", "paused", "peer", "transport")

    def __init__(self, transport: asyncio.Transport, over: Callable[[], None]) -> None:
        self.transport = transport
        self._over = over
        self.peer: TunnelEnd = self
        self.moved = 0
        self.ended = False  # has said all it will
        self.paused = False  # is not read, because the other end does not keep up

    @property
    def descriptor(self) -> int:
        """The socket's number, -1 where there is none any more."""
        raw = self.transport.get_extra_info("socket")
        return -1 if raw is None or self.transport.is_closing() else int(raw.fileno())

    def data_received(self, data: bytes) -> None:
        """Bytes for the other end."""
        self.moved += len(data)
        self.peer.transport.write(data)

    def eof_received(self) -> bool:
        """This end has said all; the other may go on where it can be told, and where it has not said all either. TLS
        cannot tell one side's end from both sides' (asyncio closes then).
        """
        self.ended = True
        other = self.peer
        ends = (self.transport, other.transport)
        if other.ended or other.transport.is_closing() or not all(end.can_write_eof() for end in ends):
            return False
        other.transport.write_eof()
        return True

    def pause_writing(self) -> None:
        """This end does not keep up."""
        self.peer.paused = True
        self.peer.transport.pause_reading()

    def resume_writing(self) -> None:
        """This end keeps up again."""
        self.peer.paused = False
        if not self.peer.transport.is_closing():
            self.peer.transport.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        """One end gone: the other follows, once what it is owed is sent."""
        self.peer.transport.close()
        self._over()


class Tunnel:
    """Two ends, and a deadline that every look of the sweep renews when bytes moved since the last one."""

    __slots__ = ("_down", "_finish", "_idle", "_open", "_seen", "_up", "deadline")

    def __init__(
        self,
        caller: asyncio.BaseTransport,
        site: asyncio.BaseTransport,
        idle_seconds: float,
        now: float,
        finish: Callable[[int, int], None],
    ) -> None:
        self._idle = idle_seconds
        self._finish = finish
        self._seen = 0
        self._open = True
        self.deadline = now + idle_seconds
        self._down = TunnelEnd(cast(asyncio.Transport, caller), self._over)
        self._up = TunnelEnd(cast(asyncio.Transport, site), self._over)
        self._down.peer, self._up.peer = self._up, self._down
        self._down.transport.set_protocol(self._down)
        self._up.transport.set_protocol(self._up)

    def unread(self) -> list[int]:
        """The sockets' numbers of ends that are not read, because the other one does not keep up."""
        return [end.descriptor for end in (self._down, self._up) if end.paused]

    def check(self, now: float) -> None:
        """Close the tunnel where no byte has moved for too long."""
        moved = self._down.moved + self._up.moved
        if moved != self._seen:
            self._seen = moved
            self.deadline = now + self._idle
        elif self.deadline < now:
            self.abort()

    def abort(self) -> None:
        """Close both ends now."""
        self._down.transport.abort()
        self._up.transport.abort()

    def _over(self) -> None:
        if self._open:
            self._open = False
            self._finish(self._down.moved, self._up.moved)
