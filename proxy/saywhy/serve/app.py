"""The process: listens, relays, answers on the admin port, reloads, and goes without leaving anybody unanswered.

start    rules and settings stand before a socket opens; then the relay's sites, then the admin site
run      until SIGTERM or SIGINT; SIGHUP reloads
stop     SIGTERM: not ready at once, accepting for `drain_seconds`, then `shutdown_seconds` for what is in flight
         SIGINT, or a second signal: what is in flight gets one second
"""

from __future__ import annotations

import asyncio
import errno
import signal
import socket
import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import uvloop
from aiohttp import web
from prometheus_client.registry import CollectorRegistry

from saywhy.core.normalize import Normalizer
from saywhy.edge.events import open_events, overheard, style_for
from saywhy.edge.journal import Journal
from saywhy.edge.meter import Meter
from saywhy.edge.packs import RuleErrors
from saywhy.edge.settings import Address, Loaded, SettingsError, parse_address
from saywhy.relay import Recorders, Relay, as_server
from saywhy.serve.admin import admin_application
from saywhy.serve.closing import stop_listening
from saywhy.serve.reload import Reloader, build, known_rules, settle
from saywhy.serve.sockets import UnixSockets

QUICK_SECONDS = 1.0
BACKLOG = 4096
"""Connections that the kernel keeps while the loop is busy; it caps this at net.core.somaxconn."""


class StartError(Exception):
    """The process cannot start; the message is for the operator and says what to do."""


class Server:
    """saywhy, running. `load` is called again by every reload."""

    def __init__(self, loaded: Loaded, load: Callable[[], Loaded]) -> None:
        settings = loaded.settings
        normalizer = _build(loaded)
        self.settings = settings
        self.not_ready = "Starting."
        self.meter = Meter(version=version("saywhy"))
        self.meter.know(settings.upstreams, known_rules(normalizer))
        self.style = style_for(settings.log.format, sys.stderr)
        self.events = open_events(self.style, settings.log.level)
        self.journal = Journal(style=style_for(settings.log.format, sys.stdout), level=settings.log.level)
        recorder = Recorders((self.meter, self.journal))
        self.relay = Relay(
            normalizer, settings.upstreams, settings.limits, settings.deadlines, settings.forwarding, recorder
        )
        self._watch_gauges()
        self.reloader = Reloader(loaded, load, self.relay, self.meter, self.events)
        self._runner = web.ServerRunner(
            as_server(self.relay), shutdown_timeout=settings.deadlines.shutdown_seconds
        )
        self._admin: web.AppRunner | None = None
        self.addresses: list[str] = []
        self.admin_address = ""
        self._callers_sockets, self._admin_sockets = UnixSockets(), UnixSockets()

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
        self.meter.watch("saywhy_log_lines_dropped_total", lambda: {(): journal.dropped})

    @property
    def registry(self) -> CollectorRegistry:
        """What /metrics shows."""
        return self.meter.registry

    async def reload(self, why: str) -> tuple[str, ...]:
        """See Reloader."""
        return await self.reloader.reload(why)

    async def start(self) -> None:
        """Open all sockets. Raises StartError, with everything closed again."""
        try:
            await self._runner.setup()
            for listener in self.settings.listen:
                self.addresses.append(
                    await _open(self._runner, "listen", parse_address(listener), self._callers_sockets)
                )
            if self.settings.admin:
                self._admin = web.AppRunner(
                    admin_application(self), access_log=None, shutdown_timeout=QUICK_SECONDS
                )
                await self._admin.setup()
                self.admin_address = await _open(
                    self._admin, "admin", parse_address(self.settings.admin), self._admin_sockets
                )
        except BaseException:
            await self.stop(0)
            raise
        self.not_ready = ""

    async def drain(self) -> None:
        """Not ready from now on, still accepting: balancers need a moment to notice."""
        self.not_ready = "Stopping."
        self.relay.drain()
        await asyncio.sleep(self.settings.deadlines.drain_seconds)

    async def stop(self, seconds: float) -> None:
        """Stop accepting; what is in flight gets `seconds`. The admin port goes last, so that probes see the end."""
        self.not_ready = "Stopping."
        self._callers_sockets.remove()
        await stop_listening(self._runner, self.relay)
        self.relay.pre_shutdown()
        await self.relay.shutdown(seconds)
        await self._runner.cleanup()
        self._admin_sockets.remove()
        if self._admin is not None:
            await self._admin.cleanup()
        await asyncio.to_thread(self.journal.close)

    def greet(self) -> None:
        """One sentence: where to knock. An event where standard error is for machines."""
        sites = ", ".join(upstream.url for upstream in self.settings.upstreams.values())
        admin = f"; health and metrics on {self.admin_address}" if self.admin_address else ""
        sentence = (
            f"saywhy {version('saywhy')} listens on {' and '.join(self.addresses)} before {sites}{admin}."
        )
        if self.style == "text":
            print(sentence, file=sys.stderr, flush=True)
        else:
            # Whatever the log's level: who started it with port 0 learns the port from this line.
            open_events(self.style).info(sentence, listen=self.addresses, admin=self.admin_address)
        for doubt in self.reloader.loaded.doubts:
            self.events.warning(str(doubt))


def _by_state(relay: Relay) -> dict[tuple[str, ...], float]:
    return {
        (name, state): count
        for name, states in relay.pool_counts().items()
        for state, count in states.items()
    }


def _build(loaded: Loaded) -> Normalizer:
    try:
        return build(loaded)
    except (SettingsError, RuleErrors) as wrong:
        raise StartError(str(wrong)) from None


async def _open(runner: web.BaseRunner, setting: str, address: Address, sockets: UnixSockets) -> str:
    """Listen on `address`; the URL under which it is reached, with the port that the kernel chose for 0."""
    site: web.BaseSite
    if address.path:
        site = web.UnixSite(runner, address.path, backlog=BACKLOG)
    else:
        site = web.TCPSite(runner, address.host, address.port, backlog=BACKLOG)
    try:
        await site.start()
    except OSError as refused:
        raise StartError(_why_not(setting, address, refused)) from None
    if address.path:
        sockets.remember(address.path)
    if isinstance(site, web.TCPSite):
        return f"http://{address._replace(host=address.host or '*', port=site.port).shown}"
    return address.shown


def _why_not(setting: str, address: Address, refused: OSError) -> str:
    where = f"Cannot listen on {address.shown} ({setting})"
    if isinstance(refused, socket.gaierror):
        return f"{where}: the host {address.host} has no address here; write an address of this machine."
    match refused.errno:
        case errno.EADDRINUSE:
            return f"{where}: it is in use; stop what listens there or choose another with --{setting}."
        case errno.EACCES:
            return (
                f"{where}: permission denied; choose a port from 1024 up, or a folder that may be written to."
            )
        case errno.EADDRNOTAVAIL:
            return f"{where}: that address is none of this machine's."
        case errno.ENOENT | errno.ENOTDIR:
            return f"{where}: the folder of the socket does not exist; create it."
    return f"{where}: {refused.strerror or refused}."


def _signals(server: Server) -> asyncio.Queue[signal.Signals]:
    """SIGTERM and SIGINT as they come; SIGHUP reloads."""
    loop = asyncio.get_running_loop()
    stops: asyncio.Queue[signal.Signals] = asyncio.Queue()
    reloads: set[asyncio.Task[Any]] = set()

    def reload() -> None:
        task = loop.create_task(server.reload("SIGHUP"))
        reloads.add(task)
        task.add_done_callback(reloads.discard)

    for one in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(one, stops.put_nowait, one)
    loop.add_signal_handler(signal.SIGHUP, reload)
    return stops


async def _leave(server: Server, first: signal.Signals, stops: asyncio.Queue[signal.Signals]) -> None:
    if first is signal.SIGINT:
        await server.stop(QUICK_SECONDS)
        return

    async def gently() -> None:
        await server.drain()
        await server.stop(server.settings.deadlines.shutdown_seconds)

    gentle = asyncio.create_task(gently())
    again = asyncio.create_task(stops.get())
    await asyncio.wait((gentle, again), return_when=asyncio.FIRST_COMPLETED)
    again.cancel()
    if not gentle.done():
        gentle.cancel()
        await asyncio.wait((gentle,))
        await server.stop(0)
    else:
        gentle.result()


def run(loaded: Loaded, load: Callable[[], Loaded]) -> None:
    """Serve until told to stop. Raises StartError with a sentence where that cannot begin."""

    async def whole_life() -> None:
        server = Server(loaded, load)
        with overheard(server.events):
            stops = _signals(server)
            await server.start()
            server.greet()
            settle()
            watching = asyncio.create_task(server.reloader.watch())
            first = await stops.get()
            watching.cancel()
            server.events.info("stopping", signal=first.name)
            await _leave(server, first, stops)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(whole_life())
