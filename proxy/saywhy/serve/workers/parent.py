"""The process of the operator, where several serve: its signals, its admin port, the set in force. It relays nothing."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any

from prometheus_client.registry import CollectorRegistry

from saywhy.edge.events import open_events, overheard, style_for
from saywhy.edge.merging import Processes, Totals
from saywhy.edge.meter import Meter
from saywhy.edge.settings import Loaded
from saywhy.serve.admin import AdminPort
from saywhy.serve.ending import leave, listen_to_signals
from saywhy.serve.greeting import greet
from saywhy.serve.listening import Listeners, StartError
from saywhy.serve.reload import Build, Reloader, known_rules, settle
from saywhy.serve.workers.crew import Crew


class Parent:
    """What Alone is where one process serves. Ready when every worker is, for the first time; from then on while one
    is: callers of a worker that ended wait some milliseconds for the next, and are worth no restart of all.
    """

    def __init__(self, build: Build, load: Callable[[], Loaded], listeners: Listeners, events: Any) -> None:
        self.meter = Meter(version=version("saywhy"), process=Processes(self._children, self._spent))
        self.meter.know(build.loaded.settings.upstreams, known_rules(build.normalizer))
        busy = asyncio.Lock()
        self.crew = Crew(build, load, listeners, Totals(self.meter), events, busy)
        self.meter.watch("saywhy_workers", lambda: {(): self.crew.serving})
        self.meter.watch("saywhy_worker_crashes_total", lambda: {(): self.crew.crashes})
        self.reloader = Reloader(build, load, self, self.meter, events, busy)
        self.admin = AdminPort(self)
        self._listeners = listeners
        self._why_not = "Starting."

    def _children(self) -> list[int]:
        return self.crew.processes

    def _spent(self) -> float:
        return self.crew.spent_seconds

    @property
    def not_ready(self) -> str:
        """See Operations."""
        return self._why_not or ("" if self.crew.ready else "No worker serves.")

    @property
    def registry(self) -> CollectorRegistry:
        """What /metrics shows."""
        return self.meter.registry

    async def refresh(self) -> None:
        """See Operations."""
        await self.crew.report()

    async def reload(self, why: str) -> tuple[str, ...]:
        """See Reloader."""
        return await self.reloader.reload(why)

    @property
    def needs_restart(self) -> Sequence[str]:
        """See Reloader."""
        return self.reloader.needs_restart

    async def agree(self, build: Build) -> Sequence[str]:
        """See reload.Target."""
        return await self.crew.agree(build)

    async def put_in_force(self, build: Build) -> None:
        """See reload.Target."""
        self.meter.know(build.loaded.settings.upstreams, known_rules(build.normalizer))
        await self.crew.put_in_force(build)
        settle()

    async def start(self, admin: Listeners) -> None:
        """Start the workers, then say so."""
        await self.admin.start(admin)
        await self.crew.start()
        self._why_not = ""

    def drain(self) -> None:
        """See ending."""
        self._why_not = "Stopping."
        self.crew.drain()

    @property
    def cut_off(self) -> int:
        """See ending."""
        return self.crew.cut_off

    async def stop(self, seconds: float) -> None:
        """See ending. The admin port goes last, so that probes see the end."""
        self._why_not = "Stopping."
        self._listeners.remove_files()
        await self.crew.stop(seconds)
        await self.admin.stop()


async def _live(build: Build, load: Callable[[], Loaded], listeners: Listeners, admin: Listeners) -> None:
    log = build.loaded.settings.log
    events = open_events(style_for(log.format, sys.stderr), log.level)
    parent = Parent(build, load, listeners, events)
    with overheard(events):
        stops = listen_to_signals(parent.reload)
        stopping = asyncio.create_task(stops.get())
        starting = asyncio.create_task(parent.start(admin))
        await asyncio.wait((stopping, starting), return_when=asyncio.FIRST_COMPLETED)
        if starting.done():
            starting.result()
            if not parent.crew.given_up.done():
                greet(build.loaded, listeners.urls, admin.urls, events)
        watching = asyncio.create_task(parent.reloader.watch())
        await asyncio.wait((stopping, parent.crew.given_up), return_when=asyncio.FIRST_COMPLETED)
        watching.cancel()
        if not stopping.done():
            stopping.cancel()
            await parent.stop(0)
            raise StartError(_hopeless(parent.crew.given_up.result()))
        first = stopping.result()
        await leave(parent, first, stops, build.loaded.settings.deadlines, events)
        starting.cancel()


def _hopeless(how: str) -> str:
    return f"No worker gets as far as serving: each ends before ({how}). Look for what they wrote above, and for limits on memory or processes; with workers: 1 there is but one process."


def run_workers(build: Build, load: Callable[[], Loaded], listeners: Listeners, admin: Listeners) -> None:
    """Serve with `workers` processes until told to stop. Raises StartError where they cannot even begin."""
    # What stands now is shared with every worker; see `settle` for what freezing is.
    settle()
    # asyncio's own loop: libuv's cannot be left behind by a fork without its help, and there is nothing to be fast at.
    with asyncio.Runner() as runner:
        runner.run(_live(build, load, listeners, admin))
