"""The caller's side: one connection of a caller, its requests answered in order, one at a time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

from saywhy.relay.exchange import Exchange
from saywhy.relay.facts import Facts, facts_of, read_again
from saywhy.relay.forwarded import Peer
from saywhy.relay.head import RequestHead, read_request
from saywhy.relay.lines import CRLF, HEAD_END, TLS_HANDSHAKE, BadHead
from saywhy.relay.parting import Parting
from saywhy.relay.refusal import refusal

if TYPE_CHECKING:
    from saywhy.relay.pinned import Pins
    from saywhy.relay.relay import Relay


class Downstream(Parting, asyncio.Protocol):
    """One caller's connection. `exchange` is the one being answered; what is read ahead of it waits in `_ahead`."""

    __slots__ = ("_facts", "_pumping", "_searched", "fresh", "peer", "pins", "slow")

    def __init__(self, relay: Relay) -> None:
        super().__init__(relay)
        self._facts: Facts | None = None
        self._searched = 0
        self._pumping = False
        self.slow = False
        self.fresh = True  # has sent no request yet
        self.pins: Pins | None = None
        self.peer: Peer = cast(Peer, None)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A caller connects."""
        self.transport = cast(asyncio.Transport, transport)
        name = transport.get_extra_info("peername")
        tls = transport.get_extra_info("ssl_object") is not None
        self.peer = self.relay.onward.peer(str(name[0]) if isinstance(name, tuple) else "", tls)
        self.transport.set_write_buffer_limits(high=self.relay.limits.stream_buffer_bytes)
        self.relay.joined(self)
        self.deadline = self.relay.sweep.now + self.relay.wait_keepalive

    def data_received(self, data: bytes) -> None:
        """A segment of the caller's."""
        exchange = self.exchange
        if exchange is None:
            if self._closing:
                return
            facts = self._facts
            if self.slow:
                self._read_ahead(data)
            elif self._ahead:
                self._more_of_a_head(data)
            elif facts is not None and (
                head := read_again(data, facts, self.relay.limits, trusted=self.peer.trusted)
            ):
                self._begin(head, b"")  # llhttp has seen its fields on this connection
            elif 0 < data.find(HEAD_END) == len(data) - 4 < self.relay.head_bytes - 3 and data[0] > 32:
                self._request(data, 0, len(data))  # the usual request: one head, one segment, nothing else
            else:
                self._pump(data)
        elif self._framing.done:
            self._read_ahead(data)
        else:
            try:
                stop = self._framing.take(data)
            except BadHead:
                exchange.fail("http_request_error")  # nothing of this segment has been sent on
                return
            if stop < len(data):
                self._read_ahead(data[stop:])
                data = data[:stop]
            exchange.body(data, self._framing.done)

    def _read_ahead(self, data: bytes) -> None:
        """Pipelined requests (RFC 9112 9.3.2) wait, a bounded number of them: then the caller does."""
        self._ahead += data
        if not self._share.set(len(self._ahead)):
            self._forget_ahead()
        elif self._is_far_ahead():
            self.pause()

    def _forget_ahead(self) -> None:
        """All callers together sent too much ahead. Whoever pipelines must be ready to ask again on another connection
        (RFC 9112 9.3.2): this one closes after the answer that is under way.
        """
        self._take_ahead()
        self._closing = True
        self.pause()

    def _is_far_ahead(self) -> bool:
        limits = self.relay.limits
        return len(self._ahead) > limits.head_bytes or self._ahead.count(HEAD_END) > limits.pipelined_requests

    def resume(self) -> None:
        """Read on, unless the caller is far ahead: each answer would let another segment in, for one request taken."""
        if self._paused and not self._is_far_ahead():
            super().resume()

    def _more_of_a_head(self, data: bytes) -> None:
        if self._ahead == b"\r":
            self._ahead.clear()
            self._pump(b"\r" + data)
            return
        self._ahead += data
        since = max(0, self._searched - 3)
        if self._ahead.find(HEAD_END, since) < 0:
            self._searched = len(self._ahead)
            if len(self._ahead) > self.relay.limits.head_bytes:
                self._refuse_unread("head_too_large")
            elif _ends_barely(self._ahead, since):
                self._refuse_unread("http_request_error")
            elif not self._share.set(len(self._ahead)):
                self._refuse_unread("too_many_waiting")
            return
        self._pump(self._take_ahead())

    def _pump(self, data: bytes) -> None:
        """Take requests off `data` until one is in flight; what is left waits."""
        if self._pumping:
            self._ahead += data
            return
        self._pumping = True
        at = 0
        size = len(data)
        while at < size and self.exchange is None and not self._closing and not self.slow:
            end = data.find(HEAD_END, at)
            if data[at] in b"\r\n":
                # RFC 9112 2.2: empty lines before a request line are skipped. A bare LF or CR is no line end here.
                if data.startswith(CRLF, at):
                    at += 2
                    continue
                if data[at:] == b"\r":  # its LF may be in the next segment
                    break
                self._refuse_unread("http_request_error")
                break
            if end < 0 or end - at > self.relay.limits.head_bytes:
                self._partial(data[at:], end >= 0)
                at = size
                break
            at = self._request(data, at, end + 4)
        if at < size and not self._closing:
            self._ahead[:0] = data[at:]
            if not self._share.set(len(self._ahead)):
                self._forget_ahead()
        self._pumping = False

    def _partial(self, data: bytes, whole: bool) -> None:
        if whole or len(data) > self.relay.limits.head_bytes:
            self._refuse_unread("head_too_large")
        elif not data[:1].isalpha() or _ends_barely(data, 0):
            if data[0] == TLS_HANDSHAKE:
                self.relay.spoken_to_in_tls(self.transport)
            self._refuse_unread("http_request_error")  # no method begins so: TLS to a plain port, or noise
        else:
            if not self._ahead:
                self.deadline = self.relay.sweep.now + self.relay.wait_head
            self._ahead += data
            self._searched = len(self._ahead)
            if not self._share.set(len(self._ahead)):
                self._refuse_unread("too_many_waiting")

    def _request(self, data: bytes, start: int, end: int) -> int:
        """One request out of `data`; the offset where its part of `data` ends."""
        relay = self.relay
        raw = data[start:end] if start or end < len(data) else data
        try:
            head = read_request(raw, relay.onward.names, relay.limits, trusted=self.peer.trusted)
            if start:
                data = data[start:]
            size = end - start
            stop = self._framing.begin(data, size, head.kind, head.length, shown=head.shown)
        except BadHead as bad:
            self._refuse(raw, bad.token)
            return end
        self._facts = head.facts = facts_of(head)
        self._begin(head, data[size:stop] if stop > size else b"")
        return start + stop

    def _begin(self, head: RequestHead, piece: bytes) -> None:
        relay = self.relay
        relay.requests_count += 1
        relay.inflight += 1
        self.fresh = False
        exchange = self.exchange = Exchange(self, head, piece, self._framing.done)
        exchange.begin()

    def finished(self, keep: bool) -> None:
        """The exchange is over; go on with the next request, or close."""
        self.exchange = None
        relay = self.relay
        relay.inflight -= 1
        if not keep or self._closing:
            self._close()
            return
        self.deadline = relay.sweep.now + relay.wait_keepalive
        if self.slow:  # the next request waits until this answer is taken: nothing else bounds what piles up
            self.pause()
        else:
            self._go_on()

    def _go_on(self) -> None:
        """With the next request, where one has come."""
        if self._ahead and not self._pumping:
            data = self._take_ahead()
            waited = self._paused
            self.resume()
            self._pump(data)
            if waited and self.exchange is not None and self._is_far_ahead():
                self.pause()
        elif self._paused:
            self.resume()

    def hand_over(self) -> bytes:
        """This connection becomes a tunnel's; what the caller sent ahead is returned."""
        self.flush()
        self.exchange = None
        self.relay.inflight -= 1
        self._leave()
        self.relay.slow.discard(self)
        first = self._take_ahead()
        self.resume()
        return first

    def _refuse_unread(self, token: str) -> None:
        self._take_ahead()
        self._refuse(b"", token)

    def _refuse(self, raw: bytes, token: str) -> None:
        """Answer a request that could not be read, and close: nobody knows where the next one would begin."""
        self.relay.requests_count += 1
        answer, outcome = refusal(raw, token, self.relay, self.peer.scheme)
        self.write(answer)
        self.relay.recorder.record(outcome)
        self._framing.done = False
        self._close()

    def check(self, now: float) -> None:
        """The sweep looks at this connection."""
        if self.exchange is not None:
            if self.exchange.deadline < now:
                self.exchange.overdue(now)
        elif self.deadline < now:
            if self._is_still_taking():
                self.deadline = now + self.relay.wait_idle
            elif self._ahead and not self._closing:
                self._refuse_unread("request_timeout")
            elif self._closing:
                self.transport.abort()
            else:
                self._part()

    def pause_writing(self) -> None:
        """The caller does not keep up: the site has to wait."""
        self.slow = True
        if self.exchange is not None:
            self.exchange.caller_is_slow()
        else:
            self.pause()
        self.relay.slow.add(self)

    def resume_writing(self) -> None:
        """The caller keeps up again."""
        self.slow = False
        self.relay.slow.discard(self)
        if self.exchange is not None:
            self.exchange.caller_keeps_up()
        elif not self._closing:
            self._go_on()

    def eof_received(self) -> None:
        """The caller has closed its side, which here means that it left (as it does to nginx): the transport closes."""
        if self.exchange is not None:
            self.transport.abort()
        else:
            self.flush()

    def connection_lost(self, exc: Exception | None) -> None:
        """Gone: so is the reason for whatever was under way."""
        self._leave()
        self._closing = True
        self._take_ahead()
        if self.slow:
            self.relay.slow.discard(self)
        exchange, self.exchange = self.exchange, None
        if exchange is not None:
            self.relay.inflight -= 1
            exchange.caller_left()

    def _leave(self) -> None:
        self.relay.left(self)
        if self.pins is not None:
            self.pins.close()


def _ends_barely(data: bytes | bytearray, since: int) -> bool:
    """Whether a head ends with bare LF: from callers it is refused (RFC 9112 2.2 allows it), and at once."""
    return data.find(b"\n\n", since) >= 0 or data.find(b"\n\r\n", since) >= 0
