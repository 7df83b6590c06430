"""The connections to one site: kept ones, a cap, a bounded queue of exchanges that wait for one.

A connection is in `_open` from the moment it stands until it is lost, and in `_idle` while nobody uses it. Whoever waits
is served in order, by whichever connection comes first: a released one, or one that was dialled. Pinned connections
count as open; they are idle for one caller alone, and make room when others wait.
"""

from __future__ import annotations

import asyncio
import ssl
from collections import OrderedDict
from collections.abc import Callable
from math import ceil
from time import monotonic
from typing import TYPE_CHECKING, Final

from saywhy.edge.settings import Deadlines, Limits
from saywhy.relay.again import may_repeat
from saywhy.relay.deadlines import Sweep
from saywhy.relay.departed import has_left
from saywhy.relay.dial import dial, token_of
from saywhy.relay.health import Health
from saywhy.relay.keeping import Keeping
from saywhy.relay.names import Address, LookUp, Names, system_addresses
from saywhy.relay.place import Place

if TYPE_CHECKING:
    from saywhy.relay.exchange import Exchange
    from saywhy.relay.pinned import Pin
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
        make: Callable[[Pool, Address | None], Upstream],
        look_up: LookUp = system_addresses,
    ) -> None:
        self.name = name
        self.place = place
        self.limits = limits
        self.keeping = Keeping(deadlines.upstream_keepalive_seconds)
        self.health = Health(name, place.upstream, place.path)
        self._names = Names(place.host, place.port, place.upstream.dns_seconds, self._retire, look_up, name)
        self._connect = deadlines.connect_seconds
        self._sweep = sweep
        self._make = make
        self._open: set[Upstream] = set()
        self._idle: list[Upstream] = []
        self._resting: OrderedDict[Pin, None] = OrderedDict()
        self._dials: dict[asyncio.Task[None], float] = {}
        self._waiting: OrderedDict[Exchange, None] = OrderedDict()
        self._asked_in_vain = False
        self._closed = False

    def take(self, exchange: Exchange, *, wary: bool = False) -> None:
        """Give `exchange` a kept connection, or let it wait for one. `wary`: one was found unfit a moment ago. A site that
        parts with a word (408) does so on all of them at once, and they are not to be tried one within the other.
        """
        idle = self._idle
        while idle:
            upstream = idle.pop()  # the one used last is the least likely to be stale
            left = upstream.deadline - monotonic()
            fit = left > 0 and upstream.usable() and not (wary and upstream.unread)
            if fit and (may_repeat(exchange) or self._is_fresh(upstream, left)):
                exchange.attach(upstream)
                return
            upstream.close()
        self.wait(exchange)

    def _is_fresh(self, upstream: Upstream, left: float) -> bool:
        """Whether what must not be sent twice may be sent on this kept connection."""
        return self.keeping.is_fresh(upstream.kept_for - left) and not has_left(upstream.descriptor)

    def wait(self, exchange: Exchange) -> None:
        """Queue `exchange` for the next connection, a new one where the cap allows."""
        if self.health.is_open and (rest := self.health.rest(monotonic())):
            self._asked_in_vain = True
            exchange.fail("destination_unavailable", ceil(rest))
        elif len(self._open) + len(self._dials) < self.limits.upstream_connections:
            self._queue(exchange)
            self._dial()
        elif len(self._waiting) - len(self._dials) >= self.limits.upstream_waiting:
            exchange.fail("connection_limit_reached")
        else:
            self._queue(exchange)
            if self._resting:
                self._make_room()

    def _queue(self, exchange: Exchange) -> None:
        self._waiting[exchange] = None
        if exchange.retried:  # it had its turn
            self._waiting.move_to_end(exchange, last=False)

    def forget(self, exchange: Exchange) -> None:
        """`exchange` no longer waits."""
        self._waiting.pop(exchange, None)

    @property
    def waits_for(self) -> str:
        """The token for an exchange that has waited for too long."""
        if not self._dials and len(self._open) >= self.limits.upstream_connections:
            return "connection_limit_reached"
        return "dns_timeout" if self._names.is_unknown else "connection_timeout"

    @property
    def is_empty(self) -> bool:
        """Whether nothing of it is left: no connection, and nobody who waits for one."""
        return not (self._open or self._dials or self._waiting)

    def arrived(self, upstream: Upstream) -> None:
        """A dialled connection stands."""
        self._open.add(upstream)
        self.health.stands(monotonic())
        self.release(upstream)

    def release(self, upstream: Upstream) -> None:
        """`upstream` is between two messages and may serve the next. Whoever was let down by a kept connection waits for
        a new one: while it waits there is a dial for it, in the place of the one that was lost.
        """
        waiting = self._waiting
        if upstream.kept_for == 0 or (waiting and upstream.reused and not upstream.usable()):
            upstream.close()
            return
        for exchange in waiting:
            if not (upstream.reused and exchange.retried):
                del waiting[exchange]
                exchange.attach(upstream)
                return
        if self._closed:
            upstream.close()
        else:
            seconds = upstream.kept_for
            upstream.deadline = monotonic() + (seconds if seconds > 0 else self.keeping.most)
            self._idle.append(upstream)

    def rests(self, pin: Pin) -> None:
        """A pinned connection waits for its caller's next request."""
        self._resting[pin] = None
        if self._closed:
            pin.upstream.close()
        elif self._waiting:
            self._make_room()

    def wakes(self, pin: Pin) -> None:
        """It does no longer."""
        self._resting.pop(pin, None)

    def lost(self, upstream: Upstream, exc: Exception | None) -> None:
        """`upstream` is gone."""
        self._open.discard(upstream)
        if upstream in self._idle:
            self._idle.remove(upstream)
            if upstream.kept_for > 0:
                self.keeping.closed_after(monotonic() - upstream.deadline + upstream.kept_for)
        if isinstance(exc, ssl.SSLError):
            self.health.tell(exc)
        self._top_up()

    def spill_deadline(self) -> float:
        """Until when the rest of an answer that nobody wants may be read."""
        return self._sweep.now + self._sweep.tick + _SPILL_SECONDS

    def check(self, now: float) -> None:
        """Close what was idle for too long, give up dials that take too long, look whether a site is back."""
        for upstream in [one for one in self._idle if one.deadline < now]:
            self._idle.remove(upstream)
            upstream.close()
        for upstream in self._idle:
            self.keeping.outlived(now - upstream.deadline + upstream.kept_for)
        for upstream in [
            one for one in self._open if one.exchange is None and one.spilling and one.deadline < now
        ]:
            upstream.close()
        for task in [task for task, until in self._dials.items() if until < now]:
            task.cancel()
        if self._open:
            self._names.keep_fresh()
        if self._asked_in_vain and self.health.is_open and not self.health.rest(now) and not self._closed:
            self._asked_in_vain = False
            self._dial()

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
        """Close idle connections at once and busy ones when their exchange ends. Whoever waits is still served."""
        self._closed = True
        for upstream in [*self._idle, *(pin.upstream for pin in self._resting)]:
            upstream.close()
        self._idle.clear()

    def abort(self) -> None:
        """Close everything now."""
        self._waiting.clear()
        self.close()
        dials, self._dials = list(self._dials), {}
        for task in dials:
            task.cancel()
        for upstream in list(self._open):
            upstream.abort()

    def _retire(self) -> None:
        """The name has other addresses: what is connected to one that it no longer has serves no further exchange."""
        current = frozenset(self._names.addresses)
        for upstream in self._open:
            if upstream.address not in current:
                upstream.kept_for = 0
        for upstream in [one for one in self._idle if one.kept_for == 0]:
            self._idle.remove(upstream)
            upstream.close()
        for pin in [one for one in self._resting if one.upstream.kept_for == 0]:
            pin.upstream.close()

    def _dial(self) -> None:
        self.health.trying()
        make = self._make
        making = dial(self.place, self._names, lambda address: make(self, address))
        task = asyncio.get_running_loop().create_task(making)
        self._dials[task] = self._sweep.now + self._sweep.tick + self._connect
        task.add_done_callback(self._dialled)

    def _dialled(self, task: asyncio.Task[None]) -> None:
        if self._dials.pop(task, None) is None:  # given up with everything else
            return
        error: BaseException | None
        if task.cancelled():
            error = asyncio.CancelledError()
            token = "dns_timeout" if self._names.is_unknown else "connection_timeout"
        elif (error := task.exception()) is not None:
            token = token_of(error)
        if error is not None:
            self.health.note(error, token, monotonic())
            if self._waiting:
                # One dial, one exchange: the one that has waited longest learns of the failure.
                exchange, _ = self._waiting.popitem(last=False)
                exchange.fail(token)
        self._top_up()

    def _top_up(self) -> None:
        if self.health.is_open:
            self._refuse()
            return
        while (
            len(self._waiting) > len(self._dials)
            and len(self._open) + len(self._dials) < self.limits.upstream_connections
        ):
            self._dial()

    def _refuse(self) -> None:
        """The site is away: nobody waits for more than what is under way."""
        while len(self._waiting) > len(self._dials) and not self._open:
            exchange, _ = self._waiting.popitem()
            exchange.fail("destination_unavailable", ceil(self.health.rest(monotonic())) or None)

    def _make_room(self) -> None:
        """Others wait: the pinned connection that has rested longest goes."""
        pin, _ = self._resting.popitem(last=False)  # its caller logs in again
        pin.upstream.close()
