"""How a process ends, alone or the parent of workers.

SIGTERM             not ready at once, accepting for `drain_seconds`, then `shutdown_seconds` for what is in flight
SIGINT              what is in flight gets one second
a second of either  nothing is waited for
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from saywhy.edge.settings import Deadlines

QUICK_SECONDS = 1.0

Signals = asyncio.Queue[signal.Signals]


class Ending(Protocol):
    """What ends."""

    def drain(self) -> None:
        """Not ready from now on, still accepting: balancers need a moment to notice."""

    async def stop(self, seconds: float) -> None:
        """Stop accepting; what is in flight gets `seconds`."""


def listen_to_signals(reload: Callable[[str], Awaitable[Any]]) -> Signals:
    """SIGTERM and SIGINT as they come; SIGHUP reloads."""
    loop = asyncio.get_running_loop()
    stops: Signals = asyncio.Queue()
    reloads: set[asyncio.Future[Any]] = set()

    def hang_up() -> None:
        task = asyncio.ensure_future(reload("SIGHUP"))
        reloads.add(task)
        task.add_done_callback(reloads.discard)

    for one in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(one, stops.put_nowait, one)
    loop.add_signal_handler(signal.SIGHUP, hang_up)
    return stops


async def leave(ending: Ending, first: signal.Signals, stops: Signals, deadlines: Deadlines) -> None:
    """End as `first` asks for, quicker when another comes."""

    async def gently() -> None:
        if first is signal.SIGINT:
            await ending.stop(QUICK_SECONDS)
            return
        ending.drain()
        await asyncio.sleep(deadlines.drain_seconds)
        await ending.stop(deadlines.shutdown_seconds)

    gentle = asyncio.create_task(gently())
    again = asyncio.create_task(stops.get())
    await asyncio.wait((gentle, again), return_when=asyncio.FIRST_COMPLETED)
    again.cancel()
    if not gentle.done():
        gentle.cancel()
        await asyncio.wait((gentle,))
        await ending.stop(0)
    else:
        gentle.result()
