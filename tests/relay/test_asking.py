"""Requests that wait to leave together: what comes in between is neither an answer nor lost."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable

import pytest
from loopback import OK, Running, both_loops, get, listening, relaying


class _Meddler:
    """Does something once an exchange has ended, when the next one has its connection and is about to use it."""

    def __init__(self, meddle: Callable[[], object]) -> None:
        self.meddle: Callable[[], object] | None = meddle

    def record(self, outcome: object) -> None:
        meddle, self.meddle = self.meddle, None
        if meddle is not None:
            meddle()


async def _two_in_turn(second: bytes, meddle: Callable[[Running, list[int]], object]) -> tuple[bytes, int]:
    """Two exchanges for which there is one connection; what the site got second, and on how many connections."""
    descriptors: list[int] = []
    requests: list[bytes] = []

    async def site(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        descriptors.append(writer.get_extra_info("socket").fileno())
        with contextlib.suppress(asyncio.IncompleteReadError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                requests.append(head + (await reader.readexactly(2) if b"Content-Length: 2" in head else b""))
                await asyncio.sleep(0.05)
                writer.write(OK)
        writer.close()

    async with listening(site) as port, relaying(port, limits={"upstream_connections": 1}) as running:
        running.relay.recorder = _Meddler(lambda: meddle(running, descriptors))
        first = asyncio.create_task(running.ask(get()))
        await asyncio.sleep(0.02)
        assert (await running.ask(second)).body == b"ok"
        assert (await first).body == b"ok"
    assert len(requests) == 2
    return requests[1], len(descriptors)


@pytest.mark.parametrize("method", ["GET", "POST"])
@both_loops
async def test_bytes_that_come_before_a_request_is_sent_are_not_its_answer(method: str) -> None:
    poison = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"
    got, connections = await _two_in_turn(
        get("/second", method=method), lambda _running, descriptors: os.write(descriptors[0], poison)
    )
    assert got.startswith(method.encode() + b" /second")
    assert connections == 2


@both_loops
async def test_a_body_that_comes_before_its_head_is_sent_goes_along() -> None:
    got, connections = await _two_in_turn(
        get("/second", "Content-Length: 2", method="POST"),
        lambda running, _descriptors: running.relay.connections[-1].data_received(b"hi"),
    )
    assert got.endswith(b"\r\n\r\nhi")
    assert connections == 1
