"""How a process ends, alone or the parent of workers.

SIGTERM             not ready at once, accepting for `drain_seconds`, then `shutdown_seconds` for what is in flight
SIGINT              what is in flight gets one second
a second of either  nothing is waited for
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from saywhy.edge.settings import Deadlines

QUICK_SECONDS = 1.0

Signals = asyncio.Queue[signal.Signals]


class Ending(Protocol):
    """What ends. `cut_off` counts the exchanges and tunnels that were not let end by themselves."""

    @property
    def cut_off(self) -> int:
        """So far."""

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


async def leave(
    ending: Ending, first: signal.Signals, stops: Signals, deadlines: Deadlines, events: Any
) -> None:
    """End as `first` asks for, quicker when another comes; `events` are told of both, and of what it cost."""
    began = time.monotonic()
    events.info("stopping", _plan(first, deadlines), signal=first.name)

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
    if not gentle.done():
        second = again.result().name
        events.warning("cutting_off", f"{second} again: nothing more is waited for.", signal=second)
        gentle.cancel()
        await asyncio.wait((gentle,))
        await ending.stop(0)
    else:
        again.cancel()
        gentle.result()
    seconds, cut = round(time.monotonic() - began, 1), ending.cut_off
    lost = f"{cut} exchange{'s were' if cut > 1 else ' was'} cut off" if cut else "nothing was cut off"
    say = events.warning if cut else events.info
    say("stopped", f"Stopped after {seconds} s; {lost}.", cut_off=cut, seconds=seconds)


def _plan(first: signal.Signals, deadlines: Deadlines) -> str:
    if first is signal.SIGINT:
        return f"{first.name}: what is in flight has {QUICK_SECONDS:g} s."
    drain, rest = deadlines.drain_seconds, deadlines.shutdown_seconds
    return (
        f"{first.name}: callers are taken for {drain:g} s, then what is in flight has {rest:g} s;"
        " the same signal again cuts it off."
    )
