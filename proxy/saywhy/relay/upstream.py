"""The site's side: one connection to a site, at most one exchange at a time."""

from __future__ import annotations

import asyncio
import contextlib
import os
import ssl
from typing import TYPE_CHECKING, Final, cast

from saywhy.relay.asking import Asking
from saywhy.relay.dial import is_alert
from saywhy.relay.framing import response_framing
from saywhy.relay.lines import HEAD_END, LENGTH, BadHead
from saywhy.relay.outbox import SMALL_BYTES, Outbox
from saywhy.relay.reply import BROKEN, TOO_LARGE, ResponseHead, bare_end, mended, read_response, tidied

if TYPE_CHECKING:
    from saywhy.relay.exchange import Exchange
    from saywhy.relay.names import Address
    from saywhy.relay.pinned import Pin
    from saywhy.relay.pool import Pool

_REMEMBERED_BYTES: Final = 2048
"""Of the last head: while it comes again (the same page within a second, where the site dates it), it need not be read
again, which saves 3 of 30 microseconds. A thousand connections remember 5 MB at most.
"""

_SPILL_LIMIT: Final = 262144
"""How much of a body that nobody wants is read to keep its connection: about what a new connection costs."""


class Upstream(Asking, asyncio.Protocol):
    """One connection to a site, and the answers that come from it."""

    __slots__ = (
        "_begun", "_buffer", "_eof", "_framing", "_head_bytes", "_keep", "_known", "_pool", "_spill", "address",
        "deadline", "kept_for", "slow",
    )  # fmt: skip

    def __init__(self, pool: Pool, outbox: Outbox, address: Address | None = None) -> None:
        super().__init__(outbox)
        self._pool: Pool | Pin = pool
        self.address = address
        self.kept_for = -1.0  # seconds that it may be idle; not known before its first answer, 0 for none
        self._head_bytes = pool.limits.head_bytes
        self._framing = response_framing()
        self._buffer: bytearray | None = None
        self._begun = False  # the final head of the current answer is through
        self._eof = False
        self._keep = False
        self._known: ResponseHead | None = None
        self._spill = 0
        self.slow = False  # the site does not take what we send
        self.deadline = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection stands: hand it to whoever waits."""
        self.transport = cast(asyncio.Transport, transport)
        self.transport.set_write_buffer_limits(high=self._pool.limits.stream_buffer_bytes)
        if transport.get_extra_info("ssl_object") is None:
            self._fd = transport.get_extra_info("socket").fileno()
        self._pool.arrived(self)

    def belongs_to(self, pin: Pin) -> None:
        """From now on one caller's, and nobody else's."""
        self._pool = pin

    @property
    def spilling(self) -> bool:
        """Whether the rest of an answer that nobody wants is being read."""
        return self._spill > 0

    def data_received(self, data: bytes) -> None:
        """A segment of the site's."""
        exchange = self.exchange
        if exchange is None:
            self._unasked(data)
        elif self._begun:
            self._take_body(exchange, data)
        elif self._unsent:
            self._too_early(data)
        elif (
            (known := self._known) is not None
            and data.startswith(known.raw)
            and self._buffer is None
            and exchange.head.method != b"HEAD"
        ):
            end = known.size
            self._answer(exchange, known, data, end, self._framing.begin_again(data, end, known.length))
        else:
            self._read_head(exchange, data)

    def _take_body(self, exchange: Exchange, data: bytes) -> None:
        framing = self._framing
        try:
            stop = framing.take(data)
        except BadHead:
            self._broken(exchange, BROKEN)
            return
        done = framing.done
        exchange.piece(data if stop == len(data) else data[:stop], done)
        if done and self.exchange is exchange:
            self._end(exchange, stop < len(data))

    def _too_early(self, data: bytes) -> None:
        """Bytes of the site's before the request was sent. On a new connection it may be that it refuses to serve us."""
        if self.reused:
            self.give_back()
        else:
            self.flush()
            self.data_received(data)

    def _read_head(self, exchange: Exchange, data: bytes) -> None:
        if self._buffer is not None:
            self._buffer += data
            data = bytes(self._buffer)
            self._buffer = None
        while True:
            end = data.find(HEAD_END)
            if end > self._head_bytes:
                self._broken(exchange, TOO_LARGE)
                return
            if end < 0:
                self._partial(exchange, data)
                return
            rest = self._take_head(exchange, data, end + 4)
            if rest is None:
                return
            data = rest  # an interim answer is through; more may follow

    def _partial(self, exchange: Exchange, data: bytes) -> None:
        bare = bare_end(data)
        if bare:
            self._read_head(exchange, tidied(data[:bare]) + data[bare:])
        elif len(data) > self._head_bytes:
            self._broken(exchange, TOO_LARGE)
        elif data and not b"HTTP/1.".startswith(data[:7]):
            self._broken(exchange, BROKEN)
        elif data:
            self._buffer = bytearray(data)

    def _take_head(self, exchange: Exchange, data: bytes, end: int) -> bytes | None:
        """One head, and what came of its body. What follows an interim answer is returned, else None."""
        bodyless = exchange.head.method == b"HEAD"
        try:
            reply = read_response(data[:end], self._pool.limits, bodyless=bodyless)
            stop = self._framing.begin(data, end, reply.kind, reply.length, bodyless=bodyless)
        except BadHead as bad:
            fixed = mended(data, end)
            if fixed is not None and fixed != data:
                self._framing = response_framing()
                return fixed
            self._broken(exchange, TOO_LARGE if bad.token == TOO_LARGE else BROKEN)
            return None
        if reply.status < 200:
            if reply.status == 101:
                exchange.switched(self, reply, data[stop:])
                return None
            exchange.interim(reply)
            return data[stop:] if self.exchange is exchange else None
        if reply.kind == LENGTH and end <= _REMEMBERED_BYTES:
            self._known = reply
        self._answer(exchange, reply, data, end, stop)
        return None

    def _answer(self, exchange: Exchange, reply: ResponseHead, data: bytes, end: int, stop: int) -> None:
        """A final head, and the body's beginning from `end` to `stop`."""
        self._begun = True
        self._keep = reply.keep
        if self.kept_for < 0:
            self.kept_for = self._pool.keeping.announced(reply.raw)
        done = self._framing.done
        piece = data[end:stop] if stop - end <= SMALL_BYTES else memoryview(data)[end:stop]
        exchange.reply(reply, piece, done)
        if done and self.exchange is exchange:
            self._end(exchange, stop < len(data))

    def _end(self, exchange: Exchange, extra: bool) -> None:
        """The answer is complete. Bytes beyond it belong to nobody: they cost the site its connection."""
        self.exchange = None
        self._settle(extra or not exchange.request_done)
        exchange.end()

    def _settle(self, spoilt: bool) -> None:
        self._begun = False
        self._spill = 0
        self.reused = True  # from now on
        if spoilt or not self._keep or self.transport.is_closing():
            self.close()
        else:
            if self._paused:
                self.resume()
            self._pool.release(self)

    def let_go(self) -> None:
        """The exchange needs no more of this unfinished answer: read a bounded rest of it, or close."""
        exchange, self.exchange = self.exchange, None
        if self._keep and exchange is not None and exchange.request_done:
            self._spill = _SPILL_LIMIT
            self.deadline = self._pool.spill_deadline()
            self.resume()
        else:
            self.abort()

    def _unasked(self, data: bytes) -> None:
        if not self._spill:
            self.abort()
            return
        try:
            stop = self._framing.take(data)
        except BadHead:
            self.abort()
            return
        self._spill -= stop
        if self._framing.done:
            self._settle(stop < len(data))
        elif self._spill <= 0:
            self.abort()

    def _broken(self, exchange: Exchange, token: str) -> None:
        self.exchange = None
        self.abort()
        exchange.broken(token)

    def pause_writing(self) -> None:
        """The site does not keep up: the caller has to wait."""
        self.slow = True
        if self.exchange is not None:
            self.exchange.site_is_slow()

    def resume_writing(self) -> None:
        """The site keeps up again."""
        self.slow = False
        if self.exchange is not None:
            self.exchange.site_keeps_up()

    def eof_received(self) -> None:
        """The site has said all it will: the transport closes."""
        self._eof = True

    def connection_lost(self, exc: Exception | None) -> None:
        """Gone, for whatever reason."""
        if exc is not None and self._fd >= 0:
            self._read_what_is_there()
        unsent, self._unsent = self._unsent, b""
        exchange, self.exchange = self.exchange, None
        self._pool.lost(self, exc)
        if exchange is not None and unsent and self.reused:
            exchange.not_sent()
        elif exchange is not None:
            alert = isinstance(exc, ssl.SSLError) and is_alert(exc)
            exchange.site_left(clean=self._eof and exc is None, begun=self._buffer is not None, alert=alert)

    def _read_what_is_there(self) -> None:
        """A site that answers an upload early may reset what we go on to send, and writing fails before its answer is
        read. The kernel keeps what came before a reset, and the socket is open until connection_lost returns.
        """
        left = self._head_bytes + _SPILL_LIMIT
        with contextlib.suppress(OSError):
            while self.exchange is not None and left > 0 and (data := os.read(self._fd, 65536)):
                left -= len(data)
                self.data_received(data)
