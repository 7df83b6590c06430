"""One process that serves: the relay on its sockets, what it counts, what it writes down. Alone, or as one of several
workers: it knows neither the admin port nor signals.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import Final

from aiohttp import web

from saywhy.edge.events import style_for
from saywhy.edge.heap import Tide
from saywhy.edge.journal import Journal
from saywhy.edge.meter import Meter
from saywhy.relay import Recorders, Relay, as_server
from saywhy.serve.closing import stop_listening
from saywhy.serve.descriptors import affordable
from saywhy.serve.handshakes import Handshakes
from saywhy.serve.reload import Build, known_rules, settle
from saywhy.serve.sites import SocketSite

_TIDE_SECONDS: Final = 5.0
"""Between two looks for memory that a burst has left."""


class Server:
    """Serves with `build` until another one is put in force. `meter` counts what it does."""

    def __init__(self, build: Build) -> None:
        settings = build.loaded.settings
        self.settings = settings
        self.meter = Meter(version=version("saywhy"))
        self.meter.know(settings.upstreams, known_rules(build.normalizer))
        self.journal = Journal(style=style_for(settings.log.format, sys.stdout), level=settings.log.level)
        recorder = Recorders((self.meter, self.journal))
        self.relay = Relay(
            build.normalizer,
            settings.upstreams,
            affordable(settings),
            settings.deadlines,
            settings.forwarding,
            recorder,
        )
        self._build = build
        self._handshakes = Handshakes()
        self._watch_gauges()
        self._runner = web.ServerRunner(
            as_server(self.relay), shutdown_timeout=settings.deadlines.shutdown_seconds
        )
        self._sites: list[SocketSite] = []
        self._swapping = asyncio.Lock()
        self._tidying: asyncio.Task[None] | None = None

    def _watch_gauges(self) -> None:
        relay, journal = self.relay, self.journal
        self.meter.watch("saywhy_inflight_exchanges", lambda: {(): relay.inflight})
        self.meter.watch("saywhy_held_bytes", lambda: {(): relay.held_bytes})
        self.meter.watch("saywhy_upstream_connections", lambda: _by_state(relay))
        self.meter.watch(
            "saywhy_upstream_up", lambda: {(name,): up for name, (up, _) in relay.pool_health().items()}
        )
        self.meter.watch(
            "saywhy_upstream_openings_total",
            lambda: {(name,): openings for name, (_, openings) in relay.pool_health().items()},
        )
        failed = self._handshakes.failed
        self.meter.watch(
            "saywhy_handshakes_failed_total", lambda: {(reason,): count for reason, count in failed.items()}
        )
        self.meter.watch("saywhy_log_lines_dropped_total", lambda: {(): journal.dropped})

    async def start(self, share: Sequence[tuple[socket.socket, bool]]) -> None:
        """Accept callers from each socket of `share`, with TLS where it says so."""
        await self._runner.setup()
        for sock, tls in share:
            self._sites.append(await self._serve(sock, self._build.tls if tls else None))
        self._tidying = asyncio.create_task(_tidy())

    async def _serve(self, sock: socket.socket, tls: ssl.SSLContext | None) -> SocketSite:
        seconds = self.settings.deadlines.request_head_seconds
        if tls is not None:
            self._handshakes.watch(tls, seconds)
        site = SocketSite(self._runner, sock, tls=tls, handshake_seconds=seconds)
        await site.start()
        return site

    async def agree(self, build: Build) -> Sequence[str]:
        """See reload.Target: there is nobody else to ask."""
        return ()

    async def put_in_force(self, build: Build) -> None:
        """See reload.Target. Exchanges and connections that have begun go on as they began."""
        after = build.loaded.settings
        self.relay.replace_upstreams(after.upstreams)
        self.meter.know(after.upstreams, known_rules(build.normalizer))
        self.relay.normalizer = build.normalizer
        self._build = build
        async with self._swapping:
            await self._serve_anew(build.tls)
        settle()

    async def _serve_anew(self, tls: ssl.SSLContext | None) -> None:
        """New handshakes by `tls`. The socket stays, so nobody who waits in it notices."""
        for place, site in enumerate(self._sites):
            if site.tls is not None and tls is not None:
                self._sites[place] = await self._serve(site.listener, tls)
                await site.stop()

    def drain(self) -> None:
        """Every answer closes its connection from now on; new ones are still taken."""
        self.relay.drain()

    @property
    def cut_off(self) -> int:
        """Exchanges and tunnels that the end did not wait for."""
        return self.relay.cut_off

    async def stop(self, seconds: float) -> None:
        """Stop accepting for good; what is in flight gets `seconds`."""
        async with self._swapping:
            sites, self._sites = self._sites, []
        await stop_listening(sites)
        self.relay.pre_shutdown()
        await self.relay.shutdown(seconds)
        await self._runner.cleanup()
        if self._tidying is not None:
            self._tidying.cancel()
        await asyncio.to_thread(self.journal.close)


async def _tidy() -> None:
    tide = Tide()
    while True:
        await asyncio.sleep(_TIDE_SECONDS)
        tide.look()


def _by_state(relay: Relay) -> dict[tuple[str, ...], float]:
    return {
        (name, state): count
        for name, states in relay.pool_counts().items()
        for state, count in states.items()
    }
