"""`Relay`: what aiohttp's runner serves. It makes a protocol for each caller and owns what they share."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping
from typing import Any, Final, Protocol

from saywhy.core.model import Head, Outcome, Plan, Request, Verdict
from saywhy.core.policy import Routes
from saywhy.edge.events import named
from saywhy.edge.seldom import Seldom
from saywhy.edge.settings import Deadlines, Forwarding, Limits, Upstream
from saywhy.relay.deadlines import Sweep
from saywhy.relay.departed import look_for_the_departed
from saywhy.relay.downstream import Downstream
from saywhy.relay.forwarded import Onward, deployment_id
from saywhy.relay.hold import Budget
from saywhy.relay.names import Address, LookUp, system_addresses
from saywhy.relay.outbox import Outbox
from saywhy.relay.place import place_of
from saywhy.relay.pool import Pool
from saywhy.relay.reader import Reader
from saywhy.relay.shedding import SlowCallers
from saywhy.relay.tunnel import Tunnel
from saywhy.relay.upstream import Upstream as UpstreamEnd

_LOG: Final = logging.getLogger("saywhy.relay")

_GRACE_SECONDS: Final = 0.5
"""For a caller who has just connected to send its request, once the relay shuts down."""


class Decider(Protocol):
    """What the relay asks of the core: `core.normalize.Normalizer`."""

    @property
    def routes(self) -> Routes:
        """Host and path -> policy."""

    def glance(self, status: int, request_head: bytes) -> bool:
        """Whether anything but passing on is possible."""

    def triage(self, head: Head) -> Plan:
        """What is needed of the body."""

    def normalize(self, head: Head, plan: Plan, body: bytes, *, complete: bool, now: float) -> Verdict:
        """What leaves."""

    def hurry(self, head: Head, plan: Plan, body: bytes, *, complete: bool, now: float) -> Verdict | None:
        """What leaves, or None where finding out takes longer than the loop may stand still."""

    def fail(self, request: Request, token: str, *, now: float, wait: int | None = None) -> Verdict:
        """What leaves where there is no answer."""


class Recorder(Protocol):
    """Whoever wants to know of finished exchanges."""

    def record(self, outcome: Outcome) -> None:
        """One finished exchange."""


class Recorders:
    """Several recorders as one."""

    def __init__(self, recorders: Iterable[Recorder]) -> None:
        self._records = tuple(recorder.record for recorder in recorders)

    def record(self, outcome: Outcome) -> None:
        """Tell each of them."""
        for record in self._records:
            record(outcome)


class Relay:
    """Stands where aiohttp expects a `web.Server`: callable, `connections`, `pre_shutdown`, `shutdown`.

    `normalizer` may be replaced at any time (a reload): exchanges end with the one they began with. `inflight` counts
    exchanges whose answer is not complete; `requests_count` all so far; `cut_off` those that the end did not wait for. One Relay belongs to one event loop.
    """

    def __init__(
        self,
        normalizer: Decider,
        upstreams: Mapping[str, Upstream],
        limits: Limits,
        deadlines: Deadlines,
        forwarding: Forwarding,
        recorder: Recorder,
        look_up: LookUp = system_addresses,
    ) -> None:
        self.limits = limits
        self.head_bytes = limits.head_bytes
        self.deadlines = deadlines
        self.recorder = recorder
        self.sweep = Sweep(deadlines, self._look)
        self.outbox = Outbox()
        self.reader = Reader()
        self.budget = Budget(limits.held_bytes_budget)
        self.waiting = Budget(limits.waiting_bytes_budget)
        self.slow = SlowCallers(limits.unsent_bytes_budget, limits.stream_buffer_bytes)
        self.onward = Onward(forwarding, deployment_id(upstream.url for upstream in upstreams.values()))
        self.look_up = look_up
        self._leaving: list[Pool] = []
        self.pools = {name: self._pool(name, upstream) for name, upstream in upstreams.items()}
        self.tunnels: set[Tunnel] = set()
        self.draining = False
        self.inflight = self.cut_off = 0
        self._seldom = Seldom()
        self.requests_count = 0
        # One tick of slack: sweep.now lags behind by so much.
        self.wait_connect = deadlines.connect_seconds + self.sweep.tick
        self.wait_first_byte = deadlines.first_byte_seconds + self.sweep.tick
        self.wait_idle = deadlines.idle_seconds + self.sweep.tick
        # These two are early instead, by no more than two ticks: they bound what somebody has to wait.
        self.wait_hold = max(0.0, deadlines.hold_seconds - self.sweep.tick)
        self.wait_peek = max(0.0, deadlines.peek_seconds - self.sweep.tick)
        self.wait_head = deadlines.request_head_seconds + self.sweep.tick
        self.wait_keepalive = deadlines.caller_keepalive_seconds + self.sweep.tick
        self._connections: dict[Downstream, None] = {}
        self.only_pool: Pool | None = None
        self.normalizer = normalizer

    def _pool(self, name: str, upstream: Upstream) -> Pool:
        return Pool(
            name,
            place_of(upstream),
            self.limits,
            self.deadlines,
            self.sweep,
            self._upstream_end,
            self.look_up,
        )

    def _upstream_end(self, pool: Pool, address: Address | None) -> UpstreamEnd:
        return UpstreamEnd(pool, self.outbox, address)

    @property
    def normalizer(self) -> Decider:
        """The set in force."""
        return self._normalizer

    @normalizer.setter
    def normalizer(self, normalizer: Decider) -> None:
        self._normalizer = normalizer
        only = normalizer.routes.only
        self.only_pool = self.pools.get(only.upstream) if only is not None else None

    def replace_upstreams(self, upstreams: Mapping[str, Upstream]) -> None:
        """Take over other sites (a reload): what is unchanged, in its files too, keeps its connections; whoever waits or
        is served elsewhere is served to the end. Set `normalizer` after it. Raises edge.trust.TrustError, with nothing
        changed.
        """
        pools = {}
        for name, upstream in upstreams.items():
            old = self.pools.get(name)
            pools[name] = old if old is not None and old.place.is_of(upstream) else self._pool(name, upstream)
        for name, pool in self.pools.items():
            if pools.get(name) is not pool:
                pool.close()
                self._leaving.append(pool)
        self.pools = pools
        self.normalizer = self._normalizer

    def __call__(self) -> Downstream:
        return Downstream(self)

    @property
    def connections(self) -> list[Downstream]:
        """The callers' connections, tunnels not among them."""
        return list(self._connections)

    @property
    def held_bytes(self) -> int:
        """Bytes of bodies held at this moment."""
        return self.budget.held

    def pool_counts(self) -> dict[str, dict[str, int]]:
        """Upstream name -> connections by state (idle, busy, dialing) and exchanges waiting."""
        return {name: pool.counts() for name, pool in self.pools.items()}

    def pool_health(self) -> dict[str, tuple[bool, int]]:
        """Upstream name -> whether it counts as there, and how often it came to count as away."""
        return {name: (not pool.health.is_open, pool.health.openings) for name, pool in self.pools.items()}

    def joined(self, down: Downstream) -> None:
        """A caller has connected."""
        self.sweep.start(asyncio.get_running_loop())
        if len(self._connections) + len(self.tunnels) >= self.limits.caller_connections:
            down.abort()
        else:
            self._connections[down] = None

    def spoken_to_in_tls(self, transport: asyncio.Transport) -> None:
        """A caller sent the beginning of a TLS handshake as its request."""
        if transport.get_extra_info("ssl_object") is None and self._seldom.due("tls"):
            _LOG.warning(
                "A caller spoke TLS to a port without TLS: give it http://, or a port of tls.listen. Such requests are"
                " refused (400, http_request_error), and told of again in ten minutes.",
                extra=named("tls_on_plain_port"),
            )

    def left(self, down: Downstream) -> None:
        """A caller is gone, or a tunnel's now."""
        self._connections.pop(down, None)

    def _look(self, now: float) -> None:
        for down in list(self._connections):
            down.check(now)
        look_for_the_departed([down for down in self._connections if down.paused], self.tunnels)
        for pool in [*self.pools.values(), *self._leaving]:
            pool.check(now)
        if self._leaving:
            self._leaving = [pool for pool in self._leaving if not pool.is_empty]
        for tunnel in list(self.tunnels):
            tunnel.check(now)

    def drain(self) -> None:
        """From now on every answer says `Connection: close`; connections are still accepted."""
        self.draining = True

    def pre_shutdown(self) -> None:
        """Close callers' idle connections; listening has ended. Called by aiohttp's runner."""
        self.drain()
        self._close_idle(fresh=False)

    def _close_idle(self, *, fresh: bool) -> None:
        """Close those that owe nobody anything; `fresh`: those too whose first request may still be on its way."""
        for down in list(self._connections):
            if fresh or not down.fresh:
                down.close()

    async def shutdown(self, timeout: float | None = None) -> None:  # noqa: ASYNC109  # aiohttp's signature
        """Wait up to `timeout` seconds for exchanges in flight and for tunnels, then cut off what is left."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        until = began + (timeout if timeout is not None else self.deadlines.shutdown_seconds)
        while (self._connections or self.tunnels) and loop.time() < until:
            await asyncio.sleep(0.02)
            self._close_idle(fresh=loop.time() - began > _GRACE_SECONDS)
        self.cut_off += len(self.tunnels)
        for down in list(self._connections):
            self.cut_off += down.exchange is not None
            down.abort()
        for tunnel in list(self.tunnels):
            tunnel.abort()
        for pool in [*self.pools.values(), *self._leaving]:
            pool.abort()
        for _ in range(3):  # transports say goodbye in the next rounds of the loop
            await asyncio.sleep(0)
        self.reader.close()
        self.sweep.stop()

    def __repr__(self) -> str:
        return f"<Relay to {', '.join(self.pools) or 'nowhere'}, {self.inflight} in flight>"


def as_server(relay: Relay) -> Any:
    """The relay for `web.ServerRunner`, whose annotation asks for aiohttp's own class and nothing of it but the above."""
    return relay
