"""The storm's callers: they ask in every way, some leave in every moment, and each answer's tag and bytes are checked."""

from __future__ import annotations

import asyncio
import functools
import json
import random
import sys
from collections import Counter, deque
from typing import Any, NamedTuple, cast

import uvloop

from storm.shapes import ROWS, shape_of

FORGOTTEN = 20
"""So many seconds without a byte, and an answer is counted as missing."""


class Tally:
    """What all callers of one process saw together. `wanted` right answers end the storm."""

    def __init__(self, wanted: int) -> None:
        self.wanted = wanted
        self.right = 0
        self.seen: Counter[str] = Counter()
        self.wrong: list[str] = []

    def blame(self, what: str, tag: bytes, got: bytes = b"") -> None:
        """Something that must not be."""
        if len(self.wrong) < 20:
            self.wrong.append(f"{what}: {tag!r} ({shape_of(tag).name}) {got[:400]!r}")
        self.seen["blamed"] += 1

    def report(self) -> dict[str, Any]:
        """For the test, as JSON."""
        return {"right": self.right, "wrong": self.wrong, **dict(self.seen)}


class Asked(NamedTuple):
    """A request whose answer is due. `kind`: GET, HEAD, POST, agent."""

    tag: bytes
    kind: str


class PickyCaller(asyncio.Protocol):
    """One kept connection: bursts of tagged requests, one to eight in a segment, then every answer in its order."""

    def __init__(self, number: int, round_: int, tally: Tally, lost: asyncio.Event) -> None:
        self.name = b"c%dr%d" % (number, round_)
        self.most = 8 if number % 2 else 1
        self.random = random.Random(self.name)
        self.tally = tally
        self.lost = lost
        self.sent = 0
        self.expected: deque[Asked] = deque()
        self.buffer = b""
        self.left = False  # by its own will, so nothing is owed to it any more
        self.last = False  # the answer that ends the connection has begun
        self.patience = -1  # so many segments, then it leaves in the middle
        self.transport: asyncio.Transport = cast(asyncio.Transport, None)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.send()

    def send(self) -> None:
        chance = self.random.random
        segment = b"".join(self._request() for _ in range(int(chance() * self.most) + 1))
        mischief = chance()
        if mischief > 0.024:
            self.transport.write(segment)
            return
        self.left = True
        self.tally.seen["mischief"] += 1
        if mischief < 0.004:
            self.transport.write(segment + b"\x00\x01 not a request\r\n\r\n")
            self.left = False
            self.last = True
        elif mischief < 0.008:
            self.transport.write(segment)
            self.transport.abort()
        elif mischief < 0.012:
            self.transport.write(segment)
            self.transport.write_eof()
        elif mischief < 0.018:
            self.transport.write(segment[: int(chance() * len(segment))])
            asyncio.get_running_loop().call_later(0.002, self.transport.abort)
        else:
            self.patience = int(chance() * 4)
            self.transport.write(segment)

    def _request(self) -> bytes:
        self.sent += 1
        chance = self.random.random
        tag = b"%bn%ds%d-%d" % (self.name, self.random.getrandbits(20), self.sent, int(chance() * len(ROWS)))
        dice = chance()
        kind = "GET" if dice < 0.6 else "agent" if dice < 0.8 else "HEAD" if dice < 0.86 else "POST"
        self.expected.append(Asked(tag, kind))
        if kind == "GET":
            return b"GET /%b HTTP/1.1\r\nHost: t\r\nConnection: keep-alive\r\n\r\n" % tag
        if kind == "agent":
            return b"GET /%b HTTP/1.1\r\nHost: t\r\nAccept: application/json\r\n\r\n" % tag
        if kind == "HEAD":
            return b"HEAD /%b HTTP/1.1\r\nHost: t\r\n\r\n" % tag
        head = b"POST /%b HTTP/1.1\r\nHost: t\r\n" % tag
        if dice < 0.9:
            return head + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n%x;x=1\r\n%b\r\n0\r\nX-Sum: 1\r\n\r\n" % (
                len(tag), tag, 2 * len(tag), tag * 2,
            )  # fmt: skip
        expect = b"Expect: 100-continue\r\n" if dice < 0.91 else b""
        return b"\r\n%b%bContent-Length: %d\r\n\r\n%b" % (head, expect, 3 * len(tag), tag * 3)

    def data_received(self, data: bytes) -> None:
        if self.patience >= 0:
            self.patience -= 1
            if self.patience < 0:
                self.transport.abort()
                return
        data = self.buffer + data if self.buffer else data
        while data and (size := self._one(data)):
            data = data[size:]
        self.buffer = data
        if not self.expected and not data and not self.last:
            if self.left or self.tally.right >= self.tally.wanted:
                self.left = True
                self.transport.close()
            else:
                self.send()

    def _one(self, data: bytes, ended: bool = False) -> int:
        """Check the first answer in `data`; how many bytes it has, 0 where it is not whole yet."""
        end = data.find(b"\r\n\r\n") + 4
        if end < 4:
            return 0
        head = data[:end]
        if head.startswith(b"HTTP/1.1 1"):
            return end
        if not self.expected:
            if not head.startswith(b"HTTP/1.1 400 ") or not self.last:
                self.tally.blame("an answer that nobody asked for", b"-0", data)
            return len(data)
        asked = self.expected[0]
        body, size = _body(head, data, end, asked.kind == "HEAD", ended)
        if body is None:
            return 0
        self.expected.popleft()
        if b"\r\nConnection: close\r\n" in head:
            self.last = True
        self._check(asked, head, body)
        return size

    def _check(self, asked: Asked, head: bytes, body: bytes) -> None:
        tag, kind = asked
        tally = self.tally
        at = head.find(b"\r\nX-Id: ") + 8
        shape = shape_of(tag)
        if at < 8:  # an answer of the proxy's own: 502 where the site failed
            tally.seen["failed"] += 1
            if shape.whole and kind == "POST":
                tally.seen["posts on a dead connection"] += 1
            elif shape.whole and not self.left:
                tally.blame("failed", tag, head + body)
            return
        if head[at : head.index(b"\r\n", at)] != shape.id_of(tag):
            tally.blame("mixed", tag, head + body)
            return
        content = b"" if kind == "HEAD" else shape.content(tag)
        if kind == "agent" and b"\r\nAgent-Error: " in head and b'{"error":' in body:
            tally.seen["rewritten"] += 1
            whole = b"Order %b was changed" % tag in body
        elif shape.whole or kind == "HEAD":
            whole = body == content
        else:
            whole = False
        if whole:
            tally.right += 1
        else:
            tally.blame("mixed", tag, head + body)

    def connection_lost(self, exc: Exception | None) -> None:
        self.tally.seen["connections"] += 1
        if self.buffer and self.expected and not self.left:
            self._one(self.buffer, ended=True)
        if self.expected and not self.left and not self.last:
            asked = self.expected[0]
            if shape_of(asked.tag).whole:
                self.tally.blame("never answered", asked.tag, self.buffer)
            else:
                self.tally.seen["torn"] += 1
        self.lost.set()


def _body(head: bytes, data: bytes, end: int, bodyless: bool, ended: bool) -> tuple[bytes | None, int]:
    """The content of the answer in `data`, None where it is not all there, and where the answer ends."""
    status = head[9:12]
    if bodyless or status in (b"204", b"304"):
        return b"", end
    at = head.find(b"\r\nContent-Length: ") + 18
    if at > 17:
        size = end + int(head[at : head.index(b"\r\n", at)])
        return (data[end:size], size) if len(data) >= size else (None, 0)
    if b"\r\nTransfer-Encoding: chunked\r\n" in head:
        if (last := data.find(b"\r\n0\r\n", end)) < 0 or (stop := data.find(b"\r\n\r\n", last + 3)) < 0:
            return None, 0
        content = b"".join(data[end : last + 2].split(b"\r\n")[1::2])
        return content, stop + 4
    return (data[end:], len(data)) if ended else (None, 0)


async def _caller(number: int, port: int, tally: Tally) -> None:
    loop = asyncio.get_running_loop()
    round_ = 0
    while tally.right < tally.wanted:
        lost = asyncio.Event()
        make = functools.partial(PickyCaller, number, round_, tally, lost)
        _, caller = await loop.create_connection(make, "127.0.0.1", port)
        while not lost.is_set():
            before = caller.sent
            try:
                await asyncio.wait_for(lost.wait(), FORGOTTEN)
            except TimeoutError:
                if caller.sent == before:
                    tally.blame(
                        "forgotten", caller.expected[0].tag if caller.expected else b"-0", caller.buffer
                    )
                    caller.transport.abort()
        round_ += 1


async def storm(port: int, tally: Tally, callers: range) -> Tally:
    """Ask at `port` until the tally is full; the callers' numbers name them in their tags."""
    await asyncio.gather(*(_caller(number, port, tally) for number in callers))
    return tally


if __name__ == "__main__":
    port, wanted, first, count = map(int, sys.argv[1:])
    print(json.dumps(uvloop.run(storm(port, Tally(wanted), range(first, first + count))).report()))
