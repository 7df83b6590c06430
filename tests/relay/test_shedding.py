"""Callers who do not take their answers keep so much of memory together, and no more."""

from __future__ import annotations

import asyncio

from loopback import both_loops, get, read_answer, relaying, serving

from saywhy.relay.shedding import SEGMENT_BYTES

SIZE = 8 << 20
CALLERS = 24
BUDGET = 2 << 20


@both_loops
async def test_who_takes_nothing_for_longest_goes_first() -> None:
    page = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % SIZE + b"x" * SIZE
    async with serving(page) as site, relaying(site.port, limits={"unsent_bytes_budget": BUDGET}) as running:
        writers = []
        for _ in range(CALLERS):
            reader, writer = await asyncio.open_connection("127.0.0.1", running.port, limit=1024)
            writer.write(get())
            await reader.readexactly(20)
            writers.append(writer)
        most = BUDGET // (SEGMENT_BYTES + 65536)
        async with asyncio.timeout(5):
            while len(running.outcomes) < CALLERS - most:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        assert len(running.relay.slow) == len(running.relay.connections) == most
        left = [down.transport.get_write_buffer_size() for down in running.relay.connections]
        assert sum(left) <= BUDGET
        # Who takes what it asked for is none of them.
        reader, writer = await running.open()
        writer.write(get())
        answer = await read_answer(reader)
        assert (answer.status, len(answer.body), answer.complete) == (200, SIZE, True)
        for one in [*writers, writer]:
            one.transport.abort()
        async with asyncio.timeout(2):
            while running.relay.connections or running.busy:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        assert len(running.relay.slow) == 0


@both_loops
async def test_no_answer_is_begun_for_a_caller_who_has_not_taken_the_last_one() -> None:
    """Requests sent ahead by a caller who does not read: their answers would all pile up here."""
    page = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % 200_000 + b"y" * 200_000
    async with serving(page) as site, relaying(site.port, limits={"pipelined_requests": 200}) as running:
        reader, writer = await asyncio.open_connection("127.0.0.1", running.port, limit=1024)
        writer.write(b"".join(get(f"/{number}") for number in range(100)))
        await asyncio.sleep(0.5)
        assert len(site.got) < 100
        (down,) = running.relay.connections
        assert down.transport.get_write_buffer_size() <= 2 * SEGMENT_BYTES
        reader._limit = 1 << 20  # type: ignore[attr-defined]
        for _ in range(100):
            answer = await read_answer(reader)
            assert (answer.status, len(answer.body), answer.complete) == (200, 200_000, True)
        writer.close()
