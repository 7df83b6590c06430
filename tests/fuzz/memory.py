"""A relay without sockets: a loop that turns when told to, wires that hold bytes until they are delivered."""

from __future__ import annotations

import asyncio
import functools
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from loopback import Decider

from saywhy.core.model import Fields, Head, Outcome, Plan, Verdict
from saywhy.edge.settings import Deadlines, Forwarding, Limits, Upstream
from saywhy.relay import Relay, forwarded
from saywhy.relay.downstream import Downstream
from saywhy.relay.names import Address
from saywhy.relay.place import place_of
from saywhy.relay.pool import Pool
from saywhy.relay.upstream import Upstream as UpstreamEnd

MOST_TURNS = 10_000
CONNECTIONS = 2
"""To the site: so few that exchanges wait."""

_LIMITS = Limits(upstream_connections=CONNECTIONS, stream_buffer_bytes=4096, head_bytes=4096, line_bytes=2048)
_DEADLINES = Deadlines()
_FORWARDING = Forwarding()
_UPSTREAM = Upstream(url="http://127.0.0.1:1")
_PLACE = place_of(_UPSTREAM)
forwarded.request_names = functools.cache(
    forwarded.request_names
)  # made anew for each stage, it was half the work


class Handle:
    """What `call_later` gives; nothing is ever due by itself."""

    def cancel(self) -> None:
        """Nothing to cancel."""


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
        """No task is ever begun: what the relay does in tasks (dialling, names) is played by `MemoryPool`."""
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
        pass

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


class MemoryEnd(UpstreamEnd):
    """A site's connection, whose unread bytes are in its wire and not in a kernel."""

    __slots__ = ()

    def usable(self) -> bool:
        """As on sockets."""
        return super().usable() and not self.transport.coming  # type: ignore[attr-defined]


class MemoryPool(Pool):
    """A pool whose dials arrive when a target says so."""

    stage: Stage

    def _dial(self) -> None:
        self._dials[Dial()] = float("inf")  # type: ignore[index]

    def arrive(self, error: Exception | None = None) -> bool:
        """The oldest dial succeeds, or fails with `error`; whether there was one."""
        dial: Any = next(iter(self._dials), None)
        if dial is None:
            return False
        dial.error = error
        if error is None:
            end = self._make(self, None)
            wire = Wire(self.stage.loop, end, bare=False)
            self.stage.sites.append(wire)
            end.connection_made(wire)
        self._dialled(dial)
        return True

    @property
    def waits(self) -> bool:
        """Whether anything is under way."""
        return bool(self._dials or self._waiting)


class Quoting(Decider):
    """Agents' errors are held and rewritten to their own bytes in quotes, so that mixed ones can be told."""

    def normalize(self, head: Head, plan: Plan, body: bytes, *, complete: bool, now: float) -> Verdict:
        fields = Fields([pair for pair in head.response.fields.lines if pair[0].lower() == b"x-id"])
        caller = plan.caller
        return Verdict(
            action="rewrite",
            status=head.response.status,
            fields=fields,
            body=b'"' + body + b'"',
            caller=caller,
        )


class Stage:
    """A relay, its callers' wires and its site's."""

    def __init__(self) -> None:
        self.loop = Loop()
        asyncio._set_running_loop(self.loop)  # type: ignore[arg-type]
        self.outcomes: list[Outcome] = []
        self.relay = relay = Relay(Quoting(limit=2048), {}, _LIMITS, _DEADLINES, _FORWARDING, self)
        self.pool = MemoryPool("default", _PLACE, _LIMITS, _DEADLINES, relay.sweep, self._site_end)
        self.pool.stage = self
        relay.pools = {"default": self.pool}
        relay.normalizer = relay.normalizer
        self.callers: list[Wire] = []
        self.sites: list[Wire] = []

    def _site_end(self, pool: Pool, address: Address | None) -> MemoryEnd:
        return MemoryEnd(pool, self.relay.outbox, address)

    def record(self, outcome: Outcome) -> None:
        """The relay's recorder."""
        self.outcomes.append(outcome)

    def connect(self) -> Wire:
        """One more caller."""
        down = Downstream(self.relay)
        wire = Wire(self.loop, down, bare=True)
        self.callers.append(wire)
        down.connection_made(wire)
        return wire

    def wait(self, seconds: float) -> None:
        """Time passes, and the sweep looks."""
        self.loop.ahead += seconds
        self.relay.sweep.now = self.loop.time()
        self.relay._look(self.relay.sweep.now)

    def leave(self) -> None:
        """Everybody goes; nothing may be left of anything."""
        for wire in [*self.callers, *self.sites]:
            wire.flow()
            wire.reset()
        self.loop.settle()
        while self.pool.arrive(OSError("gone")):
            self.loop.settle()
        relay = self.relay
        assert relay.inflight == 0, relay
        assert relay.held_bytes == 0
        assert not relay.connections
        assert not relay.tunnels
        assert not self.pool.waits
        assert self.pool.is_empty
