"""Requests that wait to leave together: what comes in between is neither an answer nor lost."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

import pytest
from certificates import Pair, authority, issued
from loopback import OK, Running, both_loops, get, listening, read_answer, relaying


class _Meddler:
    """Does something once an exchange has ended, when the next one has its connection and is about to use it."""

    def __init__(self, meddle: Callable[[], object]) -> None:
        self.meddle: Callable[[], object] | None = meddle

    def record(self, outcome: object) -> None:
        meddle, self.meddle = self.meddle, None
        if meddle is not None:
            meddle()


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    folder = tmp_path_factory.mktemp("certificates")
    return issued(folder, authority(folder), "site", "IP:127.0.0.1")


Meddle = Callable[[Running, list[asyncio.StreamWriter]], object]


async def _two_in_turn(second: bytes, meddle: Meddle, pair: Pair | None = None) -> tuple[bytes, int]:
    """Two exchanges for which there is one connection, over TLS with `pair`; what the site got second, and on how many
    connections.
    """
    writers: list[asyncio.StreamWriter] = []
    requests: list[bytes] = []

    async def site(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        with contextlib.suppress(asyncio.IncompleteReadError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                requests.append(head + (await reader.readexactly(2) if b"Content-Length: 2" in head else b""))
                await asyncio.sleep(0.05)
                writer.write(OK)
        writer.close()

    context = pair.context() if pair is not None else None
    async with listening(site, context=context) as port:
        where = f"http://127.0.0.1:{port}" if pair is None else f"https://127.0.0.1:{port}"
        default = (
            {"url": where}
            if pair is None
            else {"url": where, "ca_file": pair.certificate.with_name("ca.pem")}
        )
        async with relaying({"default": default}, limits={"upstream_connections": 1}) as running:
            running.relay.recorder = _Meddler(lambda: meddle(running, writers))
            first = asyncio.create_task(running.ask(get()))
            await asyncio.sleep(0.02)
            assert (await running.ask(second)).body == b"ok"
            assert (await first).body == b"ok"
    assert len(requests) == 2
    return requests[1], len(writers)


@pytest.mark.parametrize("tls", [False, True])
@pytest.mark.parametrize("method", ["GET", "POST"])
@both_loops
async def test_bytes_that_come_before_a_request_is_sent_are_not_its_answer(
    method: str, tls: bool, pair: Pair
) -> None:
    poison = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"
    got, connections = await _two_in_turn(
        get("/second", method=method),
        lambda _running, writers: writers[0].write(poison),
        pair if tls else None,
    )
    assert got.startswith(method.encode() + b" /second")
    assert connections == 2


@both_loops
async def test_a_body_that_comes_before_its_head_is_sent_goes_along() -> None:
    got, connections = await _two_in_turn(
        get("/second", "Content-Length: 2", method="POST"),
        lambda running, _writers: running.relay.connections[-1].data_received(b"hi"),
    )
    assert got.endswith(b"\r\n\r\nhi")
    assert connections == 1


@both_loops
async def test_many_connections_that_say_a_last_word_at_once_cost_nobody_an_answer() -> None:
    """A request too large to wait is tried on a kept connection at once; its next is not tried from within."""
    count = 250
    writers: list[asyncio.StreamWriter] = []
    together = asyncio.Event()

    async def site(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        while await reader.readuntil(b"\r\n\r\n"):
            if len(writers) == count:
                together.set()
            await together.wait()
            writer.write(OK)

    async with listening(site) as port, relaying(port) as running:
        await asyncio.gather(*(running.ask(get()) for _ in range(count)))
        reader, writer = await running.open()
        for _ in range(100):
            if running.relay.pool_counts()["default"]["idle"] == count and running.relay.connections:
                break
            await asyncio.sleep(0.01)
        for one in writers:
            one.write(b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n")
        large = get("/", *(f"X-{number}: {'a' * 9000}" for number in range(3)), method="POST")
        running.relay.connections[-1].data_received(large)
        assert (await read_answer(reader)).body == b"ok"
        assert len(writers) == count + 1
        writer.close()
