"""Promises of the relay that no other file here holds: limits that can be set, bounds that hold, who is believed."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from aiohttp import web
from loopback import OK, Got, both_loops, get, listening, read_answer, relaying, serving

from saywhy.edge.settings import Forwarding, Limits
from saywhy.relay.forwarded import Onward
from saywhy.relay.head import read_request

LARGE = b"HTTP/1.1 200 OK\r\n%bContent-Length: 2\r\n\r\nok"
# Setting, its value, a caller's field lines and a site's that pass, one and one that do not, and the caller's status.
LIMITS = {
    "head_bytes": (2048, ["X: " + "a" * 400] * 4, ["X: " + "a" * 400] * 5, 431),
    "line_bytes": (1024, ["X: " + "a" * 1000], ["X: " + "a" * 1100], 431),
    "fields_count": (20, ["X: a"] * 15, ["X: a"] * 20, 431),
}


@pytest.mark.parametrize("name", LIMITS)
@both_loops
async def test_a_limit_is_a_setting_and_holds_on_both_sides(name: str) -> None:
    value, fits, large, status = LIMITS[name]

    def answer(got: Got) -> bytes:
        lines = {b"/fits": fits, b"/large": large}.get(got.target, [])
        return LARGE % "".join(f"{line}\r\n" for line in lines).encode()

    async with serving(answer) as site, relaying(site.port, limits={name: value}) as running:
        assert (await running.ask(get("/fits"))).status == 200
        failed = await running.ask(get("/large"))
        assert (failed.status, failed.all(b"proxy-status")) == (
            502,
            [b"saywhy; error=http_response_header_section_size"],
        )
        assert (await running.ask(get("/", *fits))).status == 200
        before = len(site.got)
        assert (await running.ask(get("/", *large))).status == status
        assert len(site.got) == before


@both_loops
async def test_the_request_line_has_a_limit_of_its_own_kind() -> None:
    async with serving(OK) as site, relaying(site.port, limits={"line_bytes": 1024}) as running:
        assert (await running.ask(get("/" + "a" * 900))).status == 200
        assert (await running.ask(get("/" + "a" * 1100))).status == 414
        assert len(site.got) == 1


@both_loops
async def test_a_caller_who_asks_and_asks_waits_and_is_answered_in_order() -> None:
    """What is read ahead of an answer is bounded; beyond it the caller's own kernel holds what it sends."""
    go = asyncio.Event()

    async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while (head := await reader.readuntil(b"\r\n\r\n")) and await go.wait():
            number = head.split(b" ", 2)[1]
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(number), number))

    async with listening(hold) as port, relaying(port, limits={"pipelined_requests": 4}) as running:
        reader, writer = await running.open()
        targets = [f"/{number}" for number in range(3000)]
        sending = asyncio.create_task(_send(writer, targets))
        for _ in range(200):
            await asyncio.sleep(0.01)
            if running.relay.connections and running.relay.connections[0].paused:
                break
        (down,) = running.relay.connections
        assert down.paused
        go.set()
        most = 0
        for target in targets:
            assert (await read_answer(reader)).body.decode() == target
            most = max(most, len(down._ahead))
        assert most < 2 * 262144  # a segment is 256 KiB at most
        await sending
        writer.close()


async def _send(writer: asyncio.StreamWriter, targets: list[str]) -> None:
    for target in targets:
        writer.write(get(target, "X-Long: " + "x" * 400))
        await writer.drain()


@pytest.mark.parametrize(("trusted", "chain"), [((), []), (("unix",), [b"6.6.6.6"])])
@both_loops
async def test_whoever_comes_over_a_unix_socket_is_believed_where_that_is_said(
    trusted: tuple[str, ...], chain: list[bytes], tmp_path: Path
) -> None:
    path = str(tmp_path / "s")
    async with serving(OK) as site, relaying(site.port, forwarding={"trusted_proxies": trusted}) as running:
        await web.UnixSite(running.runner, path).start()
        reader, writer = await asyncio.open_unix_connection(path)
        writer.write(get("/", "X-Forwarded-For: 6.6.6.6", "X-Forwarded-Proto: https"))
        assert (await read_answer(reader)).status == 200
        writer.close()
        assert site.got[0].all(b"x-forwarded-for") == chain
        assert site.got[0].all(b"x-forwarded-proto") == [b"https" if trusted else b"http"]


# Settings' trusted proxies, the peer's address, whether it is believed.
PEERS = [
    (["10.0.0.0/8"], "10.1.2.3", True), (["10.0.0.0/8"], "11.1.2.3", False), (["10.0.0.0/8"], "::ffff:10.1.2.3", True),
    (["fd00::/8"], "fd00::1", True), (["fd00::/8"], "fd00::1%eth0", True), (["fd00::/8"], "fe80::1", False), (["::1"], "::1", True),
    (["0.0.0.0/0"], "203.0.113.9", True), (["0.0.0.0/0"], "2001:db8::1", False), (["unix"], "", True), (["unix"], "127.0.0.1", False), ([], "", False),
]  # fmt: skip


@pytest.mark.parametrize(("trusted", "address", "believed"), PEERS)
def test_who_is_believed(trusted: list[str], address: str, believed: bool) -> None:
    onward = Onward(Forwarding(trusted_proxies=tuple(trusted)), "here")
    assert onward.peer(address, False).trusted is believed
    assert onward.peer(address, False).trusted is believed  # remembered


@pytest.mark.parametrize(
    ("address", "host", "element"),
    [
        ("192.0.2.1", "t.example", b'for=192.0.2.1;host="t.example";proto=https'),
        ("2001:db8::1", "t.example:8443", b'for="[2001:db8::1]";host="t.example:8443";proto=https'),
        ("", "t.example", b'for=unknown;host="t.example";proto=https'),
    ],
)
def test_a_forwarded_element_is_quoted_as_rfc_7239_asks(address: str, host: str, element: bytes) -> None:
    onward = Onward(Forwarding(style="forwarded"), "here")
    peer = onward.peer(address, True)
    raw = f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
    head = read_request(raw, onward.names, Limits(), trusted=False)
    assert b"\r\nForwarded: " + element + b"\r\n" in onward.compose(head, peer, b"site")
