"""The reading half of a connection: it can be told to wait, so that nobody is read faster than the other side takes."""

from __future__ import annotations

import asyncio
import fcntl
import termios
from typing import Final, cast

_NOTHING: Final = b"\0\0\0\0"


class Intake:
    """Reads until paused."""

    __slots__ = ("_paused", "transport")

    def __init__(self) -> None:
        self._paused = False
        self.transport: asyncio.Transport = cast(asyncio.Transport, None)

    @property
    def paused(self) -> bool:
        """Whether reading waits."""
        return self._paused

    @property
    def descriptor(self) -> int:
        """The socket's number, -1 where there is none any more."""
        raw = self.transport.get_extra_info("socket")
        return -1 if raw is None else int(raw.fileno())

    @property
    def unread(self) -> bool:
        """Whether bytes have come that the loop has not read yet."""
        number = self.descriptor
        return number >= 0 and fcntl.ioctl(number, termios.FIONREAD, _NOTHING) != _NOTHING

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
