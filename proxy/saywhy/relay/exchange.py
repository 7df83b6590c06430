"""One exchange: a request, the site's answer, what was decided about it, and what was measured."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from saywhy.core.failures import look_up
from saywhy.core.model import Head, Outcome, Plan, Response, Verdict
from saywhy.relay.answers import adapted, composed, continued
from saywhy.relay.framing import Dechunk
from saywhy.relay.hold import Hold
from saywhy.relay.lines import CHUNKED, CLOSE
from saywhy.relay.tunnel import Tunnel

if TYPE_CHECKING:
    from saywhy.relay.downstream import Downstream
    from saywhy.relay.head import RequestHead
    from saywhy.relay.pool import Pool
    from saywhy.relay.reply import ResponseHead
    from saywhy.relay.upstream import Upstream

_ONCE_MORE: Final = frozenset((b"GET", b"HEAD", b"OPTIONS", b"TRACE", b"DELETE", b"PUT"))
"""Methods that may be sent again when a kept connection turns out to be dead (RFC 9110 9.2.2); never POST or PATCH."""

_CLOSING: Final = b"Connection: close\r\n"
_KEEPING: Final = b"Connection: keep-alive\r\n"  # callers of HTTP/1.0 must be told


class Exchange:
    """One exchange, from a whole request head to the last byte of its answer.

    The caller's connection calls begin, body, caller_left, caller_is_slow and caller_keeps_up; the pool attach and
    refuse; the site's connection reply, interim, piece, end, switched, broken, site_left, site_is_slow and
    site_keeps_up; the sweep overdue. `upstream` is None while no connection serves it, `sent_status` 0 until a final
    head has gone to the caller.
    """

    __slots__ = (
        "_answered", "_body_sent", "_bytes_in", "_bytes_out", "_dechunk", "_down", "_failure", "_hold", "_keep",
        "_normalizer", "_on_kept", "_onward", "_original", "_pending", "_plan", "_pool", "_relay", "_reply", "_retried",
        "_rewriting", "_sent_at", "_site_took", "_started", "_stuck", "_t0", "_upstream_name", "_values", "_verdict",
        "deadline", "head", "request_done", "sent_status", "upstream",
    )  # fmt: skip

    def __init__(self, down: Downstream, head: RequestHead, piece: bytes, done: bool) -> None:
        self._down = down
        self._relay = down.relay
        self._normalizer = down.relay.normalizer  # the set it started with, whatever a reload brings
        self.head = head
        self.request_done = done
        self._pending: list[bytes] = [piece] if piece else []
        self._bytes_in = len(head.raw) + len(piece)
        self._bytes_out = 0
        self._started = time.time()
        self._t0 = self._sent_at = time.perf_counter()
        self._pool: Pool | None = None
        self._upstream_name = ""
        self._onward = b""
        self._body_sent = self._retried = self._answered = self._on_kept = False
        self._keep = False
        self._reply: ResponseHead | None = None
        self._original = 0
        self._site_took = self._rewriting = 0.0
        self._plan: Plan | None = None
        self._hold: Hold | None = None
        self._values: Head | None = None
        self._dechunk: Dechunk | None = None
        self._verdict: Verdict | None = None
        self._failure = ""
        self._stuck = -1
        self.sent_status = 0
        self.upstream: Upstream | None = None
        self.deadline = 0.0

    # The request's way.

    def begin(self) -> None:
        """Choose the site and ask for a connection."""
        relay, head = self._relay, self.head
        if head.loops is not None and relay.onward.loops(head):
            self._fail("proxy_loop_detected")
            return
        if head.hops == 0:
            self._answer_last_hop()
            return
        pool = relay.only_pool
        if pool is None:
            route = self._normalizer.routes.pick(head.host.decode("latin-1").lower(), head.path)
            pool = None if route is None else relay.pools.get(route.upstream)
            if route is None or pool is None:
                self._fail("destination_not_found" if route is None else "proxy_internal_error")
                return
        self._pool = pool
        self._upstream_name = pool.name
        self._onward = relay.onward.compose(head, self._down.peer, pool.place.authority)
        self.deadline = relay.sweep.now + relay.wait_connect
        pool.take(self)

    def attach(self, upstream: Upstream) -> None:
        """`upstream` serves this exchange: send what there is of the request."""
        self.upstream = upstream
        upstream.exchange = self
        self._on_kept = upstream.reused
        data = self._onward
        if self._pending:
            data += b"".join(self._pending)
            self._pending.clear()
            self._body_sent = True
            self._down.resume()
        self._sent_at = time.perf_counter()
        self.deadline = self._relay.sweep.now + (
            self._relay.wait_first_byte if self.request_done else self._relay.wait_idle
        )
        upstream.transport.write(data)

    def body(self, piece: bytes, done: bool) -> None:
        """A segment of the request's body."""
        self._bytes_in += len(piece)
        self.request_done = done
        if self.upstream is None:
            self._pending.append(piece)
            if sum(map(len, self._pending)) > self._relay.limits.stream_buffer_bytes:
                self._down.pause()
            return
        self._body_sent = True
        if done:
            self._sent_at = time.perf_counter()
        self.deadline = self._relay.sweep.now + (self._relay.wait_first_byte if done else self._relay.wait_idle)
        self.upstream.transport.write(piece)

    def refuse(self, token: str) -> None:
        """The pool has no connection for this exchange."""
        self._fail(token)

    # The answer's way.

    def interim(self, reply: ResponseHead) -> None:
        """100, 102 or 103: for callers of HTTP/1.1 (RFC 9110 15.2)."""
        self.deadline = self._relay.sweep.now + self._relay.wait_first_byte
        if not self.head.old:
            self._write(reply.onward())

    def reply(self, reply: ResponseHead, piece: bytes, done: bool) -> None:
        """The final head, and what came of its body in the same segment."""
        self._reply = reply
        self._original = reply.status
        self._site_took = time.perf_counter() - self._sent_at
        self.deadline = self._relay.sweep.now + self._relay.wait_idle
        head = self.head
        self._keep = head.keep and reply.kind != CLOSE and self.request_done and not self._relay.draining
        if head.old and reply.kind == CHUNKED:
            self._keep = False
        if self._normalizer.glance(reply.status, head.raw) and self._look(reply):
            plan = self._plan
            assert plan is not None
            self._hold = Hold(plan.limit, reply.kind == CHUNKED, self._relay.budget)
            if piece or done or self._hold.full:
                self._held(piece, done)
            return
        self._send_head(self._reply_head(reply), reply.status, piece)

    def piece(self, piece: bytes, done: bool) -> None:
        """A segment of the answer's body, framing included."""
        self.deadline = self._relay.sweep.now + self._relay.wait_idle
        if self._hold is not None:
            self._held(piece, done)
        elif self._dechunk is not None:
            self._write(self._dechunk.feed(piece))
        else:
            self._bytes_out += len(piece)
            self._down.transport.write(piece)

    def end(self) -> None:
        """The answer is complete, and its connection no longer ours."""
        self.upstream = None
        self._finish(self._keep and self.request_done)

    def broken(self, token: str) -> None:
        """The site sent what is not HTTP, or too much; its connection is closed."""
        self.upstream = None
        if self._reply is None:
            self._fail(token)
        else:
            self._cut_short(token)

    def site_left(self, *, clean: bool, begun: bool) -> None:
        """The site's connection is gone; `begun`: in the middle of a head."""
        self.upstream = None
        reply = self._reply
        if reply is None:
            if self._may_retry() and not begun:
                assert self._pool is not None
                self._retried = True
                self.deadline = self._relay.sweep.now + self._relay.wait_connect
                self._pool.wait(self)
            else:
                self._fail("http_response_incomplete" if begun else "connection_terminated")
        elif reply.kind == CLOSE and clean:
            if self._hold is not None:
                self._settle(True)
            self._finish(self._keep and self._answered)
        else:
            self._cut_short("http_response_incomplete")

    def switched(self, upstream: Upstream, reply: ResponseHead, rest: bytes) -> None:
        """101: from here on the connection is a tunnel, where the caller asked for one."""
        down = self._down
        if not self.head.upgrade or not self.request_done or self.sent_status:
            upstream.abort()
            self.upstream = None
            self._fail("http_upgrade_failed")
            return
        self._original = self.sent_status = 101
        self._site_took = time.perf_counter() - self._sent_at
        upstream.exchange = self.upstream = None
        self._write(reply.onward() + rest)
        relay = self._relay

        def finish(sent: int, received: int) -> None:
            self._bytes_in += sent
            self._bytes_out += received
            relay.tunnels.discard(tunnel)
            self._record()

        first = down.hand_over()
        tunnel = Tunnel(down.transport, upstream.transport, relay.deadlines.tunnel_idle_seconds, relay.sweep.now, finish)
        relay.tunnels.add(tunnel)
        if first:
            upstream.transport.write(first)

    def spoilt(self) -> None:
        """The request's body turned out not to be HTTP; the part at fault was not sent on."""
        self._keep = False
        self._fail("http_request_error")

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
        self.deadline = self._relay.sweep.now + self._relay.wait_idle
        if self.upstream is not None:
            self.upstream.resume()

    def site_is_slow(self) -> None:
        """The site does not take what we send."""
        self._down.pause()

    def site_keeps_up(self) -> None:
        """The site takes it again."""
        self.deadline = self._relay.sweep.now + self._relay.wait_idle
        self._down.resume()

    def overdue(self, now: float) -> None:
        """The deadline has passed: whoever was waited for is to blame."""
        upstream = self.upstream
        if upstream is None:
            full = self._pool is not None and self._pool.is_full
            self._fail("connection_limit_reached" if full else "connection_timeout")
        elif self._reply is None:
            if upstream.slow:
                self._fail("connection_write_timeout")
            else:
                self._fail("connection_read_timeout" if self.request_done else "request_timeout")
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

    # Deciding about an answer.

    def _look(self, reply: ResponseHead) -> bool:
        """Ask the core about both heads; whether the body must be held."""
        request = self.head.request(self._relay.onward.scheme(self.head, self._down.peer))
        fields = reply.fields()
        self._values = Head(request, Response(reply.status, fields))
        plan = self._plan = self._normalizer.triage(self._values)
        if plan.action in ("hold", "peek"):
            return True
        if reply.status >= 400:
            self._verdict = Verdict(
                action="pass",
                status=reply.status,
                fields=fields,
                caller=plan.caller,
                reason=plan.reason,
                original_status=reply.status,
            )
        return False

    def _held(self, piece: bytes, done: bool) -> None:
        hold = self._hold
        assert hold is not None
        if piece:
            hold.add(piece)
        if done or hold.full:
            self._settle(done)

    def _settle(self, complete: bool) -> None:
        """Let the core read what is held, and send what it decides."""
        hold, reply, values, plan = self._hold, self._reply, self._values, self._plan
        assert hold is not None and reply is not None and values is not None and plan is not None
        self._hold = None
        hold.release()
        start = time.perf_counter()
        verdict = self._normalizer.normalize(values, plan, hold.content(), complete=complete, now=time.time())
        self._rewriting = time.perf_counter() - start
        self._verdict = verdict
        if verdict.body is not None:
            self._keep = self.head.keep and self.request_done and not self._relay.draining
            self._answer(verdict, reply)
            upstream = self.upstream
            if upstream is not None and not complete:
                self.upstream = None
                upstream.let_go()
                self._finish(self._keep)
        elif verdict.action == "pass":
            self._send_head(self._reply_head(reply), reply.status, hold.wire())
        else:
            self._send_head(adapted(reply, verdict, self._extra(reply)), reply.status, hold.wire())

    def _extra(self, reply: ResponseHead) -> bytes:
        if self.head.old and reply.kind == CHUNKED:
            reply.without_chunks()
            self._dechunk = Dechunk()
        return continued(self._keep, self.head.old)

    def _reply_head(self, reply: ResponseHead) -> bytes:
        return reply.onward(self._extra(reply))

    def _send_head(self, head: bytes, status: int, piece: bytes) -> None:
        self.sent_status = status
        if piece and self._dechunk is not None:
            piece = self._dechunk.feed(piece)
        self._write(head + piece if piece else head)

    def _answer(self, verdict: Verdict, reply: ResponseHead | None) -> None:
        """Send an answer of our own making."""
        self.sent_status = verdict.status
        self._answered = True
        self._write(composed(verdict, reply, self.head.method == b"HEAD", continued(self._keep, self.head.old)))

    def _answer_last_hop(self) -> None:
        """Max-Forwards: 0 makes us the recipient (RFC 9110 7.6.2); of a proxy there is nothing more to say."""
        self._keep = self.head.keep and self.request_done and not self._relay.draining
        self.sent_status = 200
        extra = continued(self._keep, self.head.old)
        self._write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n" + extra + b"\r\n")
        self._finish(self._keep)

    def _fail(self, token: str) -> None:
        """There is no answer to pass on: make one, or cut the caller off where one had begun."""
        self._detach()
        if self.sent_status:
            self._drop_caller(token)
            return
        self._failure = look_up(token).token
        request = self.head.request(self._relay.onward.scheme(self.head, self._down.peer))
        verdict = self._verdict = self._normalizer.fail(request, token, now=time.time())
        self._keep = self.head.keep and self.request_done and not self._relay.draining
        self._answer(verdict, None)
        self._finish(self._keep)

    def _cut_short(self, token: str) -> None:
        """The answer stops in the middle. Held: decide from what came. Else the caller must see that it is not whole."""
        if self._hold is not None:
            self._settle(False)
            if self._answered:
                self._finish(self._keep)
                return
        self._drop_caller(token)

    def _drop_caller(self, token: str) -> None:
        self._failure = token
        self._detach()
        self._down.drop(hard=self._reply is not None and (self._reply.kind == CLOSE or self._dechunk is not None))
        self._record()

    def _may_retry(self) -> bool:
        return self._on_kept and not self._retried and not self._body_sent and self.head.method in _ONCE_MORE

    def _detach(self) -> None:
        upstream, self.upstream = self.upstream, None
        if upstream is not None:
            upstream.abort()
        elif self._pool is not None:
            self._pool.forget(self)
        if self._hold is not None:
            self._hold.release()

    def _write(self, data: bytes) -> None:
        self._bytes_out += len(data)
        self._down.transport.write(data)

    def _finish(self, keep: bool) -> None:
        self._record()
        self._down.finished(keep)

    def _record(self) -> None:
        head = self.head
        self._relay.recorder.record(
            Outcome(
                self._started,
                head.method.decode("latin-1"),
                head.host.decode("latin-1"),
                head.path,
                self._upstream_name,
                head.request_id.decode("latin-1"),
                head.trace.decode("latin-1"),
                self._original,
                self.sent_status,
                self._bytes_in,
                self._bytes_out,
                time.perf_counter() - self._t0,
                self._site_took,
                self._rewriting,
                self._verdict,
                self._failure,
            )
        )

