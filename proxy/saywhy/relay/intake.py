"""The reading half of a connection: it can be told to wait, so that nobody is read faster than the other side takes."""

from __future__ import annotations

import asyncio
from typing import cast


class Intake:
    """Reads until paused."""

    __slots__ = ("_paused", "transport")

    def __init__(self) -> None:
        self._paused = False
        self.transport: asyncio.Transport = cast(asyncio.Transport, None)

    def pause(self) -> None:
        """Read no more until resumed."""
        if not self._paused:
            self._paused = True
            self.transport.pause_reading()

    def resume(self) -> None:
        """Read on."""
        if self._paused:
            self._paused = False
            if not self.transport.is_closing():
                self.transport.resume_reading()
