"""One worker's place in the parent: who works there now, what was last heard, and how often it went wrong."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable
from typing import Any

from saywhy.edge.merging import from_json
from saywhy.edge.meter import Snapshot
from saywhy.serve.workers.channel import Channel, Message, open_channel
from saywhy.serve.workers.fork import fork

LASTING_SECONDS = 10.0
"""A worker that ends after so long has not failed to start: its successor need not wait."""

_LONGEST_WAIT_SECONDS = 1.0
"""Callers wait in the socket of the worker that is not there. A fork costs some 50 ms: one a second hurts nobody."""


class Slot:
    """`process` is 0 while nobody works here; `ready` while callers are served. `changed` is called after either did.
    `unheard` is how often the parent has looked since anything was heard, `cut_off` how many exchanges were not waited for
    at the end.
    """

    def __init__(
        self, place: int, heard: Callable[[int, Snapshot], None], changed: Callable[[], None]
    ) -> None:
        self.place = place
        self.process = 0
        self.ready = False
        self.failures = 0
        self._heard, self._changed = heard, changed
        self.unheard = 0
        self.cut_off = 0
        self._channel: Channel | None = None
        self._began = 0.0
        self._hearing: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()
        self._waiting: dict[str, asyncio.Future[Message]] = {}

    async def fill(self, work: Callable[[socket.socket], int], files: set[int]) -> None:
        """Start a worker that lives `work`, with its end of the channel. Raises OSError where there is no room."""
        async with self._turn:
            ours, theirs = socket.socketpair()
            try:
                process = self.process = fork(lambda: work(theirs), {*files, theirs.fileno()})
            except BaseException:
                ours.close()
                raise
            finally:
                theirs.close()
            self._began, self.unheard = time.monotonic(), 0
            self._channel = await open_channel(ours)
            self._hearing = asyncio.create_task(self._hear(process, self._channel))

    async def _hear(self, process: int, channel: Channel) -> None:
        while (message := await channel.hear()) is not None:
            what, self.unheard = message["what"], 0
            if what == "ready":
                self.ready = True
            elif what == "stopped":
                self.cut_off += message["cut_off"]
            elif what == "report":
                self._heard(process, from_json(message["snapshot"]))
            waiting = self._waiting.pop(_about(message), None)
            if waiting is not None and not waiting.done():
                waiting.set_result(message)
            self._changed()
        channel.close()

    def tell(self, what: str, **about: Any) -> None:
        """Send an order; to nobody, while nobody works here."""
        if self._channel is not None:
            self._channel.tell(what, **about)

    async def ask(self, what: str, answer: str, seconds: float, **about: Any) -> Message | None:
        """Send an order and wait for the message that answers it; None where none came in time, or nobody is left to
        send one.
        """
        if not self.process:
            return None
        waiting = self._waiting.setdefault(
            _about({"what": answer, **about}), asyncio.get_running_loop().create_future()
        )
        self.tell(what, **about)
        await asyncio.wait((waiting,), timeout=seconds)
        return waiting.result() if waiting.done() and not waiting.cancelled() else None

    def left(self) -> bool:
        """Its process has ended; whether it served. Call `empty` next."""
        served, self.ready, self.process = self.ready, False, 0
        return served

    async def empty(self) -> None:
        """Hear what the process that ended still had to say, and make room."""
        async with self._turn:
            if time.monotonic() - self._began > LASTING_SECONDS:
                self.failures = 0
            self.failures += 1
            if self._hearing is not None:
                await asyncio.wait((self._hearing,))
            self._channel = self._hearing = None
            self.ready = False  # its last words may have been that it serves
            for waiting in self._waiting.values():
                waiting.cancel()
            self._waiting.clear()
        self._changed()

    @property
    def pause_seconds(self) -> float:
        """How long a successor has to wait: not at all, then longer from time to time."""
        return min(0.1 * 2.0 ** (self.failures - 2), _LONGEST_WAIT_SECONDS) if self.failures > 1 else 0.0


def _about(message: Message) -> str:
    """What an answer is recognized by."""
    return f"{message['what']} {message.get('number', '')}"
