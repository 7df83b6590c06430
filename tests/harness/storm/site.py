"""The storm's site: answers each request with its own tag, in the shape that the tag asks for."""

from __future__ import annotations

import asyncio
import signal
import socket
import struct
from typing import cast

import uvloop

from storm.shapes import CLOSE, NEXT, RESET, Step, answer, shape_of

_HARD = struct.pack("ii", 1, 0)


class TaggingSite(asyncio.Protocol):
    """One connection. An upload's content must be the request's own: if it is not, the answer says `X-Id: mixed`."""

    def __init__(self) -> None:
        self.buffer = b""
        self.late: list[Step] = []  # the rest of an answer that goes out in pieces
        self.closing = False
        self.transport: asyncio.Transport = cast(asyncio.Transport, None)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        data = self.buffer + data if self.buffer else data
        while not self.late and not self.closing and (end := data.find(b"\r\n\r\n") + 4) > 3:
            method, target, _ = data.split(b" ", 2)
            tag = target[1:]
            size = _upload(data, end) if method == b"POST" else 0
            shape = shape_of(tag)
            if size < 0 and not shape.early:
                break
            if size and not shape.early and data[end : end + size].replace(b"\r\n", b"").count(tag) != 3:
                self.transport.write(b"HTTP/1.1 200 OK\r\nX-Id: mixed\r\nContent-Length: 0\r\n\r\n")
            if size < 0:  # answered without its body, which nobody will read
                self.closing = True
            data = data[end + size :] if size >= 0 else b""
            self._play(answer(tag, method))
        self.buffer = data

    def _play(self, steps: list[Step]) -> None:
        for at, step in enumerate(steps):
            if isinstance(step, bytes):
                self.transport.write(step)
            elif step == NEXT:
                self.late = steps[at + 1 :]
                asyncio.get_running_loop().call_later(
                    0.001, self._go_on
                )  # or it would leave with what is before
                return
            elif step == RESET:
                raw = self.transport.get_extra_info("socket")
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _HARD)
                self.closing = True
                self.transport.abort()
            elif step == CLOSE:
                self.closing = True
                self.transport.close()

    def _go_on(self) -> None:
        steps, self.late = self.late, []
        if not self.transport.is_closing():
            self._play(steps)
            self.data_received(b"")


def _upload(data: bytes, end: int) -> int:
    """How many bytes an upload's body has on the wire, -1 where they are not all there."""
    head = data[:end].lower()
    at = head.find(b"\r\ncontent-length: ")
    if at >= 0:
        size = int(head[at + 18 : head.index(b"\r\n", at + 18)])
        return size if len(data) >= end + size else -1
    last = data.find(b"\r\n0\r\n", end)
    stop = data.find(b"\r\n\r\n", last + 3) if last >= 0 else -1
    return stop + 4 - end if stop >= 0 else -1


async def _main() -> None:
    loop = asyncio.get_running_loop()
    over = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, over.set)
    server = await loop.create_server(TaggingSite, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await over.wait()


if __name__ == "__main__":
    uvloop.run(_main())
