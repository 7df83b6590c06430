"""One worker: a Server that takes the parent's orders, tells what it counts, and goes when the parent is gone."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from typing import Any

import uvloop

from saywhy.edge.events import open_events, overheard, style_for
from saywhy.edge.lines import json_gap, queued_stderr, text_gap
from saywhy.edge.merging import to_json
from saywhy.edge.meter import Snapshot
from saywhy.edge.packs import RuleErrors
from saywhy.edge.settings import Loaded, SettingsError
from saywhy.edge.trust import falling_back
from saywhy.serve.reload import CHANGED, Build, make_build
from saywhy.serve.server import Server
from saywhy.serve.workers.channel import Channel, Message, open_channel

REPORT_SECONDS = 1.0
"""What a worker that is killed has counted since its last report is lost."""

_ORDER_SECONDS = 1.0
"""After a signal to all, for the parent's order."""

Share = Sequence[tuple[socket.socket, bool]]


def work(build: Build, load: Callable[[], Loaded], share: Share, sock: socket.socket, place: int) -> int:
    """The whole life of worker `place`, and its exit status. `sock` is its end of the channel."""
    log = build.loaded.settings.log
    style = style_for(log.format, sys.stderr)

    async def live() -> None:
        events = open_events(style, log.level, worker=place)
        with overheard(events):
            worker = Worker(build, load, await open_channel(sock))
            _listen_in_vain(worker, events, place)
            await worker.live(share)

    with queued_stderr(json_gap if style == "json" else text_gap):
        # What the parent made is shared with it, page by page, for as long as nobody writes there: the collector would.
        gc.freeze()
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(live())
    return 0


def _listen_in_vain(worker: Worker, events: Any, place: int) -> None:
    """SIGTERM and SIGINT end no worker: systemd and terminals send them to all of a group, and the parent gives the order
    then. Where it gives none, somebody meant this process alone, and is told why nothing happens.
    """
    loop = asyncio.get_running_loop()

    def explain(name: str) -> None:
        if not worker.leaving:
            parent = os.getppid()
            sentence = f"Worker {place} does not end by {name}; send it to the parent, process {parent}."
            events.warning("signal_ignored", sentence, signal=name, process=os.getpid(), parent=parent)

    for one in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(one, loop.call_later, _ORDER_SECONDS, explain, one.name)


class Worker:
    """The server, and the parent's end of the line. `leaving` from when the parent says so."""

    def __init__(self, build: Build, load: Callable[[], Loaded], channel: Channel) -> None:
        with falling_back():
            self._server = Server(build)
        self.leaving = False
        self._load = load
        self._channel = channel
        self._built: dict[int, Build] = {}
        self._reported: Snapshot | None = None
        self._building: set[asyncio.Task[None]] = set()
        self._stopping: asyncio.Task[None] | None = None

    async def live(self, share: Share) -> None:
        """Serve until told to stop, or until nobody is there to tell."""
        await self._server.start(share)
        self._report()
        self._channel.tell("ready")
        reports = asyncio.create_task(self._report_regularly())
        hearing = asyncio.create_task(self._obey())
        await hearing
        reports.cancel()
        if self._stopping is not None:
            await asyncio.wait((self._stopping,))
        self._report()
        self._channel.tell("stopped", cut_off=self._server.cut_off)
        await self._channel.flush()

    async def _obey(self) -> None:
        """Hear the parent until it is gone, or the end that it ordered has come."""
        while True:
            hearing = asyncio.create_task(self._channel.hear())
            waited = {hearing} if self._stopping is None else {hearing, self._stopping}
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
            if not hearing.done():
                hearing.cancel()
                return
            message = hearing.result()
            if message is None:
                # No balancer can be told any more, and whoever is started in the parent's place wants the port.
                if self._stopping is None:
                    self._stop(self._server.settings.deadlines.shutdown_seconds)
                return
            await self._follow(message)

    async def _follow(self, order: Message) -> None:
        match order["what"]:
            case "report":
                self._report()
            case "build":
                task = asyncio.create_task(self._build(order["number"], order["identity"]))
                self._building.add(task)
                task.add_done_callback(self._building.discard)
            case "switch":
                build = self._built.get(order["number"])
                if build is not None:
                    self._built.clear()
                    await self._server.put_in_force(build)
                    self._channel.tell("switched", number=order["number"])
            case "drain":
                self.leaving = True
                self._server.drain()
            case "stop":
                self._stop(order["seconds"])

    def _stop(self, seconds: float) -> None:
        """End; the last word counts, for it is the more impatient one."""
        before = self._stopping
        self.leaving = True

        async def end() -> None:
            if before is not None:
                before.cancel()
                await asyncio.wait((before,))
            await self._server.stop(seconds)

        self._stopping = asyncio.create_task(end())

    async def _build(self, number: int, identity: str) -> None:
        problems: list[str] = []
        try:
            build = await asyncio.to_thread(make_build, self._load)
        except (SettingsError, RuleErrors) as refused:
            problems = str(refused).splitlines()
        except Exception as unforeseen:
            problems = [f"{type(unforeseen).__name__}: {unforeseen}"]
        else:
            self._built = {number: build}  # a set that was refused elsewhere is forgotten here
            if build.identity != identity:
                problems = [CHANGED]
        self._channel.tell("built", number=number, problems=problems)

    def _report(self) -> None:
        self._reported = self._server.meter.snapshot()
        self._channel.tell("report", snapshot=to_json(self._reported))

    async def _report_regularly(self) -> None:
        while True:
            await asyncio.sleep(REPORT_SECONDS)
            if not self._channel.stalled and self._server.meter.snapshot() != self._reported:
                self._report()
