"""A site that fails in every way the wire allows, by path: GET /reset-in-body?status=500&bytes=100000.

`FAULTS` is the table, name -> what it does with a request; whatever is no name there gets a good answer. The query says
the status (200), the bytes of the body (5000), the pause between two steps in `seconds` (0.01) and the media type.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import parse_qs

from bombs import BOMBS
from loopback import listening

FOREVER = 3600.0
_FILLER = b"<p>Something went wrong in row 17 of the list.</p>\n"


class Over(Exception):
    """The connection ends here."""


@dataclass
class Visit:
    """One request, and the means to answer it badly."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    method: bytes
    name: str
    length: int
    query: dict[str, list[str]] = field(default_factory=dict)

    def option(self, name: str, default: float) -> float:
        return float(self.query.get(name, [str(default)])[0])

    @property
    def size(self) -> int:
        return int(self.option("bytes", 5000))

    @property
    def body(self) -> bytes:
        """`size` bytes of a page."""
        number = self.query.get("number", [""])[
            0
        ].encode()  # no two pages are the same where each has its own
        page = b"<html><head><title>Sorry " + number + b"</title></head><body>\n"
        return (page + _FILLER * (self.size // len(_FILLER) + 1))[: self.size]

    async def say(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def wait(self) -> None:
        await asyncio.sleep(self.option("seconds", 0.01))

    async def hang(self) -> None:
        """Until the other side goes."""
        while await self.reader.read(65536):
            pass
        raise Over

    async def reset(self) -> None:
        await self.wait()  # what was said before has left
        raw = self.writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()
        raise Over

    def head(self, *lines: bytes) -> bytes:
        status = HTTPStatus(int(self.option("status", 200)))
        media = self.query.get("media", ["text/html"])[0].encode()
        first = b"HTTP/1.1 %d %b" % (status, status.phrase.encode())
        return b"\r\n".join([first, b"Content-Type: " + media, *lines, b"", b""])

    def sized(self, size: int, *lines: bytes) -> bytes:
        return self.head(b"Content-Length: %d" % size, *lines)

    async def read_body(self) -> None:
        await self.reader.readexactly(self.length)


Fault = Callable[[Visit], Awaitable[None]]
FAULTS: dict[str, Fault] = {}
EARLY = {"answer-before-upload", "refuse-upload", "never-read-upload"}
"""Those that do not wait for the request's body."""
CHUNKED = b"Transfer-Encoding: chunked"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def _fault(do: Fault) -> Fault:
    FAULTS[do.__name__.strip("_").replace("_", "-")] = do
    return do


async def good(visit: Visit) -> None:
    """What a site should say."""
    await visit.say(visit.sized(visit.size) + (b"" if visit.method == b"HEAD" else visit.body))


# Nothing more comes.


@_fault
async def hang_before_head(visit: Visit) -> None:
    await visit.hang()


@_fault
async def hang_in_head(visit: Visit) -> None:
    await visit.say(visit.head()[:25])
    await visit.hang()


@_fault
async def hang_in_body(visit: Visit) -> None:
    await visit.say(visit.sized(visit.size) + visit.body[: visit.size // 2])
    await visit.hang()


@_fault
async def hang_in_chunks(visit: Visit) -> None:
    await visit.say(visit.head(CHUNKED) + chunk(visit.body) + b"5\r\nhe")
    await visit.hang()


# It comes, byte by byte.


@_fault
async def drip_head(visit: Visit) -> None:
    head = visit.sized(visit.size)
    for byte in head[:40]:
        await visit.say(bytes([byte]))
        await visit.wait()
    await visit.say(head[40:] + visit.body)


@_fault
async def drip_body(visit: Visit) -> None:
    await visit.say(visit.sized(visit.size))
    for byte in visit.body:
        await visit.say(bytes([byte]))
        await visit.wait()


@_fault
async def chunks_of_one_byte(visit: Visit) -> None:
    """Each chunk is one byte; a segment holds a hundred of them."""
    await visit.say(visit.head(CHUNKED))
    whole = [chunk(bytes([byte])) for byte in visit.body]
    for start in range(0, len(whole), 100):
        await visit.say(b"".join(whole[start : start + 100]))
    await visit.say(b"0\r\n\r\n")


@_fault
async def segments_of_one_byte(visit: Visit) -> None:
    """Each byte in a segment of its own, as fast as they go."""
    await visit.say(visit.sized(visit.size))
    visit.writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for byte in visit.body:
        await visit.say(bytes([byte]))
        await asyncio.sleep(0)


# The connection goes.


@_fault
async def close_before_head(visit: Visit) -> None:
    raise Over


@_fault
async def close_in_head(visit: Visit) -> None:
    await visit.say(visit.head()[:25])
    raise Over


@_fault
async def close_in_body(visit: Visit) -> None:
    await visit.say(visit.sized(visit.size) + visit.body[: visit.size // 2])
    raise Over


@_fault
async def close_in_chunks(visit: Visit) -> None:
    await visit.say(visit.head(CHUNKED) + chunk(visit.body))
    raise Over


@_fault
async def close_after_the_last_byte(visit: Visit) -> None:
    await visit.say(visit.head(CHUNKED) + chunk(visit.body) + b"0\r\n\r\n")
    raise Over


@_fault
async def body_until_close(visit: Visit) -> None:
    await visit.say(visit.head() + visit.body)
    raise Over


@_fault
async def reset_before_head(visit: Visit) -> None:
    await visit.reset()


@_fault
async def reset_in_head(visit: Visit) -> None:
    await visit.say(visit.head()[:25])
    await visit.reset()


@_fault
async def reset_in_body(visit: Visit) -> None:
    await visit.say(visit.sized(visit.size) + visit.body[: visit.size // 2])
    await visit.reset()


@_fault
async def reset_after_the_answer(visit: Visit) -> None:
    await good(visit)
    await visit.reset()


# It lies.


@_fault
async def length_too_long(visit: Visit) -> None:
    await visit.say(visit.sized(visit.size + 10) + visit.body)
    raise Over


@_fault
async def length_too_short(visit: Visit) -> None:
    await visit.say(visit.sized(visit.size - 10) + visit.body)


@_fault
async def two_answers(visit: Visit) -> None:
    await good(visit)
    await good(visit)


@_fault
async def length_beside_chunks(visit: Visit) -> None:
    await visit.say(visit.sized(visit.size, CHUNKED) + chunk(visit.body) + b"0\r\n\r\n")


@_fault
async def garbage(visit: Visit) -> None:
    await visit.say(bytes(range(256)) * 8)
    await visit.hang()


@_fault
async def garbage_in_chunks(visit: Visit) -> None:
    await visit.say(visit.head(CHUNKED) + chunk(visit.body))
    await visit.wait()
    await visit.say(b"\xff\xfe\r\n" * 10)
    await visit.hang()


@_fault
async def switch_unasked(visit: Visit) -> None:
    await visit.say(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\nConnection: Upgrade\r\n\r\nbytes")
    await visit.hang()


# It never ends.


@_fault
async def endless_with_length(visit: Visit) -> None:
    await visit.say(visit.sized(10**15))
    while True:
        await visit.say(_FILLER * 1000)


@_fault
async def endless_chunks(visit: Visit) -> None:
    await visit.say(visit.head(CHUNKED))
    while True:
        await visit.say(chunk(_FILLER * 1000))


@_fault
async def endless_until_close(visit: Visit) -> None:
    await visit.say(visit.head())
    while True:
        await visit.say(_FILLER * 1000)


@_fault
async def endless_head(visit: Visit) -> None:
    await visit.say(visit.head()[:-2])
    while True:
        await visit.say(b"X-Filler: " + b"x" * 1000 + b"\r\n")


@_fault
async def endless_line(visit: Visit) -> None:
    await visit.say(visit.head()[:-2] + b"X-Filler: ")
    while True:
        await visit.say(b"x" * 1000)


@_fault
async def endless_chunk_extension(visit: Visit) -> None:
    await visit.say(visit.head(CHUNKED) + b"5;")
    await visit.wait()  # the head has arrived
    while True:
        await visit.say(b"x" * 1000)


@_fault
async def endless_trailers(visit: Visit) -> None:
    await visit.say(visit.head(CHUNKED) + chunk(visit.body) + b"0\r\n")
    await visit.wait()  # the head has arrived
    while True:
        await visit.say(b"X-Filler: " + b"x" * 1000 + b"\r\n")


@_fault
async def interim_flood(visit: Visit) -> None:
    while True:
        await visit.say(b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n")


# Uploads.


@_fault
async def answer_before_upload(visit: Visit) -> None:
    """The answer first; the request's body is read all the same."""
    await good(visit)
    await visit.read_body()


@_fault
async def refuse_upload(visit: Visit) -> None:
    """An answer, and the end with bytes unread: a reset."""
    await good(visit)
    raise Over


@_fault
async def never_read_upload(visit: Visit) -> None:
    visit.reader._limit = 1024  # type: ignore[attr-defined]  # takes next to nothing
    await asyncio.sleep(FOREVER)


# Bombs.


def _bomb(name: str) -> None:
    coding, make = BOMBS[name]

    async def say(visit: Visit) -> None:
        body = make()
        await visit.say(visit.sized(len(body), b"Content-Encoding: " + coding) + body)

    FAULTS["bomb-" + name.replace(" ", "-")] = say


for _name in BOMBS:
    _bomb(_name)


@dataclass
class FaultSite:
    """A running one. `visits` counts requests by name, `open` its connections at this moment."""

    port: int = 0
    visits: Counter[str] = field(default_factory=Counter)
    open: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        try:
            while True:
                await self._one(reader, writer)
        except Over:
            pass
        finally:
            self.open -= 1

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        method, target, _ = head.split(b"\r\n")[0].split(b" ")
        path, _, query = target.decode("latin-1").partition("?")
        length = head.lower().partition(b"\r\ncontent-length:")[2].split(b"\r\n")[0]
        visit = Visit(reader, writer, method, path.strip("/"), int(length or 0), parse_qs(query))
        self.visits[visit.name] += 1
        if visit.name not in EARLY:
            await visit.read_body()
        await FAULTS.get(visit.name, good)(visit)


@contextlib.asynccontextmanager
async def failing() -> AsyncIterator[FaultSite]:
    """A fault site on a loopback port."""
    site = FaultSite()
    async with listening(site.serve) as port:
        site.port = port
        yield site


async def _alone() -> None:
    async with failing() as site:
        print(site.port, flush=True)
        await asyncio.sleep(FOREVER)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_alone())
