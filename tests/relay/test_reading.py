"""Pages that take long are read beside the loop: others are served meanwhile, whatever happens to either side."""

from __future__ import annotations

import asyncio
import threading

import pytest
from loopback import (
    CLOSE,
    RESET,
    Decider,
    Running,
    Step,
    both_loops,
    get,
    listening,
    read_answer,
    relaying,
    serving,
)

from saywhy.relay import reader as reading
from saywhy.relay.downstream import Downstream
from saywhy.relay.upstream import Upstream

AGENT = "Accept: application/json"
PAGE = b"p" * 300
HEAD = b"HTTP/1.1 500 X\r\nContent-Length: 300\r\n\r\n"
CHUNKED = b"HTTP/1.1 500 X\r\nTransfer-Encoding: chunked\r\n\r\n"
ENDLESS = b"HTTP/1.1 500 X\r\n\r\n"
REWRITTEN = {True: b'{"complete": true, "bytes": %d}', False: b'{"complete": false, "bytes": %d}'}


async def _reading(running: Running, count: int = 1) -> None:
    """Wait until `count` pages are with the thread."""
    for _ in range(1000):
        if running.relay.reader.waiting == count:
            return
        await asyncio.sleep(0.005)
    raise AssertionError(f"{running.relay.reader.waiting} pages are read, not {count}")


@both_loops
async def test_others_are_served_while_a_page_is_read() -> None:
    gate = threading.Event()
    async with serving(HEAD + PAGE) as site, relaying(site.port, Decider(gate=gate)) as running:
        reader, writer = await running.open()
        writer.write(get("/", AGENT) + get("/second"))  # the second waits for its turn
        await _reading(running)
        assert running.relay.held_bytes == len(PAGE)
        for _ in range(3):
            assert (await running.ask(get())).body == PAGE
        assert running.relay.reader.waiting == 1
        gate.set()
        assert (await read_answer(reader)).body == REWRITTEN[True] % len(PAGE)
        assert (await read_answer(reader)).body == PAGE
        writer.close()
        assert running.relay.held_bytes == 0
        assert running.relay.reader.waiting == 0


LIMIT = 100
FIRST = b"96\r\n" + PAGE[:150] + b"\r\n"
SECOND = b"96\r\n" + PAGE[150:] + b"\r\n0\r\n\r\n"
MEANWHILE: dict[str, tuple[list[Step], str, bytes, bool]] = {
    # what the site does while the first hundred bytes are read; the verdict; what the caller gets; whether whole
    "goes on, rewritten": (
        [HEAD + PAGE[:150], 0.05, PAGE[150:]], "rewrite", REWRITTEN[False] % 150, True,
    ),
    "goes on, passed": ([HEAD + PAGE[:150], 0.05, PAGE[150:]], "pass", PAGE, True),
    "goes on, annotated": ([HEAD + PAGE[:150], 0.05, PAGE[150:]], "annotate", PAGE, True),
    "goes on in chunks": (
        [CHUNKED + FIRST, 0.05, SECOND], "pass", FIRST + SECOND, True,
    ),
    "ends with its connection, passed": ([ENDLESS + PAGE[:150], 0.05, PAGE[150:], CLOSE], "pass", PAGE, True),
    "ends with its connection, rewritten": (
        [ENDLESS + PAGE[:150], 0.05, PAGE[150:], CLOSE], "rewrite", REWRITTEN[False] % 150, True,
    ),
    "breaks off, passed": ([HEAD + PAGE[:150], 0.05, CLOSE], "pass", PAGE[:150], False),
    "breaks off, rewritten": ([HEAD + PAGE[:150], 0.05, CLOSE], "rewrite", REWRITTEN[False] % 150, True),
    "is reset, rewritten": ([HEAD + PAGE[:150], 0.05, RESET], "rewrite", REWRITTEN[False] % 150, True),
    "says what is not HTTP, rewritten": (
        [CHUNKED + FIRST, 0.05, b"zz\r\n"], "rewrite", REWRITTEN[False] % 150, True,
    ),
    "says what is not HTTP, passed": (
        [CHUNKED + FIRST, 0.05, b"zz\r\n"], "pass", FIRST, False,
    ),
}  # fmt: skip


@pytest.mark.parametrize("obeys", [True, False], ids=["told to wait", "heard all the same"])
@pytest.mark.parametrize("name", MEANWHILE)
@both_loops
async def test_what_the_site_does_meanwhile(name: str, obeys: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    steps, verdict, body, whole = MEANWHILE[name]
    if not obeys:  # TLS hands on what it has decrypted already, whoever asked it to pause
        monkeypatch.setattr(Upstream, "pause", lambda self: None)
    gate = threading.Event()
    decider = Decider(gate=gate, verdict=verdict, limit=LIMIT)
    async with serving(steps) as site, relaying(site.port, decider) as running:
        reader, writer = await running.open()
        writer.write(get("/", AGENT))
        await _reading(running)
        await asyncio.sleep(0.15)
        assert not running.outcomes
        exchange = running.relay.connections[0].exchange
        assert exchange is not None
        assert not obeys or (exchange.upstream is not None and exchange.upstream.paused)
        gate.set()
        answer = await read_answer(reader)
        assert (answer.status, answer.complete) == (500, whole)
        assert answer.body == body
        writer.close()
        await running.settled()
        assert len(running.outcomes) == 1
        assert (running.outcomes[0].failure == "") is whole
        assert (running.relay.inflight, running.relay.held_bytes) == (0, 0)


@both_loops
async def test_a_caller_that_leaves_meanwhile_is_recorded_once_and_its_bytes_are_given_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gate = threading.Event()
    said: list[bytes] = []
    monkeypatch.setattr(Downstream, "say", lambda self, data: said.append(data))
    async with serving([HEAD + PAGE[:150], 9.0]) as site, relaying(
        site.port, Decider(gate=gate, limit=LIMIT)
    ) as running:  # fmt: skip
        _, writer = await running.open()
        writer.write(get("/", AGENT))
        await _reading(running)
        writer.close()
        await running.settled()
        assert running.busy == 0
        gate.set()
        await _reading(running, 0)
        assert len(running.outcomes) == 1
        assert (running.relay.inflight, running.relay.held_bytes) == (0, 0)
        assert said == []  # what was read in the end is for nobody


@both_loops
async def test_where_too_many_wait_the_status_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_MOST_WAITING", 2)
    gate = threading.Event()
    async with serving(HEAD + PAGE) as site, relaying(site.port, Decider(gate=gate)) as running:
        waiting = [asyncio.create_task(running.ask(get("/", AGENT))) for _ in range(2)]
        await _reading(running, 2)
        assert (await running.ask(get("/", AGENT))).body == REWRITTEN[False] % 0
        gate.set()
        assert {answer.body for answer in await asyncio.gather(*waiting)} == {REWRITTEN[True] % len(PAGE)}


@both_loops
async def test_going_down_waits_for_what_is_read_and_not_for_ever() -> None:
    for seconds, status in ((5.0, 500), (0.2, 0)):
        gate = threading.Event()
        async with (
            serving(HEAD + PAGE) as site,
            relaying(site.port, Decider(gate=gate), shutdown=seconds) as running,
        ):
            reader, writer = await running.open()
            writer.write(get("/", AGENT))
            await _reading(running)
            ending = asyncio.create_task(running.runner.cleanup())
            await asyncio.sleep(0.1)
            if status:
                gate.set()
            assert (await read_answer(reader)).status == status
            await ending
            gate.set()
            writer.close()
            assert running.relay.inflight == 0


@both_loops
async def test_a_caller_answered_otherwise_meanwhile_gets_no_second_answer() -> None:
    """Its upload turns out to be no HTTP while the site's early refusal is read."""
    gate = threading.Event()
    upload = b"POST / HTTP/1.1\r\nHost: t.example\r\nAccept: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"

    async def refusing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(HEAD + PAGE)
        await reader.read()

    async with listening(refusing) as port, relaying(port, Decider(gate=gate)) as running:
        reader, writer = await running.open()
        writer.write(upload + b"1\r\nx\r\n")
        await _reading(running)
        writer.write(b"no size\r\n")
        answer = await read_answer(reader)
        assert (answer.status, answer.body) == (400, b"failed\n")
        gate.set()
        await _reading(running, 0)
        assert await reader.read() == b""
        writer.close()
        assert len(running.outcomes) == 1
        assert (running.relay.inflight, running.relay.held_bytes) == (0, 0)
