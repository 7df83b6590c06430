"""The end of listening: whoever has connected by then is let in, for closing a listener resets all whom it keeps waiting."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import socket
import struct
from collections.abc import Callable
from typing import Final

from aiohttp import web

_SETTLING_SECONDS: Final = 0.1
"""For handshakes under way to end, once no new one begins."""

_SO_ATTACH_FILTER: Final = 26
_NO_SYN: Final = b"".join(
    struct.pack("HBBI", *step)
    for step in (
        (0x30, 0, 0, 13),  # load the byte of flags of the TCP header
        (0x45, 0, 1, 0x02),  # SYN: the next step, else the one behind it
        (0x06, 0, 0, 0),  # drop
        (0x06, 0, 0, 0xFFFFFFFF),  # take
    )
)
"""A classic BPF program (linux/filter.h) that lets no new handshake begin: its SYN is lost, and tried again, by when
the listener is gone and refuses it. A reset behind a handshake would look like a lost request instead.
"""


async def stop_listening(runner: web.BaseRunner, make: Callable[[], asyncio.Protocol]) -> None:
    """Close the listeners of `runner`, and let `make` serve whoever has connected to them so far."""
    listeners = [listener for site in runner.sites for listener in _listeners(site)]
    try:
        if [listener for listener in listeners if _begin_no_more(listener)]:
            await asyncio.sleep(_SETTLING_SECONDS)
        # From here to the close nothing is awaited that waits: nobody comes in between.
        waiting = [caller for listener in listeners for caller in _waiting(listener)]
    finally:
        for listener in listeners:
            listener.close()
    loop = asyncio.get_running_loop()
    for site in list(runner.sites):
        await site.stop()
    for caller in waiting:
        with contextlib.suppress(OSError):
            await loop.connect_accepted_socket(make, caller)


def _listeners(site: web.BaseSite) -> list[socket.socket]:
    """Sockets of our own on what `site` listens on: the loop's cannot be asked to accept."""
    server = site._server
    sockets = getattr(server, "sockets", None) or ()
    return [socket.socket(fileno=os.dup(one.fileno())) for one in sockets]


def _begin_no_more(listener: socket.socket) -> bool:
    """Whether the kernel was told to begin no more handshakes."""
    if listener.family not in (socket.AF_INET, socket.AF_INET6):
        return False
    steps = ctypes.create_string_buffer(_NO_SYN, len(_NO_SYN))
    program = struct.pack("HP", len(_NO_SYN) // 8, ctypes.addressof(steps))
    try:
        listener.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, program)
    except OSError:
        return False
    return True


def _waiting(listener: socket.socket) -> list[socket.socket]:
    listener.setblocking(False)
    callers = []
    with contextlib.suppress(OSError):
        while True:
            callers.append(listener.accept()[0])
    for caller in callers:
        caller.setblocking(False)
    return callers
