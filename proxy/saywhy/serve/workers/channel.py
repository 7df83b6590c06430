"""What parent and worker tell each other: JSON objects, a line each, over a pair of connected sockets.

parent to worker
  report               say what you have counted
  build  number identity   build the set of the files as they are now, and keep it ready
  switch number        put it in force
  drain                answers close their connections from now on
  stop   seconds       accept no more, end within so many seconds

worker to parent
  ready                callers are served
  report snapshot      every second, when asked, and as the last word
  built  number problems   the set stands, or why not
  switched number      it is in force
  stopped cut_off      nobody is served any more; so many exchanges were not waited for

Either side that finds the other gone knows what to do: see `slot` and `worker`.
"""

from __future__ import annotations

import asyncio
import json
import socket
from typing import Any

MOST_BYTES = 64 * 1024 * 1024
"""Of one message. A report has some 60 bytes a series."""

_BACKLOG_BYTES = 1024 * 1024

Message = dict[str, Any]


class Channel:
    """One end."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @property
    def stalled(self) -> bool:
        """Whether the other side has not read what it was sent: more would only pile up."""
        return self._writer.transport.get_write_buffer_size() > _BACKLOG_BYTES

    def tell(self, what: str, **about: Any) -> None:
        """Send one message; to nobody, where the other side is gone."""
        if not self._writer.transport.is_closing():
            self._writer.write(json.dumps({"what": what, **about}, separators=(",", ":")).encode() + b"\n")

    async def hear(self) -> Message | None:
        """The next message; None where the other side is gone."""
        try:
            line = await self._reader.readuntil(b"\n")
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
            return None
        message = json.loads(line)
        return message if isinstance(message, dict) else None

    async def flush(self) -> None:
        """Wait until the other side has been sent everything."""
        try:
            await self._writer.drain()
        except OSError:
            pass
        self._writer.close()

    def close(self) -> None:
        """Say no more."""
        self._writer.close()


async def open_channel(sock: socket.socket) -> Channel:
    """This process's end of a pair."""
    return Channel(*await asyncio.open_unix_connection(sock=sock, limit=MOST_BYTES))
