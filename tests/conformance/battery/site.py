"""The recording site: it plays one case's script to whoever connects, and keeps every byte that came."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import AsyncIterator
from typing import Literal, NamedTuple

from battery.wire import HEAD_END, Asked, read_requests

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Up: 1\r\n\r\nok"

_PATIENCE_SECONDS = 0.35
"""How long an unfinished request may stand still before the site answers it as it is: some do, and what a proxy then
does with the rest of it is what cases about framing look for."""

_HARD = struct.pack("ii", 1, 0)


class Script(NamedTuple):
    """What the site does once it has read a request: `steps` are bytes to send and seconds to wait, `end` what follows.
    `at_once`: already when the first bytes come. `continues`: it answers `Expect: 100-continue` by a 100.
    """

    steps: tuple[bytes | float, ...] = (OK,)
    end: Literal["keep", "close", "reset", "echo", "hang"] = "keep"
    at_once: bool = False
    continues: bool = True


def reset(writer: asyncio.StreamWriter) -> None:
    """End the connection by a reset."""
    raw = writer.get_extra_info("socket")
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _HARD)
    writer.transport.abort()


class Site:
    """One port. `begin` starts a case: from then on what comes is kept apart, on connections that stayed open too."""

    def __init__(self) -> None:
        self.port = 0
        self.script = Script()
        self._case = 0
        self._records: list[bytearray] = []

    def begin(self, script: Script) -> None:
        """A new case."""
        self.script = script
        self._case += 1
        self._records = []

    @property
    def records(self) -> list[bytes]:
        """What each connection brought since the case began, those that brought nothing left out."""
        return [bytes(record) for record in self._records if record]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        with contextlib.suppress(ConnectionError, asyncio.CancelledError):
            await self._converse(reader, writer)
        writer.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        case, record, answered, continued, left = -1, bytearray(), 0, False, b""
        while True:
            try:
                data = await asyncio.wait_for(reader.read(65536), _PATIENCE_SECONDS if left else None)
            except TimeoutError:
                if not answered:
                    await self._play(self.script, reader, writer, record, Asked(b"", ()))
                return
            if not data:
                return
            if case != self._case:
                case, record, answered, continued = self._case, bytearray(), 0, False
                self._records.append(record)
            record += data
            script = self.script
            requests, left = read_requests(bytes(record))
            if script.at_once:
                await self._play(script, reader, writer, record, Asked(b"", ()))
                return
            if left and not continued and script.continues and _expects(left):
                continued = True
                writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            for asked in requests[answered:]:
                answered += 1
                if not await self._play(script, reader, writer, record, asked):
                    return

    async def _play(
        self,
        script: Script,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        record: bytearray,
        asked: Asked,
    ) -> bool:
        """Play `script`; whether the connection goes on."""
        for step in script.steps:
            if isinstance(step, bytes):
                writer.write(step[:-2] if step is OK and asked.method == b"HEAD" else step)
                await writer.drain()
            else:
                await asyncio.sleep(step)
        if script.end == "echo":
            while data := await reader.read(65536):
                record += data
                writer.write(data)
        elif script.end == "hang":
            await reader.read(65536)
        elif script.end == "reset":
            reset(writer)
        return script.end == "keep" and b"close" not in b",".join(asked.all(b"connection")).lower()


def _expects(left: bytes) -> bool:
    head, whole, _ = left.partition(HEAD_END)
    return bool(whole) and b"\r\nexpect:100-continue" in head.lower().replace(b" ", b"")


@contextlib.asynccontextmanager
async def listening() -> AsyncIterator[Site]:
    """A site on a port of loopback; its connections end with it."""
    site = Site()
    tasks: set[asyncio.Task[None]] = set()

    async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        await site.serve(reader, writer)

    server = await asyncio.start_server(one, "127.0.0.1", 0, limit=1 << 22)
    site.port = server.sockets[0].getsockname()[1]
    try:
        yield site
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
