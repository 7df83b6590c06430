"""The thread beside the loop, for the few pages that take long to read: a tree for selectors, a report of a thousand faults.

One thread, since reading is Python's work and two would only wait for each other. What waits for it keeps its place in the
budget of held bodies, so that memory is bounded without a count here; the count bounds how long somebody waits.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

from saywhy.core.model import Verdict

_MOST_WAITING: Final = 64
"""A page that takes long takes 10 to 100 ms: the last of so many waits for two seconds, as long as a body is waited for."""


class Reader:
    """Reads what would stop the loop. `waiting` counts what is asked and not yet answered; the thread starts when first
    needed.
    """

    __slots__ = ("_executor", "waiting")

    def __init__(self) -> None:
        self._executor: ThreadPoolExecutor | None = None
        self.waiting = 0

    @property
    def has_room(self) -> bool:
        """Whether one more would be read in time."""
        return self.waiting < _MOST_WAITING

    def read(self, work: Callable[[], Verdict], then: Callable[[Verdict], None]) -> None:
        """Do `work`, which never raises, in the thread, and `then` in the loop that this is called from."""
        if self._executor is None:
            self._executor = ThreadPoolExecutor(1, "saywhy-reader")
        loop = asyncio.get_running_loop()
        self.waiting += 1

        def finish(verdict: Verdict) -> None:
            self.waiting -= 1
            then(verdict)

        def hand_back(done: Future[Verdict]) -> None:
            if not done.cancelled():
                with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                    loop.call_soon_threadsafe(finish, done.result())

        self._executor.submit(work).add_done_callback(hand_back)

    def close(self) -> None:
        """Read nothing more; what is being read ends by itself, within the bounds of the core."""
        if self._executor is not None:
            self._executor.shutdown(wait=False, cancel_futures=True)
            self._executor = None
