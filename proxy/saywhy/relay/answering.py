"""The answer's half of an exchange: what leaves for the caller, in which framing, and what is recorded of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Final, cast

from saywhy.core.failures import look_up
from saywhy.core.model import Outcome, Request, Verdict
from saywhy.relay.again import as_sent
from saywhy.relay.answers import adapted, composed, continued
from saywhy.relay.decision import Decision
from saywhy.relay.framing import Dechunk
from saywhy.relay.hold import Hold, Share
from saywhy.relay.lines import CHUNKED, CLOSE

if TYPE_CHECKING:
    from saywhy.relay.downstream import Downstream
    from saywhy.relay.exchange import Exchange
    from saywhy.relay.head import RequestHead
    from saywhy.relay.pool import Pool
    from saywhy.relay.reply import ResponseHead
    from saywhy.relay.upstream import Upstream

_METHODS: Final = {
    name.encode(): name for name in ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS")
}


class Answering:
    """What an exchange sends. `upstream` is None while no connection serves it, `sent_status` 0 until a final head has
    gone to the caller, `request_done` whether the whole request has come, `retried` whether it was sent once in vain.
    """

    # Defaults stand on the class: one of these is made for each request, and most stay as they are.
    deadline = 0.0
    upstream: Upstream | None = None
    sent_status = 0
    _pool: Pool | None = None
    _pending: bytearray | None = None  # a list of pieces would be copied, and counted, once a piece
    _share: Share | None = None
    _upstream_name = ""
    _answered = _keep = retried = False
    _reply: ResponseHead | None = None
    _original = 0
    _site_took = 0.0
    _decision: Decision | None = None
    _hold: Hold | None = None
    _thinking = False  # what was held is being read beside the loop
    _late: tuple[bytes, ...] = ()  # what came meanwhile, before the site could be told to wait
    _afterwards: Callable[[], None] | None = None  # what happened meanwhile, and has to wait for the verdict
    _dechunk: Dechunk | None = None
    _verdict: Verdict | None = None
    _failure = ""
    _bytes_out = 0

    def __init__(self, down: Downstream, head: RequestHead, piece: bytes, done: bool) -> None:
        self._down = down
        self._relay = relay = down.relay
        self._normalizer = relay.normalizer  # the set it started with, whatever a reload brings
        self.head = head
        self.request_done = done
        self._bytes_in = len(head.raw)
        if piece:
            self._bytes_in += len(piece)
            self._pending = bytearray(piece)
        self._began = perf_counter()

    def _consider(self, reply: ResponseHead, piece: bytes, done: bool) -> bool:
        """Show both heads to the core; whether the answer is held."""
        decision = Decision(self._relay, self._normalizer, self._request(), reply)
        self._decision, self._hold, self._verdict = decision, decision.hold, decision.verdict
        if decision.hold is None:
            return False
        self.deadline = min(self.deadline, decision.hold.until)
        if piece or done or decision.hold.full:
            self._held(piece, done)
        return True

    def _held(self, piece: bytes, done: bool) -> None:
        hold = self._hold
        assert hold is not None
        if piece:
            hold.add(piece)
        if done or hold.full:
            self._settle(done)

    def _settle(self, complete: bool, afterwards: Callable[[], None] | None = None) -> None:
        """Let the core read what is held, and send what it decides. `afterwards` follows that, now or later."""
        decision = self._decision
        assert decision is not None
        self._hold = None
        settled = decision.settle(complete, partial(self._decided_late, complete))
        if settled is not None:
            self._decided(complete, *settled)
            if afterwards is not None:
                afterwards()
            return
        self._thinking, self._afterwards = True, afterwards
        if self.upstream is not None and not complete:
            self.upstream.pause()

    def _decided_late(self, complete: bool, verdict: Verdict, held: bytes) -> None:
        """The core has read what took long."""
        if not self._thinking:
            return  # the caller has left, or was answered otherwise
        afterwards, late = self._afterwards, self._late
        self._thinking, self._afterwards, self._late = False, None, ()
        self.deadline = self._relay.sweep.now + self._relay.wait_idle
        self._decided(complete, verdict, held)
        if not self._answered:
            for piece in late:
                self.piece(piece, False)
            if self.upstream is not None and not self._down.slow:
                self.upstream.resume()
        if afterwards is not None:
            afterwards()

    def piece(self, piece: bytes, done: bool) -> None:
        """A segment of the answer's body."""
        raise NotImplementedError

    def _decided(self, complete: bool, verdict: Verdict, held: bytes) -> None:
        reply = self._reply
        assert reply is not None
        self._verdict = verdict
        if verdict.body is not None:
            self._keep = self._may_keep()
            self._answer(verdict, reply)
            upstream = self.upstream
            if upstream is not None and not complete:
                self.upstream = None
                upstream.let_go()
                self._finish(self._keep)
        elif verdict.action == "pass":
            self._send_head(self._reply_head(reply), reply.status, held)
        else:
            self._send_head(adapted(reply, verdict, self._extra(reply)), reply.status, held)

    def _extra(self, reply: ResponseHead) -> bytes:
        """The lines that our own hop adds to the site's head."""
        if self.head.old and reply.kind == CHUNKED:
            reply.without_chunks()
            self._dechunk = Dechunk()
        return continued(self._keep, self.head.old)

    def _reply_head(self, reply: ResponseHead) -> bytes:
        if self._keep and not self.head.old:
            return reply.onward()
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
        self._write(
            composed(verdict, reply, self.head.method == b"HEAD", continued(self._keep, self.head.old))
        )

    def _may_keep(self) -> bool:
        """Whether the caller's connection may go on after an answer whose end it can tell."""
        return self.head.keep and self.request_done and not self._relay.draining

    def _request(self) -> Request:
        return self.head.request(self._relay.onward.scheme(self.head, self._down.peer))

    def _write(self, data: bytes) -> None:
        self._bytes_out += len(data)
        self._down.say(data)

    def _answer_last_hop(self) -> None:
        """Max-Forwards: 0 makes us the recipient (RFC 9110 7.6.2); of a proxy there is nothing more to say."""
        self._keep = self._may_keep()
        self.sent_status = 200
        extra = continued(self._keep, self.head.old)
        self._write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n" + extra + b"\r\n")
        self._finish(self._keep)

    def fail(self, token: str, wait: int | None = None) -> None:
        """There is no answer to pass on: make one, or cut the caller off where one had begun. `wait` in seconds is known
        better than by the token.
        """
        self._detach()
        if self.retried:
            token = as_sent(token)
        if self.sent_status:
            self._drop_caller(token)
            return
        self._failure = look_up(token).token
        verdict = self._verdict = self._normalizer.fail(self._request(), token, now=time.time(), wait=wait)
        self._keep = self._may_keep()
        self._answer(verdict, None)
        self._finish(self._keep)

    def _cut_short(self, token: str) -> None:
        """The answer stops in the middle. Held: decide from what came. Else the caller must see that it is not whole."""
        if self._hold is not None:
            self._settle(False, partial(self._stop, token))
        else:
            self._stop(token)

    def _stop(self, token: str) -> None:
        if self._answered:
            self._finish(self._keep)
        else:
            self._drop_caller(token)

    def _end_with_the_connection(self) -> None:
        self._finish(self._keep and self._answered)

    def _drop_caller(self, token: str) -> None:
        self._failure = token
        self._detach()
        self._down.drop(
            hard=self._reply is not None and (self._reply.kind == CLOSE or self._dechunk is not None)
        )
        self._record()

    def _detach(self) -> None:
        upstream, self.upstream = self.upstream, None
        if upstream is not None:
            upstream.abort()
        elif self._pool is not None:
            self._pool.forget(cast("Exchange", self))
        if self._share is not None:
            self._share.set(0)
        if self._decision is not None:
            self._decision.drop()
        self._thinking, self._afterwards = False, None

    def _finish(self, keep: bool) -> None:
        self._record()
        self._down.finished(keep)

    def _record(self) -> None:
        head, relay, began, decision = self.head, self._relay, self._began, self._decision
        facts = head.facts
        path = head.target.decode("latin-1")
        if "?" in path:
            path = path.partition("?")[0]
        relay.recorder.record(
            tuple.__new__(
                Outcome,
                (  # half of what its own constructor costs
                    relay.sweep.wall + began,
                    _METHODS.get(head.method) or head.method.decode("latin-1"),
                    facts.host_text if facts is not None else head.host.decode("latin-1"),
                    path,
                    self._upstream_name,
                    head.request_id.decode("latin-1"),
                    head.trace.decode("latin-1") if head.trace else "",
                    self._original,
                    self.sent_status,
                    self._bytes_in,
                    self._bytes_out,
                    perf_counter() - began,
                    self._site_took,
                    decision.seconds if decision is not None else 0.0,
                    self._verdict,
                    self._failure,
                ),
            )
        )
