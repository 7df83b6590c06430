"""When there is no answer, or half of one: which failure it is, who learns of it, and who is never told of a half as if
it were a whole.
"""

from __future__ import annotations

import asyncio
import socket
import ssl

import pytest
from loopback import (
    CLOSE,
    OK,
    RESET,
    Decider,
    Got,
    Step,
    both_loops,
    get,
    listening,
    read_answer,
    relaying,
    serving,
)

from saywhy.core.policy import Policy, Routes
from saywhy.edge.settings import Upstream
from saywhy.relay import again
from saywhy.relay.dial import token_of
from saywhy.relay.place import Place, place_of

FAILURES: dict[str, tuple[list[Step], int, str]] = {
    "closes at once": ([CLOSE], 502, "connection_terminated"),
    "resets at once": ([RESET], 502, "connection_terminated"),
    "stops in the head": ([b"HTTP/1.1 200 OK\r\nContent-Le", CLOSE], 502, "http_response_incomplete"),
    "resets in the head": ([b"HTTP/1.1 200 OK\r\nContent-Le", 0.05, RESET], 502, "http_response_incomplete"),
    "is TLS": ([b"\x16\x03\x01\x00garbage\r\n\r\n", CLOSE], 502, "http_protocol_error"),
    "is SSH": ([b"SSH-2.0-OpenSSH_9\r\n", 3.0], 502, "http_protocol_error"),
    "is HTTP/2": ([b"HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n"], 502, "http_protocol_error"),
    "two lengths": ([b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx"], 502, "http_protocol_error"),
    "length and coding": ([b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"], 502, "http_protocol_error"),
    "an unknown coding": ([b"HTTP/1.1 200 OK\r\nTransfer-Encoding: foo\r\n\r\nx", CLOSE], 502, "http_protocol_error"),
    "NUL in a field": ([b"HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 0\r\n\r\n"], 502, "http_protocol_error"),
    "bare CR in a field": ([b"HTTP/1.1 200 OK\r\nX: a\rSet-Cookie: x=1\r\nContent-Length: 0\r\n\r\n"], 502, "http_protocol_error"),
    "a large head": ([b"HTTP/1.1 200 OK\r\nX: " + b"a" * 60000 + b"\r\n\r\n"], 502, "http_response_header_section_size"),
    "an endless head": ([b"HTTP/1.1 200 OK\r\nX: " + b"a" * 80000, 3.0], 502, "http_response_header_section_size"),
    "an unasked 101": ([b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nx"], 502, "http_upgrade_failed"),
    "says nothing": ([3.0], 504, "connection_read_timeout"),
    "drips 103": ([b"HTTP/1.1 103 Early Hints\r\n\r\n", 0.1] * 12 + [OK], 504, "connection_read_timeout"),
    "says nothing after 103": ([b"HTTP/1.1 103 Early Hints\r\n\r\n", 3.0], 504, "connection_read_timeout"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAILURES)
@both_loops
async def test_a_site_that_does_not_answer(name: str) -> None:
    steps, status, token = FAILURES[name]
    async with serving(steps) as site, relaying(site.port, deadlines={"first_byte_seconds": 0.2}) as running:
        reader, writer = await running.open()
        for _ in range(2):  # the caller's connection is as good as before
            writer.write(get("/", method="POST"))
            answer = await read_answer(reader)
            while answer.status == 103:
                answer = await read_answer(reader)
            assert (answer.status, answer.body, answer.all(b"connection")) == (status, b"failed\n", [])
            assert answer.all(b"proxy-status") == [f"saywhy; error={token}".encode()]
        writer.close()
        await running.settled(2)
        assert running.outcomes[0].failure == token
        assert (running.outcomes[0].sent_status, running.outcomes[0].upstream) == (status, "default")
        assert running.relay.pool_counts()["default"]["idle"] == 0


TORN: dict[str, list[Step]] = {
    "length, closed": [b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello", CLOSE],
    "length, reset": [b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + b"h" * 50000, 0.05, RESET],
    "nothing of it": [b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", 0.05, CLOSE],
    "chunks, closed": [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", CLOSE],
    "in a chunk": [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe", 0.05, RESET],
    "chunks gone bad": [
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        0.05,
        b"zz\r\n\r\n",
    ],
    "idle": [b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello", 3.0],
    "idle chunks": [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", 3.0],
    "until the end, reset": [b"HTTP/1.1 200 OK\r\n\r\nhello", 0.05, RESET],
}


@pytest.mark.parametrize("name", TORN)
@both_loops
async def test_half_an_answer_is_never_a_whole_one(name: str) -> None:
    async with serving(TORN[name]) as site, relaying(site.port, deadlines={"idle_seconds": 0.2}) as running:
        reader, writer = await running.open()
        writer.write(get())
        head = await reader.readuntil(b"\r\n\r\n")
        body = b""
        torn = False
        try:
            while piece := await reader.read(65536):
                body += piece
        except ConnectionResetError:
            torn = True
        writer.close()
        if b"Content-Length" in head:
            assert len(body) < int(head.split(b"Content-Length: ")[1].split(b"\r\n")[0])
        elif b"chunked" in head:
            assert not body.endswith(b"0\r\n\r\n")
        else:
            assert torn
        await running.settled()
        assert running.outcomes[0].failure
        assert running.outcomes[0].sent_status == 200
        assert running.relay.inflight == 0


@both_loops
async def test_nobody_listens() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    async with relaying(port) as running:
        reader, writer = await running.open()
        writer.write(b"".join(get(f"/{number}") for number in range(300)))
        answers = [await read_answer(reader) for _ in range(300)]
        told = [(answer.status, *answer.all(b"proxy-status")) for answer in answers]
        assert told[:10] == [(502, b"saywhy; error=connection_refused")] * 10
        assert told[10:] == [(503, b"saywhy; error=destination_unavailable")] * 290  # left alone for a moment
        writer.close()


PLACES = [
    ("http://name.invalid:80", 502, "dns_error"),
    ("unix:/no/such/socket", 502, "connection_refused"),
]


@pytest.mark.parametrize(("url", "status", "token"), PLACES)
@both_loops
async def test_places_that_are_not(url: str, status: int, token: str) -> None:
    async with relaying(url) as running:
        answer = await running.ask(get())
        assert (answer.status, answer.all(b"proxy-status")) == (status, [f"saywhy; error={token}".encode()])


def test_which_failure_of_a_dial_is_which() -> None:
    assert token_of(ssl.SSLCertVerificationError("x")) == "tls_certificate_error"
    assert token_of(ssl.SSLError("x")) == "tls_protocol_error"
    assert token_of(OSError(101, "x")) == "destination_ip_unroutable"
    assert token_of(OSError("no number")) == "connection_terminated"
    assert token_of(TimeoutError()) == "connection_timeout"


def test_where_a_site_is() -> None:
    def place(url: str) -> Place:
        return place_of(Upstream(url=url))

    assert place("https://[::1]").authority == b"[::1]"
    assert (place("http://a:81").authority, place("unix:/x/y").path, place("https://a").port) == (
        b"a:81",
        "/x/y",
        443,
    )


@both_loops
async def test_plain_http_on_a_tls_upstream() -> None:
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        await reader.read()

    async with listening(plain) as port, relaying(f"https://127.0.0.1:{port}") as running:
        answer = await running.ask(get())
        assert (answer.status, answer.all(b"proxy-status")) == (502, [b"saywhy; error=tls_protocol_error"])


def _dying_after_one(methods: list[bytes]) -> object:
    """A site that answers once a connection and hangs up when it is asked again."""
    used: set[int] = set()

    def answer(got: Got) -> bytes | list[Step]:
        methods.append(got.first.split(b" ")[0])
        if got.connection in used:
            return [CLOSE]
        used.add(got.connection)
        return OK if not got.first.startswith(b"HEAD") else b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"

    return answer


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "DELETE", "PUT", "POST", "PATCH"])
@both_loops
async def test_a_stale_connection_is_tried_again_but_never_for_post_and_patch(method: str) -> None:
    methods: list[bytes] = []
    async with serving(_dying_after_one(methods)) as site, relaying(site.port) as running:  # type: ignore[arg-type]
        assert (await running.ask(get())).status == 200
        answer = await running.ask(get("/", method=method), method)
        again = method not in ("POST", "PATCH")
        assert answer.status == (200 if again else 502)
        assert methods.count(method.encode()) == (2 if again else 1) + (method == "GET")
        # With a body that has gone out, nothing is sent twice.
        methods.clear()
        assert (await running.ask(get())).status == 200
        answer = await running.ask(get("/", "Content-Length: 2", method="PUT", body=b"hi"))
        assert (answer.status, methods.count(b"PUT")) == (502, 1)


AT_ONCE = [
    ("GET", 0.0, 2),
    ("HEAD", 0.0, 2),
    ("PUT", 0.0, 1),
    ("DELETE", 0.0, 1),
    ("POST", 0.0, 1),
    ("GET", 0.4, 1),
]


@pytest.mark.parametrize(("method", "after", "times"), AT_ONCE)
@pytest.mark.parametrize("end", [RESET, CLOSE])
@both_loops
async def test_a_new_connection_that_ends_at_once_is_tried_again_for_what_changes_nothing(
    method: str, after: float, times: int, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So goes a site whose successor listens beside it, with who waits in its queue."""
    monkeypatch.setattr(again, "QUEUED_SECONDS", 0.3)
    async with serving([after, end]) as site, relaying(site.port) as running:
        answer = await running.ask(get("/", method=method), method)
        assert answer.all(b"proxy-status") == [b"saywhy; error=connection_terminated"]
        assert len(site.got) == times


@both_loops
async def test_a_connection_that_says_something_unasked_is_not_used_again() -> None:
    poison = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"
    async with serving([OK, 0.02, poison]) as site, relaying(site.port) as running:
        assert (await running.ask(get())).body == b"ok"
        await asyncio.sleep(0.1)
        assert running.relay.pool_counts()["default"]["idle"] == 0
        assert (await running.ask(get())).body == b"ok"
        assert site.connections == 2


@both_loops
async def test_bytes_beyond_the_length_are_dropped_with_the_connection() -> None:
    async with (
        serving(OK + b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison") as site,
        relaying(site.port) as running,
    ):
        reader, writer = await running.open()
        for _ in range(3):
            writer.write(get())
            assert (await read_answer(reader)).body == b"ok"
        writer.close()
        assert site.connections == 3


@both_loops
async def test_the_pool_has_a_cap_and_its_queue_too() -> None:
    limits = {"upstream_connections": 2, "upstream_waiting": 3}
    async with serving([0.3, OK]) as site, relaying(site.port, limits=limits) as running:
        answers = await asyncio.gather(*(running.ask(get()) for _ in range(9)))
        statuses = sorted(answer.status for answer in answers)
        assert statuses == [200] * 5 + [503] * 4
        refused = next(answer for answer in answers if answer.status == 503)
        assert refused.all(b"proxy-status") == [b"saywhy; error=connection_limit_reached"]
        assert site.connections == 2
        assert running.relay.pool_counts()["default"] == {"idle": 2, "busy": 0, "dialing": 0, "waiting": 0}


@both_loops
async def test_waiting_for_a_full_pool_has_a_deadline() -> None:
    async with (
        serving([1.0, OK]) as site,
        relaying(
            site.port, limits={"upstream_connections": 1}, deadlines={"connect_seconds": 0.2}
        ) as running,
    ):
        first = asyncio.create_task(running.ask(get()))
        await asyncio.sleep(0.05)
        answer = await running.ask(get())
        assert (answer.status, answer.all(b"proxy-status")) == (
            503,
            [b"saywhy; error=connection_limit_reached"],
        )
        assert (await first).status == 200


@both_loops
async def test_a_connection_that_does_not_come_to_be() -> None:
    # A listener that never accepts, its queue full: the kernel lets further attempts wait.
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        fillers = []
        for _ in range(3):
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex(deaf.getsockname())
            fillers.append(filler)
        async with relaying(deaf.getsockname()[1], deadlines={"connect_seconds": 0.2}) as running:
            answer = await running.ask(get())
            assert (answer.status, answer.all(b"proxy-status")) == (
                504,
                [b"saywhy; error=connection_timeout"],
            )
        for filler in fillers:
            filler.close()


@both_loops
async def test_deadlines_of_callers() -> None:
    deadlines = {"request_head_seconds": 0.2, "caller_keepalive_seconds": 0.3, "idle_seconds": 0.25}
    async with serving(OK) as site, relaying(site.port, deadlines=deadlines) as running:
        idle, idle_writer = await running.open()
        slow, slow_writer = await running.open()
        slow_writer.write(b"GET / HTTP/1.1\r\nHo")
        answer = await read_answer(slow)
        assert answer.status == 408
        assert await slow.read() == b""
        assert await idle.read() == b""
        body, body_writer = await running.open()
        body_writer.write(get("/", "Content-Length: 5", method="POST") + b"he")
        assert (await read_answer(body)).status == 408
        for writer in (idle_writer, slow_writer, body_writer):
            writer.close()


@both_loops
async def test_a_caller_who_stops_reading_is_let_go_and_one_who_is_merely_slow_is_not() -> None:
    size = 32 << 20

    async def site(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size + b"x" * size)
        await reader.read(1)

    async with listening(site) as port, relaying(port, deadlines={"idle_seconds": 0.4}) as running:
        reader, writer = await running.open()
        reader._limit = 4096  # type: ignore[attr-defined]
        writer.write(get())
        await running.settled()
        assert running.outcomes[0].failure == "connection_write_timeout"
        writer.transport.abort()
        reader, writer = await running.open()
        reader._limit = 65536  # type: ignore[attr-defined]
        writer.write(get())
        await reader.readuntil(b"\r\n\r\n")
        left = size
        for _ in range(8):
            await asyncio.sleep(0.15)
            left -= len(await reader.readexactly(2 << 20))
        left -= len(await reader.readexactly(left))
        assert left == 0
        writer.close()


@both_loops
async def test_routes_choose_the_site_and_no_route_is_a_404_of_ours() -> None:
    routes = Routes(
        (Policy(name="a", upstream="a", path=("/a/*",)), Policy(name="b", upstream="b", host=("b.example",)))
    )
    named = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n"
    async with serving(named + b"a") as a, serving(named + b"b") as b:
        urls = {"a": f"http://127.0.0.1:{a.port}", "b": f"http://127.0.0.1:{b.port}"}
        async with relaying(urls, Decider(routes)) as running:
            assert (await running.ask(get("/a/x"))).body == b"a"
            assert (await running.ask(b"GET / HTTP/1.1\r\nHost: B.example:80\r\n\r\n")).body == b"b"
            answer = await running.ask(get("/c"))
            assert (answer.status, answer.all(b"proxy-status")) == (
                404,
                [b"saywhy; error=destination_not_found"],
            )


@both_loops
async def test_an_early_answer_to_an_upload_reaches_the_caller() -> None:
    async def site(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno")
        await reader.read(100)

    async with listening(site) as port, relaying(port) as running:
        reader, writer = await running.open()
        writer.write(get("/", "Content-Length: 10000000", method="POST") + b"x" * 100000)
        answer = await read_answer(reader)
        assert (answer.status, answer.body) == (413, b"no")
        writer.write(b"x" * 100000)  # still under way when the answer was sent: not a reason for a reset
        assert await reader.read() == b""
        writer.close()


@both_loops
async def test_an_early_answer_of_a_site_that_resets_the_upload_reaches_the_caller() -> None:
    loop = asyncio.get_running_loop()
    answer = b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno"

    async def site(listener: socket.socket) -> None:
        while True:
            sock, _ = await loop.sock_accept(listener)
            await loop.sock_recv(sock, 100)
            await loop.sock_sendall(sock, answer)
            sock.close()  # with bytes unread: a reset

    with socket.create_server(("127.0.0.1", 0), backlog=100) as listener:
        listener.setblocking(False)
        accepting = asyncio.create_task(site(listener))
        async with relaying(listener.getsockname()[1]) as running:
            for _ in range(40):
                reader, writer = await running.open()
                writer.write(get("/", "Content-Length: 2000000", method="POST") + b"x" * 2_000_000)
                got = await read_answer(reader)
                assert (got.status, got.body) == (413, b"no")
                writer.transport.abort()
        accepting.cancel()


MANY_INTERIMS: dict[str, tuple[int, int]] = {"as many as allowed": (16, 200), "one more": (17, 502)}


@pytest.mark.parametrize("name", MANY_INTERIMS)
@both_loops
async def test_interim_answers_are_counted(name: str) -> None:
    count, status = MANY_INTERIMS[name]
    async with (
        serving(b"HTTP/1.1 102 Processing\r\n\r\n" * count + OK) as site,
        relaying(site.port) as running,
    ):
        answer = await running.ask(get())
        assert answer.status == status
        await running.settled()
        assert running.outcomes[0].failure == ("" if status == 200 else "http_protocol_error")


@both_loops
async def test_too_many_callers() -> None:
    async with serving(OK) as site, relaying(site.port, limits={"caller_connections": 2}) as running:
        kept = [await running.open() for _ in range(2)]
        await asyncio.sleep(0.05)
        assert (await running.ask(get())).status == 0
        for reader, writer in kept:
            writer.write(get())
            assert (await read_answer(reader)).status == 200
            writer.close()
