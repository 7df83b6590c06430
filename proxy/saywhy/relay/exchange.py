"""One exchange, as the two connections, the pool and the sweep see it: what each of them may say, and what follows."""

from __future__ import annotations

from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Final

from saywhy.relay.again import may_retry
from saywhy.relay.answering import Answering
from saywhy.relay.hold import Share
from saywhy.relay.lines import CHUNKED, CLOSE
from saywhy.relay.outbox import SMALL_BYTES
from saywhy.relay.pinned import Pins
from saywhy.relay.tunnel import Tunnel

if TYPE_CHECKING:
    from saywhy.relay.reply import ResponseHead
    from saywhy.relay.upstream import Upstream

_MOST_INTERIMS: Final = 16


class Exchange(Answering):
    """One exchange, from a whole request head to the last byte of its answer.

    The caller's connection calls begin, body, caller_left, caller_is_slow and caller_keeps_up; the pool attach and
    fail; the site's connection reply, interim, piece, end, switched, broken, site_left, site_is_slow and
    site_keeps_up; the sweep overdue. `upstream` is None while no connection serves it, `sent_status` 0 until a final
    head has gone to the caller; `retried` says that a connection was found dead, and that it is tried once more;
    `on_kept` whether its connection had served before; `body_sent` whether its body has begun to go out; `sent_at` when
    the last of the request went, by `time.perf_counter()`.
    """

    # Defaults stand on the class: one of these is made for each request, and most stay as they are.
    _onward = b""
    body_sent = on_kept = False
    sent_at = 0.0
    _stuck = -1
    _interims = 0

    # The request's way.

    def begin(self) -> None:
        """Choose the site and ask for a connection."""
        relay, head = self._relay, self.head
        if head.loops is not None and relay.onward.loops(head):
            self.fail("proxy_loop_detected")
            return
        if head.hops == 0:
            self._answer_last_hop()
            return
        pool = relay.only_pool
        if pool is None:
            route = self._normalizer.routes.pick(head.host.decode("latin-1").lower(), head.path)
            pool = None if route is None else relay.pools.get(route.upstream)
            if route is None or pool is None:
                self.fail("destination_not_found" if route is None else "proxy_internal_error")
                return
        self._pool = pool
        self._upstream_name = pool.name
        self._onward = relay.onward.compose(head, self._down.peer, pool.place.authority)
        self.deadline = relay.sweep.now + relay.wait_connect
        down = self._down
        if head.binds and down.pins is None:
            down.pins = Pins()
        if down.pins is None:
            pool.take(self)
        else:
            down.pins.take(pool, self)
        if self.upstream is None and not self.sent_status:
            self._wait()

    def _wait(self) -> None:
        """There is no connection yet: what there is of the request is kept, and counted."""
        if self._share is None:
            self._share = Share(self._relay.waiting)
        if not self._share.set(len(self._onward) + len(self._pending or b"")):
            self.fail("connection_limit_reached")

    def attach(self, upstream: Upstream) -> None:
        """`upstream` serves this exchange: send what there is of the request."""
        self.upstream = upstream
        upstream.exchange = self
        if self._share is not None:
            self._share.set(0)
        self.on_kept = upstream.reused
        if self._down.pins is not None and self._pool is not None:
            self._down.pins.bind(self._pool, upstream)
        if self._pending:
            self._onward += self._pending
            self._pending = None
            self.body_sent = True
            self._down.resume()
        self.sent_at = perf_counter()
        relay = self._relay
        self.deadline = relay.sweep.now + (relay.wait_first_byte if self.request_done else relay.wait_idle)
        upstream.ask(self._onward)
        if self.body_sent and self.upstream is upstream and not upstream.unsent:
            self._onward = b""  # sent, and never sent again: no reason to keep a quarter of a megabyte

    def not_sent(self) -> None:
        """The kept connection was found unfit before a byte was sent: whatever the method is, try the next."""
        assert self._pool is not None
        self.upstream = None
        self.deadline = self._relay.sweep.now + self._relay.wait_connect
        self._pool.take(self, wary=True)

    def body(self, piece: bytes, done: bool) -> None:
        """A segment of the request's body."""
        self._bytes_in += len(piece)
        self.request_done = done
        if self.upstream is None:
            self._pending = self._pending or bytearray()
            self._pending += piece
            if len(self._pending) > self._relay.limits.stream_buffer_bytes:
                self._down.pause()
            self._wait()
            return
        self.body_sent = True
        if done:
            self.sent_at = perf_counter()
        self._renew(self._relay.wait_first_byte if done else self._relay.wait_idle)
        if self.upstream.unsent:  # it goes along
            self._onward += piece
            self.upstream.ask(self._onward)
        else:
            self._onward = b""
            self.upstream.transport.write(piece)

    # The answer's way.

    def interim(self, reply: ResponseHead) -> None:
        """100, 102 or 103: for callers of HTTP/1.1 (RFC 9110 15.2). None renews the wait for the head: a site that
        drips them is no faster than a silent one. A 100 gives the caller time to begin its body.
        """
        self._interims += 1
        if self._interims > _MOST_INTERIMS:
            self.fail("http_protocol_error")
            return
        if not self.request_done:
            self.deadline = self._relay.sweep.now + self._relay.wait_idle
        if not self.head.old:
            self._write(reply.onward())

    def reply(self, reply: ResponseHead, piece: bytes | memoryview, done: bool) -> None:
        """The final head, and what came of its body in the same segment: a view of it where it is long."""
        self._reply = reply
        status = self._original = reply.status
        self._site_took = perf_counter() - self.sent_at
        head, relay = self.head, self._relay
        self._keep = head.keep and reply.kind != CLOSE and self.request_done and not relay.draining
        if head.old and reply.kind == CHUNKED:
            self._keep = False
        if not done:
            self.deadline = relay.sweep.now + relay.wait_idle
        if self._normalizer.glance(status, head.raw) and self._consider(reply, bytes(piece), done):
            return
        if self._keep and not head.old:  # nearly always: what `_send_head` does, in one call
            self.sent_status = status
            data = reply.onward()
            size = len(piece)
            self._bytes_out += len(data) + size
            if size > SMALL_BYTES:
                self._down.write_both(data, piece)
            else:
                self._down.say(data + piece if size else data)
        else:
            self._send_head(self._reply_head(reply), status, bytes(piece))

    def piece(self, piece: bytes, done: bool) -> None:
        """A segment of the answer's body, framing included."""
        self.deadline = self._relay.sweep.now + self._relay.wait_idle
        if self._hold is not None:
            self.deadline = min(self.deadline, self._hold.until)  # whatever dribbles in
            self._held(piece, done)
        elif self._thinking:
            self._late = (*self._late, piece)
        elif self._dechunk is not None:
            self._write(self._dechunk.feed(piece))
        else:
            self._bytes_out += len(piece)
            self._down.write(piece)

    def end(self) -> None:
        """The answer is complete, and its connection no longer ours."""
        self.upstream = None
        if self._thinking:
            self._afterwards = self.end
            return
        self._record()
        self._down.finished(self._keep and self.request_done)

    def broken(self, token: str) -> None:
        """The site sent what is not HTTP, or too much; its connection is closed."""
        self.upstream = None
        if self._thinking:
            self._afterwards = partial(self._stop, token)
        elif self._reply is None:
            self.fail(token)
        else:
            self._cut_short(token)

    def site_left(self, *, clean: bool, begun: bool, alert: bool = False) -> None:
        """The site's connection is gone; `begun`: in the middle of a head; `alert`: TLS said why."""
        self.upstream = None
        reply = self._reply
        if self._thinking:
            self._afterwards = partial(self.site_left, clean=clean, begun=begun, alert=alert)
        elif reply is None:
            if not begun and may_retry(self):
                assert self._pool is not None
                self.retried = True
                self.deadline = self._relay.sweep.now + self._relay.wait_connect
                self._pool.wait(self)
            else:
                token = "tls_alert_received" if alert else "connection_terminated"
                self.fail("http_response_incomplete" if begun else token)
        elif reply.kind == CLOSE and clean:
            if self._hold is not None:
                self._settle(True, self._end_with_the_connection)
            else:
                self._end_with_the_connection()
        else:
            self._cut_short("http_response_incomplete")

    def switched(self, upstream: Upstream, reply: ResponseHead, rest: bytes) -> None:
        """101: from here on the connection is a tunnel, where the caller asked for one."""
        down = self._down
        if not self.head.upgrade or not self.request_done or self.sent_status:
            upstream.abort()
            self.upstream = None
            self.fail("http_upgrade_failed")
            return
        self._original = self.sent_status = 101
        self._site_took = perf_counter() - self.sent_at
        upstream.exchange = self.upstream = None
        self._write(reply.onward() + rest)
        relay = self._relay

        def finish(sent: int, received: int) -> None:
            self._bytes_in += sent
            self._bytes_out += received
            relay.tunnels.discard(tunnel)
            self._record()

        # A tunnel lasts for hours: it takes a place among the callers, not one of the few that requests wait for.
        assert self._pool is not None
        self._pool.lost(upstream, None)
        first = down.hand_over()
        tunnel = Tunnel(
            down.transport, upstream.transport, relay.deadlines.tunnel_idle_seconds, relay.sweep.now, finish
        )
        relay.tunnels.add(tunnel)
        if first:
            upstream.transport.write(first)

    # Who is slow, who left, what took too long.

    def caller_left(self) -> None:
        """The caller's connection is gone: so is the reason to keep the site busy."""
        self._detach()
        self._record()

    def caller_is_slow(self) -> None:
        """The caller does not take what we send."""
        if self.upstream is not None:
            self.upstream.pause()

    def caller_keeps_up(self) -> None:
        """The caller takes it again."""
        self._renew(self._relay.wait_idle)
        if self.upstream is not None and not self._thinking:
            self.upstream.resume()

    def site_is_slow(self) -> None:
        """The site does not take what we send."""
        self._down.pause()

    def site_keeps_up(self) -> None:
        """The site takes it again."""
        self._renew(self._relay.wait_idle)
        self._down.resume()

    def _renew(self, seconds: float) -> None:
        """Something moved. A held answer's time is not renewed by that."""
        self.deadline = self._relay.sweep.now + seconds
        if self._hold is not None:
            self.deadline = min(self.deadline, self._hold.until)

    def overdue(self, now: float) -> None:
        """The deadline has passed: whoever was waited for is to blame."""
        upstream = self.upstream
        if self._thinking:  # that nobody is to blame for
            self.deadline = now + self._relay.wait_idle
        elif upstream is None:
            self.fail("connection_timeout" if self._pool is None else self._pool.waits_for)
        elif self._reply is None:
            if upstream.slow:
                self.fail("connection_write_timeout")
            else:
                self.fail("connection_read_timeout" if self.request_done else "request_timeout")
        elif self._hold is not None and self._hold.until < now:
            self.deadline = now + self._relay.wait_idle
            self._settle(False)
        elif self._down.slow:
            left = self._down.transport.get_write_buffer_size()
            if left == self._stuck:
                self._drop_caller("connection_write_timeout")
            else:  # slow is not stuck
                self._stuck = left
                self.deadline = now + self._relay.wait_idle
        else:
            self._detach()
            self._cut_short("connection_read_timeout")
