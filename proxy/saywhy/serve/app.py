"""The process from its first to its last breath.

start    rules and settings stand, and every socket is open, before anybody is served
run      until SIGTERM or SIGINT; SIGHUP reloads
stop     see `ending`
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from typing import Any

import uvloop
from prometheus_client.registry import CollectorRegistry

from saywhy.edge.events import open_events, overheard, style_for
from saywhy.edge.packs import RuleErrors
from saywhy.edge.settings import Loaded, SettingsError
from saywhy.serve.admin import AdminPort
from saywhy.serve.descriptors import take_enough
from saywhy.serve.ending import leave, listen_to_signals
from saywhy.serve.greeting import greet
from saywhy.serve.listening import Listeners, StartError, open_admin, open_listeners
from saywhy.serve.reload import Build, Reloader, make_build, settle
from saywhy.serve.server import Server
from saywhy.serve.workers import run_workers

__all__ = ["StartError", "run"]


class Alone:
    """One process that does everything: serves, and answers its operators."""

    def __init__(self, build: Build, load: Callable[[], Loaded], events: Any) -> None:
        self.not_ready = "Starting."
        self._serves = False
        self.server = Server(build)
        meter = self.server.meter
        meter.watch("saywhy_workers", lambda: {(): int(self._serves)})
        meter.watch("saywhy_worker_crashes_total", lambda: {(): 0})
        self.reloader = Reloader(build, load, self.server, meter, events)
        self.admin = AdminPort(self)

    @property
    def registry(self) -> CollectorRegistry:
        """What /metrics shows."""
        return self.server.meter.registry

    async def refresh(self) -> None:
        """See Operations: what is shown is what is counted."""

    async def reload(self, why: str) -> tuple[str, ...]:
        """See Reloader."""
        return await self.reloader.reload(why)

    @property
    def needs_restart(self) -> Sequence[str]:
        """See Reloader."""
        return self.reloader.needs_restart

    async def start(self, listeners: Listeners, admin: Listeners) -> None:
        """Serve."""
        self._listeners = listeners
        await self.server.start(listeners.share(0))
        self._serves = True
        await self.admin.start(admin)
        self.not_ready = ""

    def drain(self) -> None:
        """See ending."""
        self.not_ready = "Stopping."
        self.server.drain()

    @property
    def cut_off(self) -> int:
        """See ending."""
        return self.server.cut_off

    async def stop(self, seconds: float) -> None:
        """See ending. The admin port goes last, so that probes see the end."""
        self.not_ready = "Stopping."
        self._serves = False
        self._listeners.remove_files()
        await self.server.stop(seconds)
        await self.admin.stop()


async def _live(build: Build, load: Callable[[], Loaded], listeners: Listeners, admin: Listeners) -> None:
    log = build.loaded.settings.log
    events = open_events(style_for(log.format, sys.stderr), log.level)
    alone = Alone(build, load, events)
    with overheard(events):
        stops = listen_to_signals(alone.reload)
        await alone.start(listeners, admin)
        greet(build.loaded, listeners.urls, admin.urls, events)
        settle()
        watching = asyncio.create_task(alone.reloader.watch())
        first = await stops.get()
        watching.cancel()
        await leave(alone, first, stops, build.loaded.settings.deadlines, events)


def run(loaded: Loaded, load: Callable[[], Loaded]) -> None:
    """Serve until told to stop. Raises StartError with a sentence where that cannot begin."""
    take_enough(loaded.settings)
    try:
        build = make_build(lambda: loaded)
    except (SettingsError, RuleErrors) as wrong:
        raise StartError(str(wrong)) from None
    listeners = open_listeners(loaded.settings)
    try:
        admin = open_admin(loaded.settings)
    except StartError:
        listeners.remove_files()
        listeners.close()
        raise
    if loaded.settings.workers > 1:
        run_workers(build, load, listeners, admin)
        return
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_live(build, load, listeners, admin))
