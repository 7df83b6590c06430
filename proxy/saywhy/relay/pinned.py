"""Connections to a site that belong to one caller's connection: NTLM and Negotiate log a connection in, not a request
(RFC 4559 6), so what was logged in by one caller must never carry another's request.

A caller's connection is bound from its first `Authorization: NTLM` or `Negotiate` on, as in nginx: from then on its
requests to a site take one connection, which is given back to nobody and ends with the caller's. Before it, nothing is
logged in: a 401 that merely offers the scheme would let anybody who asks hold a connection.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from saywhy.edge.settings import Limits
    from saywhy.relay.exchange import Exchange
    from saywhy.relay.keeping import Keeping
    from saywhy.relay.pool import Pool
    from saywhy.relay.upstream import Upstream


class Pin:
    """One pinned connection, and what it sees in its pool's place."""

    __slots__ = ("_pins", "is_idle", "pool", "upstream")

    def __init__(self, pins: Pins, pool: Pool, upstream: Upstream) -> None:
        self._pins = pins
        self.pool = pool
        self.upstream = upstream
        self.is_idle = False

    @property
    def limits(self) -> Limits:
        """See Pool."""
        return self.pool.limits

    @property
    def keeping(self) -> Keeping:
        """See Pool."""
        return self.pool.keeping

    def arrived(self, upstream: Upstream) -> None:
        """Never called: it had arrived before it was pinned."""
        raise AssertionError

    def spill_deadline(self) -> float:
        """See Pool."""
        return self.pool.spill_deadline()

    def release(self, upstream: Upstream) -> None:
        """Between two messages of its caller."""
        if not self._pins.wants(self) or upstream.kept_for == 0:
            upstream.close()
        else:
            self.is_idle = True
            self.pool.rests(self)

    def lost(self, upstream: Upstream, exc: Exception | None) -> None:
        """Gone. The caller's next request takes a new one, pinned again."""
        self._pins.forget(self)
        self.pool.wakes(self)
        self.pool.lost(upstream, exc)


class Pins:
    """The pinned connections of one caller's connection, one a site."""

    __slots__ = ("_over", "_pins")

    def __init__(self) -> None:
        self._pins: dict[Pool, Pin] = {}
        self._over = False

    def take(self, pool: Pool, exchange: Exchange) -> None:
        """Give `exchange` its caller's connection to this site, or let it wait for one that will be."""
        pin = self._pins.get(pool)
        if pin is not None and pin.is_idle:
            pin.is_idle = False
            pool.wakes(pin)
            if pin.upstream.usable():
                exchange.attach(pin.upstream)
                return
            pin.upstream.close()
        pool.take(exchange)

    def bind(self, pool: Pool, upstream: Upstream) -> None:
        """`upstream` serves this caller: from now on no other."""
        pin = self._pins.get(pool)
        if pin is None or pin.upstream is not upstream:
            self._pins[pool] = pin = Pin(self, pool, upstream)
            upstream.belongs_to(pin)

    def wants(self, pin: Pin) -> bool:
        """Whether `pin` may still serve: the caller is there, and has not been given another in its place."""
        return not self._over and self._pins.get(pin.pool) is pin

    def forget(self, pin: Pin) -> None:
        """`pin`'s connection is gone."""
        if self._pins.get(pin.pool) is pin:
            del self._pins[pin.pool]

    def close(self) -> None:
        """The caller is gone: what waits for it closes; a busy connection is its exchange's to end."""
        self._over = True
        for pin in list(self._pins.values()):
            if pin.is_idle:
                pin.upstream.close()
