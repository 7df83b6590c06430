"""The end of listening: whoever has connected by then is let in, for closing a listener resets all whom it keeps waiting."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import socket
import struct
from collections.abc import Sequence
from typing import Final

from saywhy.serve.sites import SocketSite

_SETTLING_SECONDS: Final = 0.1
"""For handshakes under way to end, once no new one begins."""

_HANDSHAKE_SECONDS: Final = 0.5
"""For TLS handshakes under way: two round trips to far away, and the callers' arithmetic."""

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


async def stop_listening(sites: Sequence[SocketSite]) -> None:
    """Stop `sites` for good, whoever else holds their sockets, and let in whoever has connected to them so far."""
    copies = [(site, site.listener.dup()) for site in sites]
    try:
        if [copy for _, copy in copies if _begin_no_more(copy)]:
            await asyncio.sleep(_SETTLING_SECONDS)
        # From here to the close nothing is awaited that waits: nobody comes in between.
        waiting = [(site, caller) for site, copy in copies for caller in _waiting(copy)]
    finally:
        for _, copy in copies:
            copy.close()
        for site in sites:
            site.listener.close()
    for site in sites:
        await site.stop()
    entries = [asyncio.create_task(_let_in(site, caller)) for site, caller in waiting]
    if any(site.tls for site in sites):
        # Those whose handshake is under way are nobody's connections yet, and look as if there were none.
        await asyncio.sleep(_HANDSHAKE_SECONDS)
    elif entries:
        await asyncio.wait(entries)
    for entry in entries:
        entry.cancel()


async def _let_in(site: SocketSite, caller: socket.socket) -> None:
    try:
        await site.let_in(caller)
    except (OSError, asyncio.CancelledError):
        caller.close()


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
