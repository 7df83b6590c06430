"""How a caller's connection ends: after its last answer, in the middle of one, or while nothing is owed to it."""

from __future__ import annotations

import socket
import struct
from typing import TYPE_CHECKING, Final

from saywhy.relay.framing import request_framing
from saywhy.relay.hold import Share
from saywhy.relay.outbox import Outlet

if TYPE_CHECKING:
    from saywhy.relay.exchange import Exchange
    from saywhy.relay.relay import Relay

_LINGER_SECONDS: Final = 2.0
"""How long a caller that is still sending may go on before it is cut off: an early answer must reach it first."""

_HARD: Final = struct.pack("ii", 1, 0)


class Parting(Outlet):
    """A caller's connection as far as its end goes. `exchange` is the one being answered; what is read ahead of it waits
    in `_ahead`.
    """

    __slots__ = ("_ahead", "_closing", "_framing", "_owed", "_share", "deadline", "exchange", "relay")

    def __init__(self, relay: Relay) -> None:
        super().__init__(relay.outbox)
        self.relay = relay
        self.exchange: Exchange | None = None
        self._framing = request_framing()
        self._ahead = bytearray()
        self._share = Share(relay.waiting)
        self._closing = False
        self._owed = 0  # bytes of the last answer that were still unsent when the sweep looked
        self.deadline = 0.0

    @property
    def is_idle(self) -> bool:
        """Whether nothing is owed to the caller: no request has begun, not even unread ones."""
        return self.exchange is None and bytes(self._ahead) in (b"", b"\r") and not self.unread

    def _take_ahead(self) -> bytes:
        data = bytes(self._ahead)
        self._ahead.clear()
        self._share.set(0)
        return data

    def drop(self, *, hard: bool) -> None:
        """Cut the caller off in the middle of an answer; `hard`: by a reset, where a plain end would look complete."""
        if self.exchange is not None:
            self.exchange = None
            self.relay.inflight -= 1
        self._closing = True
        self.flush()
        if hard:
            raw = self.transport.get_extra_info("socket")
            if raw is not None and raw.family in (socket.AF_INET, socket.AF_INET6):
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _HARD)
            self.transport.abort()
        else:
            self._part()

    def _part(self) -> None:
        """Close as soon as what was said is sent, to a caller that may be slow."""
        self._closing = True
        self.transport.close()
        self.deadline = self.relay.sweep.now + self.relay.wait_idle

    def _is_still_taking(self) -> bool:
        """Whether the caller is slow but not stuck: it has taken some of the last answer since this was asked last."""
        owed = self.transport.get_write_buffer_size()
        taking = 0 < owed != self._owed
        self._owed = owed
        return taking

    def _close(self) -> None:
        """Close once everything is sent. To a caller that is still sending, a plain close would be a reset that may
        overtake the answer (RFC 9112 9.6): half-close, read on for a moment, then close.
        """
        self._closing = True
        self.flush()
        unread = bool(self._ahead) or self._paused or not self._framing.done
        self._take_ahead()
        if unread and self.transport.can_write_eof() and not self.transport.is_closing():
            self.resume()
            self.transport.write_eof()
            self.deadline = self.relay.sweep.now + _LINGER_SECONDS
        else:
            self._part()

    def close(self) -> None:
        """Close an idle connection; one in the middle of a request or an answer goes on (and closes after it)."""
        if self.is_idle:
            self.flush()
            self._part()

    def abort(self) -> None:
        """Close now."""
        self.transport.abort()
