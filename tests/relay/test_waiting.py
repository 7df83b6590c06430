"""What waits of all callers' requests, together: counted, bounded, given back; and who is small is not shut out."""

from __future__ import annotations

import asyncio

import pytest
from loopback import OK, Answer, Got, Running, Step, both_loops, get, read_answer, relaying, serving

LIMITS = {"waiting_bytes_budget": 65536, "upstream_connections": 1}
FIELD = "X-Filler: " + "x" * 10_000


async def _all_given_back(running: Running) -> None:
    async with asyncio.timeout(2):
        while running.relay.connections:  # noqa: ASYNC110
            await asyncio.sleep(0.005)
    assert running.relay.waiting.held == 0


@both_loops
async def test_heads_that_are_not_whole() -> None:
    async with serving(OK) as site, relaying(site.port, limits=LIMITS) as running:
        callers = [await running.open() for _ in range(8)]
        for _, writer in callers:
            writer.write(get("/", FIELD, FIELD)[:-2])
        await asyncio.sleep(0.1)
        assert 0 < running.relay.waiting.held <= 65536
        assert (await running.ask(get())).status == 200
        halves = await running.open()
        halves[1].write(get()[:20])
        await asyncio.sleep(0.02)
        halves[1].write(get()[20:])
        assert (await read_answer(halves[0])).status == 200
        answers = []
        for _, writer in callers:
            writer.write(b"\r\n")
        for reader, _ in callers:
            answers.append((await read_answer(reader)).status)
        assert answers.count(200) >= 3
        assert answers.count(503) >= 3
        assert len(answers) == answers.count(200) + answers.count(503)
        for _, writer in [*callers, halves]:
            writer.close()
        await _all_given_back(running)


@both_loops
async def test_requests_that_are_sent_ahead() -> None:
    def answer(got: Got) -> list[Step]:
        return [0.15, OK] if got.target == b"/slow" else [OK]

    async with serving(answer) as site, relaying(site.port, limits=LIMITS) as running:
        callers = [await running.open() for _ in range(8)]
        for _, writer in callers:
            writer.write(get("/slow"))
        await asyncio.sleep(0.02)
        for _, writer in callers:
            writer.write(get("/", FIELD, FIELD))
        await asyncio.sleep(0.05)
        assert 0 < running.relay.waiting.held <= 65536

        async def answers(reader: asyncio.StreamReader) -> list[Answer]:
            return [await read_answer(reader), await read_answer(reader)]

        got = await asyncio.gather(*(answers(reader) for reader, _ in callers))
        assert [first.body for first, _ in got] == [
            b"ok"
        ] * 8  # whatever is forgotten, no answer under way is
        seconds = [second.status for _, second in got]
        assert 0 < seconds.count(0) < 8
        assert seconds.count(200) == 8 - seconds.count(0)
        for _, writer in callers:
            writer.close()
        await _all_given_back(running)


@pytest.mark.parametrize("chunked", [False, True])
@both_loops
async def test_bodies_for_which_there_is_no_connection_yet(chunked: bool) -> None:
    length = "Transfer-Encoding: chunked" if chunked else "Content-Length: 20000"
    body = b"4e20\r\n%b\r\n0\r\n\r\n" % (b"x" * 20_000) if chunked else b"x" * 20_000
    async with serving([0.2, OK]) as site, relaying(site.port, limits=LIMITS) as running:
        blocked = asyncio.create_task(running.ask(get()))
        await asyncio.sleep(0.05)
        asked = get("/", length, method="POST")
        uploads = [asyncio.create_task(running.ask(asked + body)) for _ in range(8)]
        small = asyncio.create_task(running.ask(get()))
        await asyncio.sleep(0.05)
        assert 0 < running.relay.waiting.held <= 65536
        answers = await asyncio.gather(*uploads)
        statuses = [one.status for one in answers]
        assert statuses.count(503) >= 3
        assert statuses.count(200) >= 3
        refused = next(one for one in answers if one.status == 503)
        assert refused.all(b"proxy-status") == [b"saywhy; error=connection_limit_reached"]
        assert ((await blocked).status, (await small).status) == (200, 200)
        await _all_given_back(running)
