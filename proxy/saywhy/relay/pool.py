"""The connections to one site: kept ones, a cap, a bounded queue of exchanges that wait for one.

A connection is in `_open` from the moment it stands until it is lost, and in `_idle` while nobody uses it. Whoever waits
is served in order, by whichever connection comes first: a released one, or one that was dialled.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from saywhy.edge.settings import Deadlines, Limits
from saywhy.relay.deadlines import Sweep
from saywhy.relay.dial import Place, dial, token_of

if TYPE_CHECKING:
    from saywhy.relay.exchange import Exchange
    from saywhy.relay.upstream import Upstream

_SPILL_SECONDS: Final = 1.0


class Pool:
    """The connections to the site at `place`. `make` builds the protocol of a new one."""

    def __init__(
        self,
        name: str,
        place: Place,
        limits: Limits,
        deadlines: Deadlines,
        sweep: Sweep,
        make: Callable[[Pool], Upstream],
    ) -> None:
        self.name = name
        self.place = place
        self.limits = limits
        self._connect = deadlines.connect_seconds
        self._keep = deadlines.upstream_keepalive_seconds
        self._sweep = sweep
        self._make = make
        self._open: set[Upstream] = set()
        self._idle: list[Upstream] = []
        self._dials: dict[asyncio.Task[None], float] = {}
        self._waiting: OrderedDict[Exchange, None] = OrderedDict()
        self._closed = False

    def take(self, exchange: Exchange) -> None:
        """Give `exchange` a kept connection, or let it wait for one."""
        idle = self._idle
        while idle:
            upstream = idle.pop()  # the one used last is the least likely to be stale
            if upstream.usable():
                upstream.reused = True
                exchange.attach(upstream)
                return
            upstream.close()
        self.wait(exchange)

    def wait(self, exchange: Exchange) -> None:
        """Queue `exchange` for the next connection, a new one where the cap allows."""
        if self._closed:
            exchange.fail("proxy_internal_response")
        elif len(self._open) + len(self._dials) < self.limits.upstream_connections:
            self._waiting[exchange] = None
            self._dial()
        elif len(self._waiting) - len(self._dials) >= self.limits.upstream_waiting:
            exchange.fail("connection_limit_reached")
        else:
            self._waiting[exchange] = None

    def forget(self, exchange: Exchange) -> None:
        """`exchange` no longer waits."""
        self._waiting.pop(exchange, None)

    @property
    def is_full(self) -> bool:
        """Whether the cap is reached, so that waiting means waiting for others."""
        return not self._dials and len(self._open) >= self.limits.upstream_connections

    def arrived(self, upstream: Upstream) -> None:
        """A dialled connection stands."""
        self._open.add(upstream)
        if self._closed:
            upstream.close()
        else:
            self.release(upstream)

    def release(self, upstream: Upstream) -> None:
        """`upstream` is between two messages and may serve the next."""
        if self._waiting:
            exchange, _ = self._waiting.popitem(last=False)
            exchange.attach(upstream)
        elif self._closed:
            upstream.close()
        else:
            upstream.deadline = self._sweep.now + self._keep
            self._idle.append(upstream)

    def lost(self, upstream: Upstream) -> None:
        """`upstream` is gone."""
        self._open.discard(upstream)
        if upstream in self._idle:
            self._idle.remove(upstream)
        self._top_up()

    def spill_deadline(self) -> float:
        """Until when the rest of an answer that nobody wants may be read."""
        return self._sweep.now + self._sweep.tick + _SPILL_SECONDS

    def check(self, now: float) -> None:
        """Close what was idle for too long, give up dials that take too long."""
        for upstream in [one for one in self._idle if one.deadline < now]:
            self._idle.remove(upstream)
            upstream.close()
        for upstream in [
            one for one in self._open if one.exchange is None and one.spilling and one.deadline < now
        ]:
            upstream.close()
        for task in [task for task, until in self._dials.items() if until < now]:
            task.cancel()

    def counts(self) -> dict[str, int]:
        """Connections by state, and who waits: the gauges."""
        idle = len(self._idle)
        return {
            "idle": idle,
            "busy": len(self._open) - idle,
            "dialing": len(self._dials),
            "waiting": len(self._waiting),
        }

    def close(self) -> None:
        """Close idle connections at once and busy ones when their exchange ends; nobody is served any more."""
        self._closed = True
        for task in list(self._dials):
            task.cancel()
        for upstream in list(self._idle):
            upstream.close()
        self._idle.clear()

    def abort(self) -> None:
        """Close everything now."""
        self.close()
        for upstream in list(self._open):
            upstream.abort()

    def _dial(self) -> None:
        task = asyncio.get_running_loop().create_task(dial(self.place, lambda: self._make(self)))
        self._dials[task] = self._sweep.now + self._sweep.tick + self._connect
        task.add_done_callback(self._dialled)

    def _dialled(self, task: asyncio.Task[None]) -> None:
        self._dials.pop(task, None)
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        if error is not None and self._waiting:
            # One dial, one exchange: the one that has waited longest learns of the failure.
            exchange, _ = self._waiting.popitem(last=False)
            exchange.fail(token_of(error))
        self._top_up()

    def _top_up(self) -> None:
        while (
            not self._closed
            and len(self._waiting) > len(self._dials)
            and len(self._open) + len(self._dials) < self.limits.upstream_connections
        ):
            self._dial()
