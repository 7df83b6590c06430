"""Kept connections that a site is about to close: what it announces, what it is seen to do, and who must not find out."""

from __future__ import annotations

import asyncio
import contextlib

import pytest
from loopback import Running, both_loops, get, listening, relaying

from saywhy.relay.keeping import Keeping

ANNOUNCED = [
    (b"Keep-Alive: timeout=5", 4.0),
    (b"Keep-Alive: timeout=5, max=100", 4.0),
    (b"keep-alive: max=100, Timeout = 10 ", 8.0),
    (b"KEEP-ALIVE:timeout=0", 0.0),
    (b"Keep-Alive: timeout=3600", 30.0),
    (b"Keep-Alive: timeout=99999999999999999999", 30.0),
    (b"Keep-Alive: timeout=-1", 30.0),
    (b"Keep-Alive: timeout=x", 30.0),
    (b"Keep-Alive: max=5", 30.0),
    (b"Keep-Alive:", 30.0),
    (b"X-Keep-Alive: timeout=5", 30.0),
    (b"X: keep-alive: timeout=5", 30.0),
]


@pytest.mark.parametrize(("line", "seconds"), ANNOUNCED)
def test_what_a_site_announces(line: bytes, seconds: float) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n" + line + b"\r\n\r\n"
    assert Keeping(30).announced(head) == seconds


def test_what_a_site_is_seen_to_do() -> None:
    made = Keeping(30)
    assert made.is_fresh(29)
    made.closed_after(5)
    made.closed_after(6)
    assert (made.is_fresh(3.9), made.is_fresh(4.1)) == (True, False)
    made.closed_after(0.1)  # it restarts
    assert not made.is_fresh(1)
    made.outlived(5)  # and waits for longer than that
    assert made.is_fresh(3.9)


def _impatient(seconds: float, *lines: bytes, served: list[bytes]) -> object:
    """A site that closes what was idle for `seconds`, as the request that comes then finds out."""
    answer = b"\r\n".join([b"HTTP/1.1 200 OK", b"Content-Length: 2", *lines, b"", b"ok"])

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(TimeoutError):
            while True:
                async with asyncio.timeout(seconds):
                    head = await reader.readuntil(b"\r\n\r\n")
                served.append(head.split(b" ")[0])
                writer.write(answer)

    return serve


async def _every(running: Running, seconds: float, count: int, method: str) -> list[int]:
    statuses = []
    for _ in range(count):
        statuses.append((await running.ask(get("/", method=method))).status)
        await asyncio.sleep(seconds)
    return statuses


async def test_a_site_that_announces_its_end_costs_nobody_an_answer() -> None:
    served: list[bytes] = []
    serve = _impatient(1.0, b"Connection: keep-alive", b"Keep-Alive: timeout=1", served=served)
    async with listening(serve) as port, relaying(port) as running:  # type: ignore[arg-type]
        assert await _every(running, 0.98, 2, "POST") == [200] * 2
        assert await _every(running, 0.0, 5, "POST") == [200] * 5
        assert running.relay.pool_counts()["default"]["idle"] == 1
    assert served == [b"POST"] * 7


async def test_a_site_that_announces_nothing_is_learned_from() -> None:
    served: list[bytes] = []
    async with listening(_impatient(0.3, served=served)) as port, relaying(port) as running:  # type: ignore[arg-type]
        await _every(running, 0.5, 1, "GET")
        assert running.relay.pool_counts()["default"]["idle"] == 0
        assert await _every(running, 0.29, 5, "POST") == [200] * 5
    assert served.count(b"POST") == 5


@pytest.mark.parametrize("method", ["GET", "POST"])
@both_loops
async def test_a_204_and_then_the_end(method: str) -> None:
    """The end may come right behind the answer: a GET is sent again, a POST is answered for, and never twice."""
    served = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal served
        await reader.readuntil(b"\r\n\r\n")
        served += 1
        writer.write(b"HTTP/1.1 204 No Content\r\nConnection: keep-alive\r\n\r\n")
        writer.close()

    async with listening(serve) as port, relaying(port) as running:
        reader, writer = await running.open()
        statuses = []
        for _ in range(100):
            writer.write(get("/", method=method))
            head = await reader.readuntil(b"\r\n\r\n")
            statuses.append(int(head[9:12]))
            if statuses[-1] != 204:
                await reader.readexactly(7)
        writer.close()
    assert set(statuses) <= ({204} if method == "GET" else {204, 502})
    assert served == statuses.count(204)  # a GET that was sent twice was read once
    assert statuses.count(502) <= 5
