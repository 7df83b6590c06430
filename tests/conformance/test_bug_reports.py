"""What other proxies got wrong, by the number that a collected report of it has: each test does what went wrong there.

The reports themselves are not part of the project; where they are at hand, `test_every_report_has_its_test` compares.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import gzip
import json
import signal
import socket
import struct
import threading
import time
import zlib
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import brotli
import pytest
import zstandard
from bombs import BOMBS
from certificates import self_signed
from loopback import CLOSE, LOOPS, OK, Answer, Got, Step, get, listening, read_answer, relaying, serving
from stage.scripted import ScriptedSite, page
from stage.serving import serving as saywhy

from saywhy import Normalizer, load_rulebook
from saywhy.core.policy import Policy, Routes
from saywhy.core.scrub import Scrubber
from saywhy.edge.meter import Meter
from saywhy.edge.packs import shipped_rules

REPORTS: set[str] = set()
AGENT = "Accept: application/problem+json, application/json;q=0.5"
PLAIN_AGENT = "Accept: application/json"
BROWSER = "Accept: text/html,application/xhtml+xml,*/*;q=0.8"
PAGE = b"<html><head><title>Gone fishing</title></head><body><h1>Gone fishing</h1></body></html>"


def report(*numbers: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Which reports a test is about."""
    REPORTS.update(f"BR-{number:02}" for number in numbers)
    return lambda test: test


def relayed(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """Run an async test on the loop that the process runs on."""

    @functools.wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        async def bounded() -> None:
            async with asyncio.timeout(40):
                await test(*args, **kwargs)
                await asyncio.sleep(0.02)

        with asyncio.Runner(loop_factory=LOOPS["uvloop"]) as runner:
            runner.run(bounded())

    return run


@functools.cache
def _rulebook() -> Any:
    return load_rulebook([shipped_rules()])


def _core(*routes: Policy) -> Normalizer:
    return Normalizer(_rulebook(), Routes(routes) if routes else Routes(), Scrubber())


def _answer(status: bytes, body: bytes, *lines: bytes) -> bytes:
    head = [b"HTTP/1.1 " + status, *lines, b"Content-Length: %d" % len(body), b"", b""]
    return b"\r\n".join(head) + body


def _media(answer: Answer) -> bytes:
    return (answer.all(b"content-type") or [b""])[0].partition(b";")[0]


def _envelope(answer: Answer) -> dict[str, Any]:
    """The error in an answer, after its coding, length and type were found to agree with it."""
    assert answer.complete
    assert answer.all(b"content-length") == [b"%d" % len(answer.body)]
    body = answer.body
    if answer.all(b"content-encoding") == [b"gzip"]:
        body = gzip.decompress(body)
    else:
        assert answer.all(b"content-encoding") == []
    value: dict[str, Any] = json.loads(body)
    error: dict[str, Any] = value.get("error", value)
    assert "code" in error
    return error


def test_every_report_has_its_test(shared: Path) -> None:
    lines = (shared / "cases" / "bug_reports.jsonl").read_text().splitlines()
    assert {json.loads(line)["id"] for line in lines} == REPORTS


# Fields.


@report(1)
@relayed
async def test_three_cookies_are_three_cookies() -> None:
    cookies = [b"a=1; Path=/", b"b=2", b"a=3"]

    def answer(got: Got) -> bytes:
        status = b"200 OK" if got.target == b"/fine" else b"500 Oops"
        lines = [b"Set-Cookie: " + cookie for cookie in cookies]
        return _answer(status, PAGE, b"Content-Type: text/html", lines[0], b"X-A: 1", *lines[1:])

    async with serving(answer) as site, relaying(site.port, _core()) as running:
        for target in ("/fine", "/error"):
            for caller in (BROWSER, PLAIN_AGENT):
                got = await running.ask(get(target, caller))
                assert got.all(b"set-cookie") == cookies
        assert _envelope(got)["code"] == "internal"


TARGETS: dict[int, list[bytes]] = {
    2: [b"/hassio%255Fauth/x", b"/a%2Fb", b"/%41", b"/a%2e%2e/b", b"/%2e%2e/b"],
    4: [b"/smart/http%3A%2F%2Fcdn.example%2Fa.jpg"],
    5: [b"/T%28P%3D%27u%27%2C%20R%3D1%29", b"/T(P='u',R=1)?%28%27"],
    6: [b"/encoded%2520path"],
    7: [b"/x?", b"/?", b"/x??", b"/x?a=&&"],
}


@report(2, 4, 5, 6, 7)
@pytest.mark.parametrize("number", TARGETS)
@relayed
async def test_a_target_goes_on_byte_for_byte(number: int) -> None:
    async with serving(OK) as site, relaying(site.port, _core()) as running:
        for target in TARGETS[number]:
            assert (await running.ask(get(target.decode()))).status == 200
            assert site.got[-1].first == b"GET " + target + b" HTTP/1.1"


@report(2)
@relayed
async def test_routes_see_the_path_as_the_lenient_site_will() -> None:
    """Raw, but for dot segments: a dot or a slash that is written as a code, once or twice, opens no other route."""
    routes = (
        Policy(name="admin", upstream="admin", path=("/admin/*",)),
        Policy(name="rest", upstream="rest"),
    )
    named = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
    async with serving(named + b"admin") as admin, serving(named + b"rest.") as rest:
        urls = {"admin": f"http://127.0.0.1:{admin.port}", "rest": f"http://127.0.0.1:{rest.port}"}
        async with relaying(urls, _core(*routes)) as running:
            for target, name in {
                "/admin/x": b"admin",
                "/a/../admin/x": b"admin",
                "/a/%2e%2e/admin/x": b"admin",
                "/a/%252e%252e/admin/x": b"admin",
                "/a%2f..%2fadmin/x": b"admin",
                "/%61dmin/x": b"rest.",
                "/other/admin/x": b"rest.",
            }.items():
                assert (await running.ask(get(target))).body == name
                assert ([*admin.got, *rest.got] and target) in {
                    got.target.decode() for got in (admin if name == b"admin" else rest).got
                }


LATIN = [b"X-A: caf\xe9", b"Content-Disposition: attachment; filename=\xfcber.pdf", b"Cookie: name=\xe9"]
UTF8 = ["X-User: 张伟".encode(), "X-City: 東京".encode()]


@report(8, 9)
@pytest.mark.parametrize("lines", [LATIN, UTF8], ids=["Latin-1", "UTF-8"])
@relayed
async def test_bytes_beyond_ascii_pass_both_ways(lines: list[bytes]) -> None:
    def answer(got: Got) -> bytes:
        status = b"404 Not Found" if got.target == b"/error" else b"200 OK"
        return _answer(status, PAGE, b"Content-Type: text/html", *lines)

    async with serving(answer) as site, relaying(site.port, _core()) as running:
        for target in ("/fine", "/error"):
            for caller in (BROWSER, PLAIN_AGENT):
                asked = get(target, caller)[:-2] + b"\r\n".join(lines) + b"\r\n\r\n"
                got = await running.ask(asked)
                assert got.status == (404 if target == "/error" else 200)
                assert set(lines) <= set(site.got[-1].lines)
                rewritten = target == "/error" and caller == PLAIN_AGENT
                # What describes the page that is gone goes with it.
                kept = [one for one in lines if not (rewritten and one.startswith(b"Content-Disposition"))]
                assert set(kept) <= set(got.head.split(b"\r\n"))
        assert _envelope(got)["code"] == "not_found"
        meter = Meter()
        for outcome in running.outcomes:
            meter.record(outcome)
            assert not outcome.failure


@report(8)
def test_the_log_shows_them_escaped(tmp_path: Path) -> None:
    with ScriptedSite({}) as site, saywhy(site.port, tmp_path) as proxy:
        with socket.create_connection(("127.0.0.1", proxy.port), timeout=10) as sock:
            sock.sendall(b"GET /caf\xe9 HTTP/1.1\r\nHost: t\r\nX-A: caf\xe9\r\nConnection: close\r\n\r\n")
            answer = b""
            while piece := sock.recv(65536):
                answer += piece
        assert answer.startswith(b"HTTP/1.1 200")
        line = proxy.exchanges(at_least=1)[0]  # JSON, or the harness says so
        assert line["status"] == 200
        assert line["path"].startswith("/caf")
        assert proxy.out.read_bytes().isascii()


# Content codings.


SAID = b'{"error": "gone_fishing", "message": "Gone fishing until Monday."}'


def _zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


CODED: dict[str, tuple[bytes, bool]] = {
    # Content-Encoding: body, whether it can be read
    "zstd": (_zstd(SAID), True),
    "br": (brotli.compress(SAID), True),
    "gzip": (gzip.compress(SAID), True),
    "deflate": (zlib.compress(SAID), True),
    "GZip": (gzip.compress(SAID), True),
    "x-gzip": (gzip.compress(SAID), True),
    "compress": (b"\x1f\x9d\x90" + SAID, False),
    "dcb": (b"\xff\x44\x43\x42" + SAID, False),
    "mystery": (SAID, False),
    "gzip, br": (brotli.compress(gzip.compress(SAID)), True),
}


@report(10, 11)
@pytest.mark.parametrize("coding", CODED)
@relayed
async def test_codings_pass_untouched_and_are_read_for_agents_where_they_can_be(coding: str) -> None:
    body, readable = CODED[coding]
    line = b"Content-Encoding: " + coding.encode()

    def answer(got: Got) -> bytes:
        status = b"404 Not Found" if got.target == b"/error" else b"200 OK"
        return _answer(status, body, b"Content-Type: application/json", line)

    async with serving(answer) as site, relaying(site.port, _core()) as running:
        for target, caller in (("/fine", BROWSER), ("/fine", PLAIN_AGENT), ("/error", BROWSER)):
            for accepts in ((), ("Accept-Encoding: gzip, br, zstd",)):
                got = await running.ask(get(target, caller, *accepts))
                assert (got.body, got.all(b"content-encoding")) == (body, [coding.encode()])
        for accepts in ((), ("Accept-Encoding: gzip",), ("Accept-Encoding: identity",)):
            got = await running.ask(get("/error", AGENT, *accepts))
            assert got.status == 404
            assert _envelope(got)["code"] == "not_found"
            assert (b"fishing until Monday" in got.body) is readable


@report(12, 14)
@pytest.mark.parametrize("size", [200, 30_000, 200_000])
@pytest.mark.parametrize("media", [b"text/html", b"application/json"])
@relayed
async def test_head_and_body_agree_about_coding_and_length(size: int, media: bytes) -> None:
    content = json.dumps({"error": "x" * size}).encode() if b"json" in media else PAGE + b"x" * size
    for chunked in (False, True):
        body = gzip.compress(content)
        lines = [b"Content-Type: " + media, b"Content-Encoding: gzip"]
        sized = _answer(b"500 Oops", body, *lines)
        chunks = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
        head = b"\r\n".join([b"HTTP/1.1 500 Oops", *lines, b"Transfer-Encoding: chunked", b"", b""])
        async with (
            serving(head + chunks if chunked else sized) as site,
            relaying(site.port, _core()) as running,
        ):
            for caller in (BROWSER, PLAIN_AGENT, AGENT, "Accept: text/markdown"):
                got = await running.ask(get("/", caller, "Accept-Encoding: gzip"))
                assert got.complete
                if got.all(b"transfer-encoding"):
                    assert (got.body, got.all(b"content-length")) == (chunks, [])
                    continue
                assert got.all(b"content-length") == [b"%d" % len(got.body)]
                if got.all(b"content-encoding"):
                    assert gzip.decompress(got.body) == content
                else:
                    assert got.body[:2] != b"\x1f\x8b"


@report(16)
def test_bombs_are_not_followed_to_the_end(tmp_path: Path) -> None:
    """Forty at once, of every kind; two hundred under a memory limit are a soak test. The status decides."""
    answers = {
        f"/{number}": page("500 Oops", make(), f"Content-Encoding: {coding.decode()}")
        for number, (coding, make) in enumerate(BOMBS.values())
    }
    asked = [f"/{number % len(BOMBS)}" for number in range(40)]
    with ScriptedSite(answers) as site, saywhy(site.port, tmp_path) as proxy:
        _ask_at(proxy.port, "/0")
        before = proxy.memory()
        with ThreadPoolExecutor(len(asked)) as asking:
            got = list(asking.map(functools.partial(_ask_at, proxy.port), asked))
        for one in got:
            assert one.startswith(b"HTTP/1.1 500")
            assert json.loads(one.partition(b"\r\n\r\n")[2])["error"]["code"] == "internal"
        assert proxy.memory() - before < 64 << 20
        assert proxy.metric("saywhy_unmatched_errors_total", status="500") == 41


def _ask_at(port: int, path: str, *lines: str) -> bytes:
    asked = [f"GET {path} HTTP/1.1", "Host: t", PLAIN_AGENT, *lines, "Connection: close", "", ""]
    with socket.create_connection(("127.0.0.1", port), timeout=30) as sock:
        sock.sendall("\r\n".join(asked).encode())
        answer = b""
        while piece := sock.recv(65536):
            answer += piece
    return answer


# Errors that were replaced.


@report(19)
@pytest.mark.parametrize("size", [65_536, 1 << 20])
@relayed
async def test_a_large_envelope_goes_out_with_the_status_of_the_error(size: int) -> None:
    """The relay's part: whatever the core makes of a page, however large, in one piece and under the status."""

    class Verbose(Normalizer):
        def hurry(self, *args: Any, **kwargs: Any) -> Any:
            verdict = super().hurry(*args, **kwargs)
            assert verdict is not None
            return replace(verdict, body=b'{"error": {"code": "x", "message": "%b"}}' % (b"y" * size))

    core = Verbose(_rulebook(), Routes(), Scrubber())
    async with (
        serving(_answer(b"404 Not Found", PAGE, b"Content-Type: text/html")) as site,
        relaying(site.port, core) as running,
    ):
        for _ in range(3):
            got = await running.ask(get("/", PLAIN_AGENT))
            assert (got.status, len(got.body) > size) == (404, True)
            assert _envelope(got)["code"] == "x"


@report(20)
@pytest.mark.parametrize("accepts", ["gzip", "identity;q=0", "gzip;q=0, *;q=0", "br", ""])
@relayed
async def test_an_envelope_keeps_status_and_fields_whatever_coding_was_asked_for(accepts: str) -> None:
    body = gzip.compress(PAGE)
    site_says = _answer(
        b"404 Not Found", body, b"Content-Type: text/html", b"Content-Encoding: gzip", b"X-Request: 7"
    )
    async with serving(site_says) as site, relaying(site.port, _core()) as running:
        for caller, media in ((PLAIN_AGENT, b"application/json"), (AGENT, b"application/problem+json")):
            got = await running.ask(get("/", caller, f"Accept-Encoding: {accepts}"))
            assert (got.status, _media(got), got.all(b"x-request")) == (404, media, [b"7"])
            assert _envelope(got)["code"] == "not_found"


@report(21)
@pytest.mark.parametrize(
    ("accept", "media"),
    [
        ("application/json", b"application/json"),
        ("application/problem+json", b"application/problem+json"),
        ("text/markdown", b"text/markdown"),
    ],
)
@relayed
async def test_an_envelope_says_its_type(accept: str, media: bytes) -> None:
    site_says = _answer(b"500 Oops", PAGE, b"Content-Type: text/html", b"X-Content-Type-Options: nosniff")
    async with serving(site_says) as site, relaying(site.port, _core()) as running:
        got = await running.ask(get("/", f"Accept: {accept}"))
        assert (got.status, _media(got)) == (500, media)
        assert got.all(b"x-content-type-options") == [b"nosniff"]
        got = await running.ask(get("/", "Accept: */*"))  # whoever takes anything is no agent
        assert (got.body, _media(got)) == (PAGE, b"text/html")
        assert got.all(b"x-content-type-options") == [b"nosniff"]


@report(22)
@relayed
async def test_trailers_pass() -> None:
    body = b"5\r\nhello\r\n0\r\ngrpc-status: 0\r\ngrpc-message: fine\r\n\r\n"
    head = b"HTTP/1.1 %b\r\nContent-Type: %b\r\nTrailer: grpc-status, grpc-message\r\nTransfer-Encoding: chunked\r\n\r\n"
    for status in (b"200 OK", b"500 Oops"):
        async with (
            serving(head % (status, b"application/grpc-web") + body) as site,
            relaying(site.port, _core()) as running,
        ):
            for caller in (BROWSER, PLAIN_AGENT):
                got = await running.ask(get("/", caller, "TE: trailers", "Connection: TE"))
                assert site.got[-1].all(b"te") == [b"trailers"]
                assert (got.body, got.all(b"trailer")) == (body, [b"grpc-status, grpc-message"])
    async with (
        serving(head % (b"500 Oops", b"text/html") + body) as site,
        relaying(site.port, _core()) as running,
    ):
        got = await running.ask(get("/", PLAIN_AGENT, "TE: trailers", "Connection: TE"))
        assert got.all(b"trailer") == []  # they were about a body that is gone
        assert _envelope(got)["code"] == "internal"


@report(23)
@pytest.mark.parametrize("status", [b"418 Teapot", b"500 Oops"])
@relayed
async def test_an_envelope_keeps_what_lets_a_browser_read_it(status: bytes) -> None:
    lines = [
        b"Access-Control-Allow-Origin: https://a.example",
        b"Access-Control-Allow-Credentials: true",
        b"Access-Control-Expose-Headers: X-A",
        b"Vary: Origin",
    ]
    async with (
        serving(_answer(status, PAGE, b"Content-Type: text/html", *lines)) as site,
        relaying(site.port, _core()) as running,
    ):
        got = await running.ask(get("/", PLAIN_AGENT, "Origin: https://a.example"))
        assert got.status == int(status[:3])
        _envelope(got)
        assert set(lines[:3]) <= set(got.head.split(b"\r\n")) or b"X-A" in got.head
        for name in (b"access-control-allow-origin", b"access-control-allow-credentials"):
            assert len(got.all(name)) == 1
        vary = b",".join(got.all(b"vary")).lower()
        assert b"origin" in vary
        assert b"accept" in vary


@report(24)
@pytest.mark.parametrize("media", [b"application/json", b"application/problem+json"])
@relayed
async def test_a_sites_own_structured_error_stays(media: bytes) -> None:
    body = b'{"errors":[{"field":"size","message":"must be a number","code":"nan"}],"type":"about:blank"}'
    site_says = _answer(b"422 Unprocessable", body, b"Content-Type: " + media)
    async with serving(site_says) as site, relaying(site.port, _core()) as running:
        got = await running.ask(get("/", PLAIN_AGENT))
        assert (got.status, got.body, _media(got)) == (422, body, media)
        got = await running.ask(get("/", AGENT))  # asked for problem details by name: nothing may be lost
        assert got.status == 422
        assert all(word in got.body for word in (b"size", b"must be a number", b"nan"))


@report(25)
@relayed
async def test_how_to_log_in_stays() -> None:
    ways = [b'Basic realm="x", charset="UTF-8"', b'Bearer realm="y", error="invalid_token"']
    lines = [b"WWW-Authenticate: " + way for way in ways]
    body = b'{"error": "login_required", "message": "Get a token at /login first."}'
    for content, media in ((body, b"application/json"), (PAGE, b"text/html")):
        async with (
            serving(_answer(b"401 No", content, lines[0], b"Content-Type: " + media, lines[1])) as site,
            relaying(site.port, _core()) as running,
        ):
            for caller in (BROWSER, PLAIN_AGENT, AGENT, "Accept: text/markdown"):
                got = await running.ask(get("/", caller))
                assert (got.status, got.all(b"www-authenticate")) == (401, ways)
                if content is body:
                    assert b"Get a token at /login first." in got.body


# Ends.


@report(26)
@relayed
async def test_a_hundred_abrupt_ends_of_a_download_leave_nothing_behind() -> None:
    opened = closed = 0

    async def site(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal opened, closed
        opened += 1
        try:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
            while True:
                writer.write(b"x" * 65536)
                await writer.drain()
        finally:
            closed += 1

    async with listening(site) as port, relaying(port, _core()) as running:
        tasks = len(asyncio.all_tasks())
        for start in range(0, 100, 20):
            callers = [await running.open() for _ in range(20)]
            for reader, writer in callers:
                writer.write(get())
                assert await reader.read(1000)
            for number, (_reader, writer) in enumerate(callers, start):
                if number % 2:
                    raw = writer.get_extra_info("socket")
                    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                writer.transport.abort()
            async with asyncio.timeout(1):
                while running.busy or running.relay.inflight or closed < opened:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
        assert (opened, closed) == (100, 100)
        assert len(asyncio.all_tasks()) <= tasks


@report(29)
@pytest.mark.parametrize("encrypted", [False, True], ids=["plain", "TLS"])
@relayed
async def test_the_tail_of_a_body_arrives_though_the_site_hangs_up(
    encrypted: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = 2 << 20
    body = b"%x\r\n%b\r\n0\r\n\r\n" % (size, b"z" * size)

    async def site(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + body)
        await writer.drain()
        writer.close()

    context = None
    if encrypted:
        pair = self_signed(tmp_path)
        monkeypatch.setenv("SSL_CERT_FILE", str(pair.certificate))
        context = pair.context()
    server = await asyncio.start_server(site, "127.0.0.1", 0, ssl=context)
    url = f"http{'s' if encrypted else ''}://localhost:{server.sockets[0].getsockname()[1]}"
    async with relaying(url) as running:
        reader, writer = await asyncio.open_connection("127.0.0.1", running.port, limit=8192)
        writer.write(get())
        await reader.readuntil(b"\r\n\r\n")
        got = bytearray()
        while len(got) < len(body):
            await asyncio.sleep(0.0005)  # a slow caller
            piece = await reader.read(16384)
            assert piece, f"{len(got)} of {len(body)} bytes"
            got += piece
        assert bytes(got) == body
        writer.close()
    server.close()
    await asyncio.sleep(0.05)


@report(30)
@pytest.mark.parametrize("status", [b"200 OK", b"404 Not Found", b"500 Oops"])
@relayed
async def test_head_keeps_the_length_and_invents_none(status: bytes) -> None:
    head = b"HTTP/1.1 %b\r\nContent-Type: text/html\r\nContent-Length: 12345\r\n\r\n" % status
    async with serving(head) as site, relaying(site.port, _core()) as running:
        for caller in (BROWSER, PLAIN_AGENT):
            reader, writer = await running.open()
            for _ in range(2):  # on one connection: a byte of a body would be taken for an answer
                writer.write(get("/", caller, method="HEAD"))
                got = await read_answer(reader, "HEAD")
                assert got.status == int(status[:3])
                if status.startswith(b"200") or caller == BROWSER:
                    assert got.all(b"content-length") == [b"12345"]
                else:  # what GET gets is not this page, and how long that would be is not known
                    assert got.all(b"content-length") == []
                    assert _media(got) == b"application/json"
            writer.close()


# Kept connections.


@report(33)
@relayed
async def test_a_site_that_hangs_up_after_each_answer_costs_no_get() -> None:
    posts = 0

    def answer(got: Got) -> list[Step]:
        nonlocal posts
        posts += got.first.startswith(b"POST")
        return [b"HTTP/1.1 204 No Content\r\nConnection: keep-alive\r\n\r\n", CLOSE]

    async with serving(answer) as site, relaying(site.port, _core()) as running:
        reader, writer = await running.open()
        for _ in range(100):
            writer.write(get("/", PLAIN_AGENT))
            assert (await read_answer(reader)).status == 204
        failed = 0
        for _ in range(100):
            writer.write(get("/", PLAIN_AGENT, "Content-Length: 2", method="POST", body=b"hi"))
            got = await read_answer(reader)
            if got.status != 204:
                failed += 1
                assert got.status == 502
                assert _envelope(got)["side_effects"] in ("possible", "unknown")
        assert posts + failed >= 100
        assert posts <= 100  # none was sent twice
        writer.close()


@report(34)
@relayed
async def test_posts_on_connections_that_the_site_lets_go_fail_rarely() -> None:
    """The forced case: the site closes an idle connection when the next POST comes, which loses half of them where a
    proxy only hopes. None is sent twice.
    """
    idle, count = 0.1, 50
    seen: list[bytes] = []

    async def site(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(TimeoutError):
            while True:
                async with asyncio.timeout(idle):
                    seen.append((await reader.readuntil(b"\r\n\r\n")).split(b" ")[1])
                    await reader.readexactly(2)
                writer.write(OK)

    async with listening(site) as port, relaying(port, _core()) as running:
        reader, writer = await running.open()
        statuses = []
        for number in range(count):
            writer.write(get(f"/{number}", PLAIN_AGENT, "Content-Length: 2", method="POST", body=b"hi"))
            got = await read_answer(reader)
            statuses.append(got.status)
            if got.status != 200:
                assert got.status == 502
                assert _envelope(got)["side_effects"] in ("possible", "unknown")
            await asyncio.sleep(idle)
        assert len(set(seen)) == len(seen)
        assert statuses.count(502) < count / 4
        writer.close()


@report(35)
def test_a_second_host_is_refused_by_name_and_counted(tmp_path: Path) -> None:
    with ScriptedSite({}) as site, saywhy(site.port, tmp_path) as proxy:
        for second in ("t", "other.example"):
            got = _ask_at(proxy.port, "/", f"Host: {second}")
            head, _, body = got.partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 400")
            assert "Host" in json.loads(body)["error"]["message"]
            assert b"other.example" not in got
        assert proxy.metric("saywhy_errors_total", status="400", source="proxy", code="invalid_input") == 2
        assert [line["status"] for line in proxy.exchanges(at_least=2)] == [400, 400]
        assert site.asked == []


@report(38)
@relayed
async def test_a_name_that_moves_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The old address refuses: the first request after the move, at the latest, goes to the new one."""
    address = "127.0.0.2"
    real = socket.getaddrinfo

    def resolve(host: Any, *rest: Any, flags: int = 0, **more: Any) -> Any:
        moving = host == "moving.example" and not flags & socket.AI_NUMERICHOST
        return real(address if moving else host, *rest, flags=flags, **more)

    async def site(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        own = writer.get_extra_info("sockname")[0].encode()
        while await reader.readuntil(b"\r\n\r\n"):
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(own), own))

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    async with AsyncExitStack() as stack:
        port = await stack.enter_async_context(listening(site, host="127.0.0.3"))
        old = AsyncExitStack()
        await old.enter_async_context(listening(site, host="127.0.0.2", port=port))
        running = await stack.enter_async_context(relaying(f"http://moving.example:{port}"))
        assert (await running.ask(get())).body == b"127.0.0.2"
        address = "127.0.0.3"
        await old.aclose()  # the container is gone, and its connections with it
        await asyncio.sleep(1.1)  # failures ask for names once a second at most
        bodies = [(await running.ask(get())).body for _ in range(5)]
        assert bodies == [b"127.0.0.3"] * 5


@report(39)
def test_sigterm_leaves_no_request_without_an_answer(tmp_path: Path) -> None:
    slow = page("200 OK", b"slow")._replace(wait=2.0)
    env = {"SAYWHY_DEADLINES__DRAIN_SECONDS": "0.5"}
    with ScriptedSite({"/slow": slow}) as site, saywhy(site.port, tmp_path, env=env) as proxy:
        answers: list[bytes] = []
        unanswered: list[str] = []

        def ask(path: str) -> None:
            while True:
                try:
                    sock = socket.create_connection(("127.0.0.1", proxy.port), timeout=10)
                except ConnectionRefusedError:
                    return  # it no longer listens: nothing was asked
                with sock:
                    while True:
                        sock.sendall(f"GET {path} HTTP/1.1\r\nHost: t\r\n\r\n".encode())
                        answer = b""
                        while b"\r\n\r\n" not in answer:
                            piece = sock.recv(65536)
                            if not piece:
                                unanswered.append(path)
                                return
                            answer += piece
                        answers.append(answer)
                        if b"Connection: close" in answer:
                            break

        callers = [threading.Thread(target=ask, args=("/",)) for _ in range(20)]
        callers += [threading.Thread(target=ask, args=("/slow",)) for _ in range(5)]
        for one in callers:
            one.start()
        time.sleep(0.5)
        proxy.signal(signal.SIGTERM)
        time.sleep(0.1)
        assert proxy.get("/-/ready")[0] == 503
        for one in callers:
            one.join(20)
        proxy.process.wait(20)
        assert unanswered == []
        assert len(answers) > 50
        assert all(answer.startswith(b"HTTP/1.1 200") for answer in answers)


# Framing.


@report(40)
@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE", "OPTIONS"])
@relayed
async def test_a_request_without_a_body_gets_no_framing(method: str) -> None:
    async with serving(b"HTTP/1.1 204 No Content\r\n\r\n") as site, relaying(site.port) as running:
        assert (await running.ask(get("/", method=method), method)).status == 204
        got = site.got[0]
        assert (got.all(b"transfer-encoding"), got.all(b"content-length"), got.body) == ([], [], b"")


@report(44)
@pytest.mark.parametrize("status", [b"200 OK", b"404 Not Found"])
@relayed
async def test_the_body_beside_a_declined_upgrade_is_a_body(status: bytes) -> None:
    smuggled = b"GET /admin HTTP/1.1\r\nHost: t.example\r\n\r\n"
    asked = get(
        "/", "Connection: upgrade", "Upgrade: websocket", f"Content-Length: {len(smuggled)}", body=smuggled
    )
    async with serving(_answer(status, b"no")) as site, relaying(site.port) as running:
        reader, writer = await running.open()
        for _ in range(2):
            writer.write(asked)
            got = await read_answer(reader)
            assert (got.status, got.body) == (int(status[:3]), b"no")
        writer.close()
        assert [(got.target, got.body) for got in site.got] == [(b"/", smuggled)] * 2
