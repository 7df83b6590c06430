"""A relay without sockets: its pool dials when told to, its connections are wires."""

from __future__ import annotations

import asyncio
import functools
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
from tests.fuzz.wires import Dial, Loop, Wire

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


class MemoryEnd(UpstreamEnd):
    """A site's connection, whose unread bytes are in its wire and not in a kernel."""

    __slots__ = ()

    def flush(self) -> None:
        """As on sockets, where the kernel is asked."""
        if self.unsent and self.reused and self.transport.coming:  # type: ignore[attr-defined]
            self.give_back()
        else:
            super().flush()


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
