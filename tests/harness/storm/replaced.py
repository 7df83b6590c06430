"""A site that is replaced while it serves: the new one listens on the same port before the old one goes. As a process:
`python -m storm.replaced PORT FILE`, with `once` behind it for a site that keeps no connection; SIGTERM ends it as good sites end, SIGKILL as all of them may.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections import Counter
from collections.abc import Callable
from typing import cast

LULL = 0.05
"""Seconds between the listener's end and the last answers on connections that are kept."""


class Replaceable:
    """One generation: `name` is in each of its answers, `record` is told each upload's name before it is answered."""

    def __init__(self, name: str, record: Callable[[str], object], *, once: bool = False) -> None:
        self.name = name.encode()
        self.record = record
        self.ending = once
        self.open: set[Connection] = set()
        self.server: asyncio.Server = cast(asyncio.Server, None)

    async def listen(self, port: int) -> int:
        """Listen beside whoever already does; the port."""
        loop = asyncio.get_running_loop()
        self.server = await loop.create_server(
            lambda: Connection(self), "127.0.0.1", port, reuse_port=True, backlog=1024
        )
        return int(self.server.sockets[0].getsockname()[1])

    async def end(self) -> None:
        """Accept no more, say goodbye with the next answers, then close what is idle."""
        self.server.close()
        await asyncio.sleep(LULL)
        self.ending = True
        await asyncio.sleep(LULL)
        for one in list(self.open):
            if not one.buffer:
                one.transport.close()

    def kill(self) -> None:
        """Gone, in the middle of whatever it did."""
        self.server.close()
        for one in list(self.open):
            one.transport.abort()


class Connection(asyncio.Protocol):
    """Answers GET at once, POST and PUT when their body is there."""

    def __init__(self, site: Replaceable) -> None:
        self.site = site
        self.buffer = b""
        self.transport: asyncio.Transport = cast(asyncio.Transport, None)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.site.open.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.site.open.discard(self)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head, blank, rest = self.buffer.partition(b"\r\n\r\n")
        if not blank:
            return
        method, target, _ = head.split(b" ", 2)
        if method != b"GET":
            size = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
            if len(rest) < size:
                return
            self.site.record(target.decode())
        self.buffer = b""
        bye = b"Connection: close\r\n" if self.site.ending else b""
        self.transport.write(
            b"HTTP/1.1 200 OK\r\nX-Site: %b\r\n%bContent-Length: 2\r\n\r\nok" % (self.site.name, bye)
        )
        if bye:
            self.transport.close()


class Load:
    """Callers that ask on kept connections until told to stop, and note what became of each request."""

    def __init__(self, port: int, method: str) -> None:
        self.port = port
        self.method = method
        self.over = False
        self.sites: Counter[bytes] = Counter()
        self.answered: list[str] = []
        self.failed: dict[str, bytes] = {}

    async def run(self, callers: int) -> None:
        """Until `over`."""
        async with asyncio.TaskGroup() as group:
            for number in range(callers):
                group.create_task(self._caller(number))

    async def _caller(self, number: int) -> None:
        asked = 0
        while not self.over:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            try:
                while not self.over:
                    asked += 1
                    if not await self._ask(f"/{number}.{asked}", reader, writer):
                        break
            finally:
                writer.close()

    async def _ask(self, target: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        body = b"" if self.method == "GET" else target.encode() * 50
        size = f"Content-Length: {len(body)}\r\n" if body else ""
        writer.write(f"{self.method} {target} HTTP/1.1\r\nHost: t\r\n{size}\r\n".encode() + body)
        head = b""
        try:
            async with asyncio.timeout(30):
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
                await reader.readexactly(length)
        except (asyncio.IncompleteReadError, ConnectionError, TimeoutError) as error:
            self.failed[target] = repr(error).encode()
            return False
        if not head.startswith(b"HTTP/1.1 200 "):
            self.failed[target] = head
            return True
        self.answered.append(target)
        self.sites[head.partition(b"X-Site: ")[2].partition(b"\r\n")[0]] += 1
        return True


def doubled_or_lost(recorded: list[str], load: Load) -> list[str]:
    """Uploads that a site saw twice, and acknowledged ones that none saw."""
    seen = Counter(recorded)
    return [name for name, count in seen.items() if count > 1] + [
        name for name in load.answered if not seen[name]
    ]


async def _main(port: int, file: str, *how: str) -> None:
    record = os.open(file, os.O_APPEND | os.O_CREAT | os.O_WRONLY)
    site = Replaceable(
        str(os.getpid()), lambda name: [os.write(record, f"{name}\n".encode())], once="once" in how
    )
    over = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, over.set)
    print(await site.listen(port), flush=True)
    await over.wait()
    await site.end()
    await asyncio.sleep(1)


if __name__ == "__main__":
    asyncio.run(_main(int(sys.argv[1]), *sys.argv[2:]))
