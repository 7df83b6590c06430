"""Accepting callers of a TLS listener, one handshake at a time each and so many at once.

The loop's own server would do, but for two things. What a handshake takes (a quarter of a megabyte of addresses, 50 KB of
memory) it takes for as many as connect, before anybody counts them. And where addresses are short it fails between
the accept and the handshake, and never accepts again.
"""

from __future__ import annotations

import asyncio
import resource
import socket
from collections.abc import Awaitable, Callable
from typing import Final

MOST: Final = 2048
"""Handshakes at once, 100 MB. Whoever comes then waits in the kernel's queue for one of them to end."""

_AT_A_TIME: Final = 64
"""Callers accepted before others have their turn."""

_REST_SECONDS: Final = 0.1
"""Before trying again, where descriptors or addresses are short."""

_ROOM_BYTES: Final = 64 * 1024 * 1024
_EACH_BYTES: Final = 320 * 1024


def room() -> int | None:
    """For how many connections a limit on addresses (ulimit -v) leaves enough, beside what all else needs; None where
    there is no limit. Where none are left, uvloop does not survive it.
    """
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    try:
        with open("/proc/self/statm", "rb") as told:
            taken = int(told.read().split()[0]) * resource.getpagesize()
    except OSError:
        return None
    return None if most == resource.RLIM_INFINITY else max(1, (most - taken - _ROOM_BYTES) // _EACH_BYTES)


class Doorway:
    """Hands each caller of `sock` to `let_in`, which takes the connection over or raises. Owns `sock`."""

    def __init__(
        self, sock: socket.socket, let_in: Callable[[socket.socket], Awaitable[asyncio.BaseTransport]]
    ) -> None:
        self._sock, self._let_in = sock, let_in
        self._loop = asyncio.get_running_loop()
        self._entering: set[asyncio.Task[None]] = set()
        self._room, self._inside = room(), set[asyncio.BaseTransport]()
        self._reading = self._closed = False
        self._read()

    def close(self) -> None:
        """Accept nobody any more; handshakes under way go on."""
        if not self._closed:
            self._pause()
            self._closed = True
            self._sock.close()

    def _read(self) -> None:
        if not (self._closed or self._reading or len(self._entering) >= MOST):
            self._reading = True
            self._loop.add_reader(self._sock, self._accept)

    def _pause(self) -> None:
        if self._reading:
            self._reading = False
            self._loop.remove_reader(self._sock)

    def _accept(self) -> None:
        for _ in range(_AT_A_TIME):
            if len(self._entering) >= MOST:
                self._pause()
                return
            if self._is_full():
                self._rest()
                return
            try:
                caller, _ = self._sock.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError:  # no descriptor is left
                self._rest()
                return
            caller.setblocking(False)
            task = self._loop.create_task(self._enter(caller))
            self._entering.add(task)
            task.add_done_callback(self._entered)

    def _is_full(self) -> bool:
        if self._room is None:
            return False
        if len(self._inside) + len(self._entering) >= self._room:
            self._inside = {one for one in self._inside if not one.is_closing()}
        return len(self._inside) + len(self._entering) >= self._room

    def _rest(self) -> None:
        self._pause()
        self._loop.call_later(_REST_SECONDS, self._read)

    async def _enter(self, caller: socket.socket) -> None:
        try:
            transport = await self._let_in(caller)
        except OSError:  # a handshake that failed is nobody's fault here
            caller.close()
        else:
            if self._room is not None:
                self._inside.add(transport)

    def _entered(self, task: asyncio.Task[None]) -> None:
        self._entering.discard(task)
        self._read()
