"""All workers of a parent as one: started together, each replaced when it ends, added up, reloaded, ended."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from saywhy.edge.merging import Totals
from saywhy.edge.settings import Loaded
from saywhy.edge.trust import keep
from saywhy.edge.turns import share
from saywhy.serve.listening import Listeners
from saywhy.serve.reload import Build, as_started
from saywhy.serve.workers.fork import how_it_ended
from saywhy.serve.workers.slot import Slot
from saywhy.serve.workers.worker import work

REPORT_SECONDS = 0.5
"""How long a scrape waits for the workers; of one that does not answer, its last word counts."""

GIVE_UP_DEATHS = 10
"""So many in a row that ended before they served, and none that serves: it will not get better by trying."""

LOOK_SECONDS = 5.0
SILENT_LOOKS = 6
"""A worker that has said nothing for so long, and was asked each time, is stuck: the kernel goes on dealing callers to it,
and no probe notices. By looks, not by time: whoever stops all processes at once (docker pause) stops this one too.
"""

_BUILD_TRIES = 3
"""For workers that end while they build a set: killed by somebody, or by the set."""

_READY_SECONDS = 10.0
_BUILD_SECONDS = 60.0
_SWITCH_SECONDS = 10.0
_LATE_SECONDS = 3.0
"""For what a worker does besides waiting for exchanges: sockets, handshakes, its log."""


class Crew:
    """`busy` is held while a set is built: nobody is forked then. `given_up` tells how the last worker ended, once there
    is no more sense in starting another.
    """

    def __init__(
        self,
        build: Build,
        load: Callable[[], Loaded],
        listeners: Listeners,
        totals: Totals,
        events: Any,
        busy: asyncio.Lock,
    ) -> None:
        self.build = build
        self._started = build.loaded.settings
        keep(build.loaded.settings)
        self.crashes = 0
        self.spent_seconds = 0.0
        self.given_up: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._load, self._listeners, self._totals, self._events, self._busy = (
            load,
            listeners,
            totals,
            events,
            busy,
        )
        self._news = asyncio.Event()
        self._slots = [
            Slot(place, totals.heard, self._news.set) for place in range(build.loaded.settings.workers)
        ]
        self._turns = share()
        self._fruitless = 0
        self._number = 0
        self._agreed: set[int] = set()
        self._draining = self._stopping = False
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def processes(self) -> list[int]:
        """Those that live."""
        return [slot.process for slot in self._slots if slot.process]

    @property
    def ready(self) -> int:
        """How many serve."""
        return sum(slot.ready for slot in self._slots)

    @property
    def serving(self) -> int:
        """How many take exchanges: not those that say nothing, though they were asked twice."""
        return 0 if self._stopping else sum(slot.ready and slot.unheard < 2 for slot in self._slots)

    @property
    def cut_off(self) -> int:
        """Exchanges and tunnels that the workers' end did not wait for."""
        return sum(slot.cut_off for slot in self._slots)

    async def start(self) -> None:
        """Start all; returns when each serves, or there is no sense in waiting for it."""
        asyncio.get_running_loop().add_signal_handler(signal.SIGCHLD, self._reap)
        for slot in self._slots:
            await self._fill(slot)
        watching = asyncio.create_task(self._watch_over())
        self._tasks.add(watching)
        watching.add_done_callback(self._tasks.discard)
        await self._until(lambda: self.ready == len(self._slots) or self.given_up.done())

    async def _watch_over(self) -> None:
        while not self._stopping:
            await asyncio.sleep(LOOK_SECONDS)
            for slot in self._slots:
                if slot.ready and not self._stopping:
                    slot.unheard += 1
                    if slot.unheard > SILENT_LOOKS:
                        self._kill(slot, "worker_stuck", "does nothing any more")
                    else:
                        slot.tell("report")

    async def _fill(self, slot: Slot) -> None:
        """Put a worker into `slot`, however often it takes."""
        share = self._listeners.share(slot.place)
        files = {self._turns, *(sock.fileno() for sock, _ in share)}
        while not self._stopping:
            try:
                async with self._busy:
                    await slot.fill(
                        lambda sock: work(
                            as_started(self.build, self._started), self._load, share, sock, slot.place
                        ),
                        files,
                    )
            except OSError as refused:
                slot.failures += 1
                self._count_fruitless(f"no process could be started: {refused.strerror}")
                pause = slot.pause_seconds
                self._events.error(
                    "worker_not_started",
                    f"Worker {slot.place} could not be started: {refused.strerror}.",
                    worker=slot.place, why=refused.strerror, **_again(pause),
                )  # fmt: skip
                await asyncio.sleep(pause)
            else:
                if self._draining:
                    slot.tell("drain")
                if self._stopping:
                    slot.tell("stop", seconds=0)
                return

    def _reap(self) -> None:
        """Children have ended. Only ours are asked for: as the first process of a container we inherit others."""
        for slot in self._slots:
            if not slot.process:
                continue
            ended, status, usage = os.wait4(slot.process, os.WNOHANG)
            if ended:
                self.spent_seconds += usage.ru_utime + usage.ru_stime
                task = asyncio.create_task(self._replace(slot, slot.left(), ended, how_it_ended(status)))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    async def _replace(self, slot: Slot, served: bool, process: int, how: str) -> None:
        await slot.empty()
        self._totals.ended(process)
        if self._stopping:
            if how != "exit status 0":
                self._events.error(
                    "worker_ended_badly",
                    f"Worker {slot.place} did not end well ({how}).",
                    worker=slot.place, process=process, how=how,
                )  # fmt: skip
            return
        self.crashes += 1
        if served:
            self._fruitless = 0
        else:
            self._count_fruitless(how)
        pause = slot.pause_seconds
        self._events.error(
            "worker_ended",
            f"Worker {slot.place} ended ({how}); another takes its place.",
            worker=slot.place, process=process, how=how, **_again(pause),
        )  # fmt: skip
        await asyncio.sleep(pause)
        await self._fill(slot)
        successor = slot.process
        await self._until(lambda: slot.ready or slot.process != successor)
        if slot.ready and slot.process == successor:
            self._events.info(
                "worker_serves", f"Worker {slot.place} serves again.", worker=slot.place, process=successor
            )

    def _count_fruitless(self, how: str) -> None:
        self._fruitless += 1
        if self._fruitless >= GIVE_UP_DEATHS and not self.ready and not self.given_up.done():
            self.given_up.set_result(how)
            self._news.set()

    async def report(self) -> None:
        """Bring the totals up to date, in bounded time."""
        await asyncio.gather(
            *(slot.ask("report", "report", REPORT_SECONDS) for slot in self._slots if slot.ready)
        )
        self._totals.show()

    async def agree(self, build: Build) -> Sequence[str]:
        """See reload.Target. One after the other, so that the others serve undisturbed; the first that cannot ends it. Whoever
        takes a place meanwhile was forked with the old set, and is asked as well; whoever does later has the new one.
        """
        self._number += 1
        self._agreed.clear()
        tries = _BUILD_TRIES
        while left := [slot for slot in self._slots if slot.process and slot.process not in self._agreed]:
            slot = left[0]
            process = slot.process
            await self._until(lambda slot=slot: slot.ready or not slot.process, _READY_SECONDS)  # type: ignore[misc]
            if slot.process != process:
                continue
            answer = await slot.ask(
                "build", "built", _BUILD_SECONDS, number=self._number, identity=build.identity
            )
            if answer is None:
                tries -= 1
                if tries and slot.process != process:
                    continue
                return [
                    f"Worker {slot.place} ended, or was silent for too long, when it was to build the set."
                ]
            if answer["problems"]:
                return list(answer["problems"])
            self._agreed.add(process)
        return ()

    async def _until(self, true: Callable[[], bool], seconds: float | None = None) -> bool:
        """Whether it is `true` within `seconds`; looked at whenever a worker is heard or ends."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not true():
                    self._news.clear()
                    await self._news.wait()
        return true()

    async def put_in_force(self, build: Build) -> None:
        """See reload.Target. A worker that does not follow is replaced: it would go on with the old set."""
        self.build = build
        keep(build.loaded.settings)
        asked = [(slot, slot.process) for slot in self._slots if slot.process]
        answers = await asyncio.gather(
            *(slot.ask("switch", "switched", _SWITCH_SECONDS, number=self._number) for slot, _ in asked)
        )
        for (slot, process), answer in zip(asked, answers, strict=True):
            if answer is None and slot.process == process:
                self._kill(slot, "worker_refused_set", "did not take the new set")

    def _kill(self, slot: Slot, event: str, why: str) -> None:
        sentence = f"Worker {slot.place} (process {slot.process}) {why}; it is killed."
        self._events.error(event, sentence, worker=slot.place, process=slot.process)
        with suppress(ProcessLookupError):
            os.kill(slot.process, signal.SIGKILL)

    def drain(self) -> None:
        """Answers close their connections from now on; new ones are still taken."""
        self._draining = True
        for slot in self._slots:
            slot.tell("drain")

    async def stop(self, seconds: float) -> None:
        """No more callers; what is in flight gets `seconds`. Returns when no worker is left."""
        self._stopping = True
        for slot in self._slots:
            slot.tell("stop", seconds=seconds)
        self._listeners.close()
        if not await self._until(lambda: not self.processes, seconds + _LATE_SECONDS):
            for slot in self._slots:
                if slot.process:
                    self._kill(slot, "worker_did_not_end", "did not end")
            await self._until(lambda: not self.processes, _LATE_SECONDS)


def _again(pause: float) -> dict[str, float]:
    """The member that says when it is tried again, where that is not at once."""
    return {"again_in_seconds": pause} if pause else {}
