"""Bodies and heads as they come, both ways: kinds of framing, segments, interim answers, events one by one, and a
sender that waits for a slow reader.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import socket
import time
from pathlib import Path

import pytest
from loopback import CLOSE, OK, Got, Step, both_loops, get, listening, read_answer, relaying, serving

LF = b"\r\n"
ANSWERS: dict[str, tuple[list[Step], int, bytes, bytes]] = {
    # steps of the site -> status, body as on the wire, a line that must be there
    "a length": ([b"HTTP/1.1 200 OK\r\nX-A: caf\xe9\r\nContent-Length: 5\r\n\r\nhello"], 200, b"hello", b"X-A: caf\xe9"),
    "nothing": ([b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"], 200, b"", b"Content-Length: 0"),
    "chunks": (
        [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n", 0.01, b"0\r\nT: 1\r\n", 0.01, b"\r\n"],
        200,
        b"5;x=y\r\nhello\r\n0\r\nT: 1\r\n\r\n",
        b"Transfer-Encoding: chunked",
    ),
    "until the end": ([b"HTTP/1.1 200 OK\r\n\r\nhel", 0.01, b"lo", CLOSE], 200, b"hello", b"Connection: close"),
    "HTTP/1.0": ([b"HTTP/1.0 200 Fine\r\n\r\nhello", CLOSE], 200, b"hello", b"HTTP/1.1 200 Fine"),
    "HTTP/1.0 with a length": ([b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", CLOSE], 200, b"ok", b"Content-Length: 2"),
    "a head in pieces": (
        [b"HTTP/1.1 2", 0.01, b"00 OK\r\nContent-Le", 0.01, b"ngth: 5\r\n\r", 0.01, b"\nhello"],
        200,
        b"hello",
        b"HTTP/1.1 200 OK",
    ),
    "an empty reason": ([b"HTTP/1.1 404 \r\nContent-Length: 2\r\n\r\nno"], 404, b"no", b"HTTP/1.1 404 "),
    "an odd reason": ([b"HTTP/1.1 418 I'm a teapot \xe9\r\nContent-Length: 2\r\n\r\nno"], 418, b"no", b"HTTP/1.1 418 I'm a teapot \xe9"),
    "204": ([b"HTTP/1.1 204 No Content\r\nContent-Length: 2\r\nX: 1\r\n\r\n"], 204, b"", b"X: 1"),
    "304": ([b"HTTP/1.1 304 Not Modified\r\nContent-Length: 1234\r\n\r\n"], 304, b"", b"Content-Length: 1234"),
    "early hints": (
        [b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", 0.01, b"HTTP/1.1 102 Processing\r\n\r\n" + OK],
        200,
        b"ok",
        b"HTTP/1.1 200 OK",
    ),
    "bare line ends": ([b"HTTP/1.1 200 OK\nX: 1\nContent-Length: 2\n\nok"], 200, b"ok", b"X: 1"),
    "bare line ends in pieces": ([b"HTTP/1.1 200 OK\nX: 1\nContent-Len", 0.01, b"gth: 2\n\nok"], 200, b"ok", b"X: 1"),
    "a folded line": ([b"HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 2\r\n\r\nok"], 200, b"ok", b"X: a b"),
    "bare ends and empty lines in the body": (
        [b"HTTP/1.1 200 OK\nX: 1\nContent-Length: 6\n\n\r\n\r\nok"],
        200,
        b"\r\n\r\nok",
        b"X: 1",
    ),
    "hop-by-hop fields": (
        [b"HTTP/1.1 200 OK\r\nA: 1\r\nConnection: keep-alive, x-hop\r\nKeep-Alive: timeout=5\r\nX-Hop: 1\r\nContent-Length: 2\r\nB: 2\r\n\r\nok"],
        200,
        b"ok",
        b"B: 2",
    ),
    "an upgrade offered": ([b"HTTP/1.1 200 OK\r\nUpgrade: h2c\r\nConnection: Upgrade\r\nContent-Length: 2\r\n\r\nok"], 200, b"ok", b"Content-Length: 2"),
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
@both_loops
async def test_answers_pass(name: str) -> None:
    steps, status, body, line = ANSWERS[name]
    async with serving(steps) as site, relaying(site.port) as running:
        for _ in range(2):
            answer = await running.ask(get())
            assert (answer.status, answer.body, answer.complete) == (status, body, True)
            assert line in answer.head.split(LF)
            assert not {b"keep-alive", b"x-hop", b"upgrade"} & {
                x.partition(b":")[0].lower() for x in answer.head.split(LF)
            }
        assert answer.all(b"content-length") != [b"2"] or status != 204
        kept = CLOSE not in steps
        assert site.connections == (1 if kept else 2)


@both_loops
async def test_an_answer_is_the_same_bytes_but_for_one_hops_fields() -> None:
    raw = b"HTTP/1.1 200 Fine Indeed\r\nsErVer: x\r\nSet-Cookie: a=1\r\nX-Empty:\r\nSet-Cookie: b=2\r\nX-Sp:  two  \r\ncontent-length: 2\r\nX-Hi: \xff\xfe\r\n\r\nok"
    async with serving(raw) as site, relaying(site.port) as running:
        reader, writer = await running.open()
        writer.write(get())
        assert await reader.readexactly(len(raw)) == raw
        writer.close()


@both_loops
async def test_head_has_no_content_whatever_its_fields_say() -> None:
    heads = [
        b"HTTP/1.1 200 OK\r\nContent-Length: 12345\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: 1\r\n\r\n",
    ]
    async with serving(lambda got: heads[int(got.target[1:])]) as site, relaying(site.port) as running:
        reader, writer = await running.open()
        for number, head in enumerate(heads):
            writer.write(get(f"/{number}", method="HEAD"))
            assert await reader.readexactly(len(head)) == head
        writer.close()
        assert site.connections == 1


@both_loops
async def test_interim_answers_reach_callers_of_http_1_1_alone() -> None:
    steps: list[Step] = [b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", 0.01, OK]
    async with serving(steps) as site, relaying(site.port) as running:
        reader, writer = await running.open()
        writer.write(get())
        assert [(await read_answer(reader)).status for _ in range(2)] == [103, 200]
        writer.close()
        reader, writer = await running.open()
        writer.write(get(version="HTTP/1.0"))
        assert (await read_answer(reader)).status == 200
        writer.close()


@both_loops
async def test_expect_is_the_sites_to_answer() -> None:
    async def site(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.readuntil(b"\r\n\r\n"):
            assert b"Expect: 100-continue" in head
            if b"/no" in head:
                writer.write(b"HTTP/1.1 417 Expectation Failed\r\nContent-Length: 2\r\n\r\nno")
                return
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            body = await reader.readexactly(5)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n" + body)

    async with listening(site) as port, relaying(port) as running:
        reader, writer = await running.open()
        writer.write(get("/yes", "Expect: 100-continue", "Content-Length: 5", method="POST"))
        assert (await read_answer(reader)).status == 100
        writer.write(b"hello")
        assert (await read_answer(reader)).body == b"hello"
        writer.write(get("/no", "Expect: 100-continue", "Content-Length: 5", method="POST"))
        answer = await read_answer(reader)
        assert (answer.status, answer.body, answer.all(b"connection")) == (417, b"no", [b"close"])
        assert await reader.read() == b""
        writer.close()


UPLOADS = {
    "a length": (["Content-Length: 11"], [b"hello", b" ", b"world"]),
    "chunks": (
        ["Transfer-Encoding: chunked"],
        [b"5\r\nhello\r\n", b"6;x\r\n wor", b"ld\r\n0\r\nT: 1\r", b"\n\r\n"],
    ),
    "no content": (["Content-Length: 0"], [b""]),
}


@pytest.mark.parametrize("name", UPLOADS)
@both_loops
async def test_request_bodies_pass_in_their_own_framing(name: str) -> None:
    fields, pieces = UPLOADS[name]
    async with serving(OK) as site, relaying(site.port) as running:
        for together in (True, False):
            reader, writer = await running.open()
            head = get("/", *fields, method="POST")
            for segment in [head + b"".join(pieces)] if together else [head[:20], head[20:], *pieces]:
                writer.write(segment)
                await asyncio.sleep(0.005)
            assert (await read_answer(reader)).status == 200
            writer.close()
        assert [got.body for got in site.got] == [b"".join(pieces)] * 2
        assert all(got.all(fields[0].split(":")[0].lower().encode()) for got in site.got)


@both_loops
async def test_a_body_that_breaks_its_framing_is_refused_and_the_fault_not_sent_on() -> None:
    seen = bytearray()

    async def site(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(65536):
                seen.extend(data)

    async with listening(site) as port, relaying(port) as running:
        reader, writer = await running.open()
        writer.write(get("/", "Transfer-Encoding: chunked", method="POST") + b"5\r\nhello\r\n")
        await asyncio.sleep(0.05)
        writer.write(b"0x1\r\n" + get("/smuggled"))
        answer = await read_answer(reader)
        assert (answer.status, answer.all(b"connection")) == (400, [b"close"])
        assert seen.endswith(b"5\r\nhello\r\n")
        writer.close()


@both_loops
async def test_a_caller_of_http_1_0_gets_the_bare_content() -> None:
    steps: list[Step] = [
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: T\r\n\r\n5\r\nhel",
        0.01,
        b"lo\r\n3\r\n wo\r\n0\r\nT: 1\r\n\r\n",
    ]
    async with serving(steps) as site, relaying(site.port) as running:
        answer = await running.ask(get(version="HTTP/1.0"))
        assert (answer.body, answer.all(b"transfer-encoding"), answer.all(b"trailer")) == (
            b"hello wo",
            [],
            [],
        )
        assert answer.all(b"connection") == [b"close"]
        await running.ask(get())
        assert site.connections == 1


@both_loops
async def test_pipelined_requests_are_answered_in_order_and_one_at_a_time() -> None:
    def answer(got: Got) -> list[Step]:
        body = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(got.target), got.target)
        return [0.05 if got.target == b"/1" else 0, body]

    async with serving(answer) as site, relaying(site.port, limits={"pipelined_requests": 4}) as running:
        reader, writer = await running.open()
        targets = [f"/{number}" for number in range(60)]
        writer.write(b"\r\n".join([b"", *(get(target) for target in targets)]))
        assert [(await read_answer(reader)).body.decode() for _ in targets] == targets
        assert [got.target.decode() for got in site.got] == targets
        assert site.connections == 1
        writer.write(get("/a") + get("/last", "Connection: close") + get("/never"))
        assert [(await read_answer(reader)).body for _ in range(2)] == [b"/a", b"/last"]
        assert await reader.read() == b""
        writer.close()
        assert b"/never" not in [got.target for got in site.got]


TWO = b"\r\n\r\n" + get("/a", "Content-Length: 4", method="POST", body=b"\r\n\r\n") + b"\r\n\r\n" + get("/b")


@both_loops
async def test_pipelined_requests_with_empty_lines_before_them_may_be_cut_anywhere() -> None:
    async with serving(OK) as site, relaying(site.port) as running:
        for cut in range(1, len(TWO)):
            reader, writer = await running.open()
            writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            writer.write(TWO[:cut])
            await asyncio.sleep(0.003)
            writer.write(TWO[cut:])
            assert [(await read_answer(reader)).status for _ in range(2)] == [200, 200], cut
            writer.write(get("/c"))
            assert (await read_answer(reader)).status == 200
            writer.close()
        assert [(got.target, got.body) for got in site.got[:3]] == [
            (b"/a", b"\r\n\r\n"),
            (b"/b", b""),
            (b"/c", b""),
        ]
        assert len(site.got) == 3 * (len(TWO) - 1)


NO_EMPTY_LINES: list[list[bytes]] = [
    [b"\n" + get()],
    [b"\r\n\n" + get()],
    [b"\r" + get()],
    [b"\r", b"\r\n" + get()],
    [b"\n", get()],
    [b"\r", get()],
]


@pytest.mark.parametrize("segments", NO_EMPTY_LINES)
@both_loops
async def test_what_is_no_empty_line_is_refused_and_never_swallowed(segments: list[bytes]) -> None:
    upload = get("/up", "Content-Length: 2", method="POST", body=b"ok")
    async with serving(OK) as site, relaying(site.port) as running:
        for first in (b"", upload):
            reader, writer = await running.open()
            if first:
                writer.write(first + segments[0])
                assert (await read_answer(reader)).status == 200
            else:
                writer.write(segments[0])
            for segment in segments[1:]:
                await asyncio.sleep(0.02)
                writer.write(segment)
            assert (await read_answer(reader)).status == 400
            assert await reader.read() == b""
            writer.close()
        assert [got.target for got in site.got] == [b"/up"]


@both_loops
async def test_a_head_may_come_in_any_two_segments() -> None:
    whole = get("/", method="GET")
    async with serving(OK) as site, relaying(site.port) as running:
        reader, writer = await running.open()
        for cut in range(1, len(whole)):
            writer.write(whole[:cut])
            await asyncio.sleep(0.003)
            writer.write(whole[cut:])
            assert (await read_answer(reader)).status == 200, cut
        writer.close()


NO_TRAILERS = [b"Host: b", b"authorization: x", b"X-Forwarded-For: 1", b"X_Forwarded_Proto: https", b"Agent-Identity: x",
               b"Content-Length: 5", b"Transfer-Encoding: chunked", b"Cookie: a=b"]  # fmt: skip


@pytest.mark.parametrize("line", NO_TRAILERS)
@both_loops
async def test_trailers_that_speak_for_a_head_do_not_reach_the_site(line: bytes) -> None:
    async with serving(OK) as site, relaying(site.port) as running:
        for cut in (0, 3, 6):
            reader, writer = await running.open()
            body = b"1\r\nx\r\n0\r\nX-Sum: 1\r\n"
            writer.write(get("/", "Transfer-Encoding: chunked", method="POST") + body + line[:cut])
            await asyncio.sleep(0.02)
            writer.write(line[cut:] + b"\r\n\r\n")
            assert (await read_answer(reader)).status == 400
            writer.close()
        assert all(line not in got.body and not got.body.endswith(b"\r\n\r\n") for got in site.got)
    steps = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nX-Host: b\r\n\r\n"
    async with serving(steps) as site, relaying(site.port) as running:
        assert (await running.ask(get())).body.endswith(b"X-Host: b\r\n\r\n")


@both_loops
async def test_no_coding_is_announced_where_there_can_be_no_body() -> None:
    early = b"HTTP/1.1 103 Early Hints\r\nTransfer-Encoding: chunked\r\nLink: </a>\r\n\r\n"
    last = b"HTTP/1.1 204\r\nTransfer-Encoding: chunked\r\nX: 1\r\n\r\n"
    async with serving([early, 0.01, last]) as site, relaying(site.port) as running:
        reader, writer = await running.open()
        for _ in range(2):
            writer.write(get())
            first, second = await read_answer(reader), await read_answer(reader)
            assert (first.status, first.all(b"transfer-encoding"), first.all(b"link")) == (103, [], [b"</a>"])
            assert (second.status, second.all(b"transfer-encoding"), second.all(b"x")) == (204, [], [b"1"])
            assert second.head.startswith(b"HTTP/1.1 204 \r\n")
        writer.close()


@both_loops
async def test_events_arrive_one_by_one() -> None:
    steps: list[Step] = [
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    ]
    for number in range(4):
        steps += [b"9\r\ndata: %d\n\n\r\n" % number, 0.1]
    async with serving([*steps, b"0\r\n\r\n"]) as site, relaying(site.port) as running:
        reader, writer = await running.open()
        writer.write(get("/", "Accept: text/event-stream"))
        await reader.readuntil(b"\r\n\r\n")
        times = []
        for _ in range(4):
            await reader.readuntil(b"\n\n\r\n")
            times.append(time.monotonic())
        assert all(later - earlier > 0.05 for earlier, later in itertools.pairwise(times))
        writer.close()


@both_loops
async def test_a_slow_caller_makes_the_site_wait_and_its_connection_is_reused_reading() -> None:
    sent = 0
    size = 64 << 20

    async def site(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.transport.set_write_buffer_limits(high=65536)
        for _ in range(2):
            await reader.readuntil(b"\r\n\r\n")
            sent = 0
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
            while sent < size:
                writer.write(b"x" * 65536)
                sent += 65536
                await writer.drain()
        await reader.read(1)

    async with listening(site) as port, relaying(port) as running:
        reader, writer = await running.open()
        reader._limit = 65536  # type: ignore[attr-defined]  # the caller itself must not read ahead
        for _ in range(2):
            writer.write(get())
            await reader.readuntil(b"\r\n\r\n")
            await asyncio.sleep(0.4)
            assert sent < 32 << 20  # what kernels and the buffers of both hops hold
            left = size
            while left:
                left -= len(await reader.read(1 << 20))
        assert running.relay.pool_counts()["default"]["idle"] == 1
        writer.close()


@pytest.mark.parametrize("at_once", [1, 40])
@both_loops
async def test_a_caller_that_takes_no_answer_gets_no_other_one_until_it_does(at_once: int) -> None:
    page = b"x" * 50_000
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(page) + page
    count = 240
    async with serving(answer) as site, relaying(site.port) as running:
        for listener in [one for place in running.runner.sites for one in place._server.sockets]:  # type: ignore[attr-defined]
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        loop = asyncio.get_running_loop()
        with socket.socket() as caller:
            caller.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            caller.setblocking(False)
            await loop.sock_connect(caller, ("127.0.0.1", running.port))
            for _ in range(count // at_once):
                await loop.sock_sendall(caller, get("/") * at_once)
                await asyncio.sleep(0.002)
            asked = len(site.got)
            owed = running.relay.connections[0].transport.get_write_buffer_size()
            assert asked < 20
            assert owed < running.relay.limits.stream_buffer_bytes + 2 * len(answer)
            got = 0
            while got < count * len(answer):
                got += len(await loop.sock_recv(caller, 1 << 20))
        assert got == count * len(answer)
        assert len(site.got) == count


@pytest.mark.parametrize("fields", [(), ("Connection: close",)], ids=["kept", "closed"])
@both_loops
async def test_a_slow_caller_gets_the_end_of_an_answer_however_long_its_connection_stood(
    fields: tuple[str, ...],
) -> None:
    page = b"<p>all of it</p>" * 4000
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(page) + page
    async with (
        serving(answer) as site,
        relaying(site.port, deadlines={"caller_keepalive_seconds": 0.1, "idle_seconds": 5}) as running,
    ):
        for listener in [one for place in running.runner.sites for one in place._server.sockets]:  # type: ignore[attr-defined]
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        loop = asyncio.get_running_loop()
        with socket.socket() as caller:
            caller.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            caller.setblocking(False)
            await loop.sock_connect(caller, ("127.0.0.1", running.port))
            await loop.sock_sendall(caller, get("/", *fields))
            await running.settled()  # the site has said all
            await asyncio.sleep(0.3)
            got = b""
            while not got.endswith(page) and (piece := await loop.sock_recv(caller, 65536)):
                got += piece
            assert got.endswith(b"\r\n\r\n" + page)


@both_loops
async def test_a_slow_site_makes_the_caller_wait() -> None:
    async def site(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reader._limit = 65536  # type: ignore[attr-defined]
        await reader.readuntil(b"\r\n\r\n")
        await asyncio.sleep(0.6)
        left = 64 << 20
        while left:
            left -= len(await reader.read(1 << 20))
        writer.write(OK)

    async with listening(site) as port, relaying(port) as running:
        reader, writer = await running.open()
        writer.transport.set_write_buffer_limits(high=65536)
        writer.write(get("/", f"Content-Length: {64 << 20}", method="POST"))
        sent = 0

        async def upload() -> None:
            nonlocal sent
            while sent < 64 << 20:
                writer.write(b"x" * 65536)
                sent += 65536
                await writer.drain()

        task = asyncio.create_task(upload())
        await asyncio.sleep(0.4)
        assert sent < 32 << 20
        assert (await read_answer(reader)).status == 200
        await task
        writer.close()


@both_loops
async def test_a_body_sent_while_the_connection_is_dialled_waits_in_bounds() -> None:
    async with serving(OK) as site, relaying(site.port) as running:
        reader, writer = await running.open()
        writer.write(get("/", f"Content-Length: {4 << 20}", method="POST") + b"x" * (4 << 20))
        assert (await read_answer(reader)).status == 200
        assert len(site.got[0].body) == 4 << 20
        writer.close()


@both_loops
async def test_a_body_in_tiny_pieces_that_waits_for_a_connection_costs_no_more_than_its_bytes() -> None:
    size = 20_000
    asked, release = asyncio.Event(), asyncio.Event()

    async def site(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while b"Content-Length" not in await reader.readuntil(b"\r\n\r\n"):
            asked.set()
            await release.wait()
            writer.write(OK)
        assert await reader.readexactly(size) == bytes(range(200)) * (size // 200)
        writer.write(OK)

    async with listening(site) as port, relaying(port, limits={"upstream_connections": 1}) as running:
        first = asyncio.create_task(running.ask(get()))
        await asked.wait()
        reader, writer = await running.open()
        writer.write(get("/", f"Content-Length: {size}", method="POST"))
        for _ in range(500):
            if running.relay.inflight == 2:
                break
            await asyncio.sleep(0.01)
        caller = running.relay.connections[-1]
        began = time.process_time()  # of the processor's time: however busy the machine is
        for number in range(size):
            caller.data_received(bytes((number % 200,)))
        assert time.process_time() - began < 0.5  # it took 3.3 s
        release.set()
        assert (await read_answer(reader)).body == (await first).body == b"ok"
        writer.close()


async def _plain_site(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(OK)
    await reader.read(1)


@both_loops
async def test_a_site_on_a_unix_socket(tmp_path: Path) -> None:
    path = str(tmp_path / "site.sock")
    async with listening(_plain_site, path=path), relaying(f"unix:{path}") as running:
        assert (await running.ask(get())).body == b"ok"


@both_loops
async def test_a_site_on_ipv6() -> None:
    if not socket.has_ipv6:
        pytest.skip("this machine has no IPv6")
    async with listening(_plain_site, host="::1") as port, relaying(f"http://[::1]:{port}") as running:
        assert (await running.ask(get())).body == b"ok"
