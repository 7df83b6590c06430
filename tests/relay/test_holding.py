"""Held answers: what the core gets to read, what leaves, and what it costs at most."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import Any

import pytest
from loopback import CLOSE, RESET, Decider, Step, both_loops, get, listening, read_answer, relaying, serving

AGENT = "Accept: application/json"
PAGE = b"<html>" + b"x" * 500 + b"</html>"
SIZED = b"HTTP/1.1 500 Oh Dear\r\nX-A: 1\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%b" % (
    len(PAGE),
    PAGE,
)
CHUNKED = (
    b"HTTP/1.1 500 Oh Dear\r\nX-A: 1\r\nTransfer-Encoding: chunked\r\n\r\n%x;e=1\r\n%b\r\n0\r\nT: 1\r\n\r\n"
    % (len(PAGE), PAGE)
)

HELD: dict[str, tuple[list[Step], bool]] = {
    # steps of the site, whether all of the page came
    "a length": ([SIZED], True),
    "a length in pieces": ([SIZED[:100], 0.02, SIZED[100:]], True),
    "chunks": ([CHUNKED], True),
    "chunks in pieces": ([CHUNKED[:120], 0.02, CHUNKED[120:-3], 0.02, CHUNKED[-3:]], True),
    "until the end": ([b"HTTP/1.1 500 Oh Dear\r\n\r\n" + PAGE, CLOSE], True),
    "torn length": ([SIZED[:-100], CLOSE], False),
    "torn by a reset": ([SIZED[:-100], 0.05, RESET], False),
    "torn chunks": ([CHUNKED[:200], CLOSE], False),
    "gone bad": ([CHUNKED[: CHUNKED.index(b"\r\n0\r\n") + 2], 0.05, b"zz\r\n"], False),
    "idle": ([SIZED[:-100], 3.0], False),
    "more than its length": ([SIZED + b"HTTP/1.1 200 OK\r\n\r\n"], True),
}


def gate(beside: bool) -> threading.Event | None:
    """Open, so that reading takes no longer than the way to the thread and back; None where it is done in the loop."""
    if not beside:
        return None
    opened = threading.Event()
    opened.set()
    return opened


BESIDE = pytest.mark.parametrize("beside", [False, True], ids=["in the loop", "beside it"])


@BESIDE
@pytest.mark.parametrize("name", HELD)
@both_loops
async def test_an_agents_error_is_read_and_answered_whole(name: str, beside: bool) -> None:
    steps, complete = HELD[name]
    decider = Decider(gate=gate(beside))
    async with (
        serving(steps) as site,
        relaying(site.port, decider, deadlines={"idle_seconds": 0.3}) as running,
    ):
        reader, writer = await running.open()
        for _ in range(2):
            writer.write(get("/", AGENT))
            answer = await read_answer(reader)
            assert (answer.status, answer.complete, answer.head.split(b"\r\n")[0]) == (
                500,
                True,
                b"HTTP/1.1 500 Internal Server Error",  # the site's own phrase may hold anything
            )
            assert answer.all(b"content-length") == [str(len(answer.body)).encode()]
            assert (b'"complete": true' in answer.body) is complete
        writer.close()
        head, body, whole = decider.seen[0]
        assert (head.response.status, head.request.host, whole) == (500, "t.example", complete)
        assert PAGE.startswith(body)
        assert not complete or body == PAGE
        assert head.response.fields.get("connection") is None
        assert running.relay.held_bytes == 0
        outcome = running.outcomes[0]
        assert outcome.verdict is not None
        assert (outcome.original_status, outcome.sent_status) == (500, 500)
        assert outcome.rewrite_duration > 0


@both_loops
async def test_head_asks_for_no_content_and_gets_none() -> None:
    decider = Decider()
    async with serving(SIZED[: -len(PAGE)]) as site, relaying(site.port, decider) as running:
        reader, writer = await running.open()
        writer.write(get("/", AGENT, method="HEAD"))
        answer = await read_answer(reader, "HEAD")
        writer.write(get("/", AGENT, method="HEAD"))
        assert (await read_answer(reader, "HEAD")).status == answer.status == 500
        assert decider.seen[0][1:] == (b"", True)
        writer.close()


@both_loops
async def test_others_get_the_sites_bytes_and_the_reason_is_recorded() -> None:
    for raw in (SIZED, CHUNKED):
        async with serving(raw) as site, relaying(site.port) as running:
            reader, writer = await running.open()
            writer.write(get("/", "Accept: text/html"))
            assert await reader.readexactly(len(raw)) == raw
            writer.close()
            await running.settled()
            verdict = running.outcomes[0].verdict
            assert verdict is not None
            assert (verdict.action, verdict.reason) == ("pass", "not_agent")


PLANS: list[tuple[dict[str, Any], list[Step]]] = [
    ({"verdict": "pass"}, [SIZED]),
    ({"verdict": "pass"}, [CHUNKED[:150], 0.02, CHUNKED[150:]]),
    ({"verdict": "pass", "limit": 100}, [SIZED[:300], 0.02, SIZED[300:]]),
    ({"verdict": "pass", "limit": 100}, [CHUNKED[:300], 0.02, CHUNKED[300:-3], 0.02, CHUNKED[-3:]]),
    ({"verdict": "pass", "limit": 0}, [SIZED]),
    ({"verdict": "annotate"}, [SIZED]),
    ({"verdict": "annotate", "limit": 100}, [CHUNKED[:300], 0.02, CHUNKED[300:]]),
    (
        {"verdict": "annotate", "action": "peek", "successes": True},
        [SIZED.replace(b"500 Oh Dear", b"200 OK")],
    ),
]


@BESIDE
@pytest.mark.parametrize("case", range(len(PLANS)))
@both_loops
async def test_what_was_held_and_passes_is_whole_and_in_the_sites_own_framing(
    case: int, beside: bool
) -> None:
    plan, steps = PLANS[case]
    raw = b"".join(step for step in steps if isinstance(step, bytes))
    async with serving(steps) as site, relaying(site.port, Decider(gate=gate(beside), **plan)) as running:
        reader, writer = await running.open()
        for _ in range(2):
            writer.write(get("/", AGENT))
            if plan["verdict"] == "pass":
                assert await reader.readexactly(len(raw)) == raw
                continue
            answer = await read_answer(reader)
            assert (answer.complete, answer.body) == (True, raw.partition(b"\r\n\r\n")[2])
            assert (answer.all(b"agent-error"), answer.all(b"x-a")) == ([b"noted"], [b"1"])
        writer.close()
        assert site.connections == 1


@both_loops
async def test_a_caller_of_http_1_0_gets_what_was_held_without_its_chunks() -> None:
    async with serving(CHUNKED) as site, relaying(site.port, Decider(verdict="pass")) as running:
        answer = await running.ask(get("/", AGENT, version="HTTP/1.0"))
        assert (answer.body, answer.all(b"transfer-encoding")) == (PAGE, [])


@both_loops
async def test_a_peek_ends_as_soon_as_enough_is_there() -> None:
    steps: list[Step] = [b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + b"x" * 200, 0.5, b"y" * 800]
    decider = Decider(action="peek", successes=True, limit=200, verdict="pass")
    async with serving(steps) as site, relaying(site.port, decider) as running:
        reader, writer = await running.open()
        writer.write(get("/", AGENT))
        async with asyncio.timeout(0.3):
            await reader.readuntil(b"x" * 200)
        assert await reader.readexactly(800) == b"y" * 800
        assert decider.seen[0][1:] == (b"x" * 200, False)
        writer.close()


@both_loops
async def test_the_rest_of_a_long_page_is_dropped_and_a_short_rest_keeps_the_connection() -> None:
    for rest, connections in ((10_000, 1), (1_000_000, 3)):
        steps: list[Step] = [
            b"HTTP/1.1 500 X\r\nContent-Length: %d\r\n\r\n" % (200 + rest) + b"x" * 200,
            0.02,
            b"y" * rest,
        ]
        async with serving(steps) as site, relaying(site.port, Decider(limit=100)) as running:
            reader, writer = await running.open()
            for _ in range(3):
                writer.write(get("/", AGENT))
                answer = await read_answer(reader)
                assert b'"complete": false' in answer.body
                await asyncio.sleep(0.15)
            writer.close()
            assert site.connections == connections


@both_loops
async def test_an_endless_page_is_answered_at_the_limit() -> None:
    async def site(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 500 X\r\nTransfer-Encoding: chunked\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            while True:
                writer.write(b"1;" + b"e" * 50 + b"\r\nx\r\n" * 1)
                await writer.drain()

    decider = Decider(limit=10_000)
    async with listening(site) as port, relaying(port, decider) as running:
        answer = await running.ask(get("/", AGENT))
        assert answer.status == 500
        assert len(decider.seen[0][1]) <= 10_000
        await running.settled()
        assert running.relay.held_bytes == 0


DRIPPING: dict[str, tuple[dict[str, Any], bytes, float]] = {
    # the plan, the head of the answer, the seconds within which an answer begins
    "an error": ({}, b"HTTP/1.1 500 X\r\nContent-Length: 100000\r\n\r\n", 0.8),
    "an error in chunks": ({}, b"HTTP/1.1 500 X\r\nTransfer-Encoding: chunked\r\n\r\n", 0.8),
    "an error that stays": ({"verdict": "pass"}, b"HTTP/1.1 500 X\r\nContent-Length: 100000\r\n\r\n", 0.8),
    "a success": (
        {"verdict": "pass", "action": "peek", "successes": True},
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        0.4,
    ),
}


@pytest.mark.parametrize("name", DRIPPING)
@both_loops
async def test_what_dribbles_in_is_waited_for_so_long_and_no_longer(name: str) -> None:
    plan, head, seconds = DRIPPING[name]

    async def site(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(head)
        with contextlib.suppress(ConnectionError):
            while True:
                writer.write(b"1\r\nx\r\n")
                await writer.drain()
                await asyncio.sleep(0.03)

    decider = Decider(**plan)
    deadlines = {"hold_seconds": 0.7, "peek_seconds": 0.3, "idle_seconds": 30.0}
    async with listening(site) as port, relaying(port, decider, deadlines=deadlines) as running:
        reader, writer = await running.open()
        started = asyncio.get_running_loop().time()
        writer.write(get("/", AGENT))
        got = await reader.readuntil(b"\r\n\r\n")
        assert asyncio.get_running_loop().time() - started < seconds + 0.3
        ((_, body, complete),) = decider.seen
        assert (got[:12], complete) == (head[:12], False)
        assert len(body) > 3
        if plan:  # and goes on as it comes
            await reader.readexactly(len(body) + 40)
        assert running.relay.held_bytes == 0
        writer.close()


@both_loops
async def test_many_held_pages_stay_within_the_budget() -> None:
    most = 0
    release = asyncio.Event()

    async def site(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.readuntil(b"\r\n\r\n"):
            writer.write(b"HTTP/1.1 500 X\r\nContent-Length: 20000\r\n\r\n" + b"x" * 10000)
            await release.wait()
            writer.write(b"x" * 10000)

    decider = Decider()
    limits = {"held_bytes_budget": 100_000, "upstream_connections": 300}
    deadlines: dict[str, float] = {"hold_seconds": 60}
    async with (
        listening(site) as port,
        relaying(port, decider, limits=limits, deadlines=deadlines) as running,
    ):
        tasks = [asyncio.create_task(running.ask(get("/", AGENT))) for _ in range(200)]
        while (
            len(running.outcomes) < 185
        ):  # the rest is held until released; the test's own bound is the time
            await asyncio.sleep(0.01)
            most = max(most, running.relay.held_bytes)
        release.set()
        answers = await asyncio.gather(*tasks)
        assert {answer.status for answer in answers} == {500}
        assert most <= 100_000
        assert sum(not complete for _, _, complete in decider.seen) >= 100
        assert running.relay.held_bytes == 0


@both_loops
async def test_a_core_that_raises_costs_no_caller_its_answer(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(Decider):
        def normalize(self, *args: Any, **kwargs: Any) -> Any:
            raise RecursionError

    for raw, beside in ((SIZED, False), (CHUNKED, False), (SIZED, True), (CHUNKED, True)):
        async with serving(raw) as site, relaying(site.port, Broken(gate=gate(beside))) as running:
            reader, writer = await running.open()
            writer.write(get("/", AGENT))
            assert await reader.readexactly(len(raw)) == raw
            writer.close()
            await running.settled()
            verdict = running.outcomes[0].verdict
            assert verdict is not None
            assert verdict.fault == "RecursionError"
            assert running.relay.held_bytes == 0
    assert "Deciding about an answer failed." in caplog.text
