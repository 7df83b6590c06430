"""After a 101 the connection is a tunnel; without being asked there is none."""

from __future__ import annotations

import asyncio

import aiohttp
from aiohttp import web
from loopback import OK, both_loops, get, listening, read_answer, relaying, serving

UPGRADE = ["Connection: keep-alive, Upgrade", "Upgrade: chat/1"]
SWITCH = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: chat/1\r\n\r\n"


async def _echo(request: web.Request) -> web.WebSocketResponse:
    socket = web.WebSocketResponse(max_msg_size=0)
    await socket.prepare(request)
    async for message in socket:
        if message.type is aiohttp.WSMsgType.TEXT:
            await socket.send_str(message.data)
        else:
            await socket.send_bytes(message.data)
    return socket


@both_loops
async def test_a_websocket_echoes_and_closes() -> None:
    app = web.Application()
    app.router.add_get("/ws", _echo)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    async with relaying(runner.addresses[0][1]) as running, aiohttp.ClientSession() as session:
        async with session.ws_connect(f"http://127.0.0.1:{running.port}/ws", max_msg_size=0) as socket:
            for text in ("hello", "ü" * 1000, ""):
                await socket.send_str(text)
                assert await socket.receive_str() == text
            big = bytes(range(256)) * 40_000
            await socket.send_bytes(big)
            assert await socket.receive_bytes() == big
            assert len(running.relay.tunnels) == 1
        await running.settled()
        outcome = running.outcomes[0]
        assert (outcome.original_status, outcome.sent_status) == (101, 101)
        assert outcome.bytes_out > len(big) < outcome.bytes_in
        assert not running.relay.tunnels
    await runner.cleanup()


@both_loops
async def test_bytes_right_behind_either_head_belong_to_the_tunnel_and_a_half_close_is_passed_on() -> None:
    seen = b""

    async def site(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal seen
        head = await reader.readuntil(b"\r\n\r\n")
        assert b"Connection: Upgrade\r\nUpgrade: chat/1\r\n" in head
        writer.write(SWITCH + b"welcome")
        seen = await reader.read()
        writer.write(b"bye")

    async with listening(site) as port, relaying(port) as running:
        reader, writer = await running.open()
        writer.write(get("/", *UPGRADE) + b"early")
        assert await reader.readexactly(len(SWITCH) + 7) == SWITCH + b"welcome"
        writer.write(b" late")
        writer.write_eof()
        assert await reader.read() == b"bye"
        assert seen == b"early late"
        writer.close()


@both_loops
async def test_without_a_101_the_connection_goes_on_as_http() -> None:
    async with serving(OK) as site, relaying(site.port) as running:
        reader, writer = await running.open()
        writer.write(get("/1", *UPGRADE) + get("/2"))
        assert [(await read_answer(reader)).status for _ in range(2)] == [200, 200]
        assert [got.target for got in site.got] == [b"/1", b"/2"]
        assert [got.all(b"upgrade") for got in site.got] == [[b"chat/1"], []]
        writer.close()


@both_loops
async def test_h2c_is_not_asked_for() -> None:
    async with serving(OK) as site, relaying(site.port) as running:
        await running.ask(
            get("/", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMA")
        )
        await running.ask(get("/", "Upgrade: chat/1"))
        await running.ask(get("/", *UPGRADE, version="HTTP/1.0"))
        assert [
            got.all(b"upgrade") + got.all(b"http2-settings") + got.all(b"connection") for got in site.got
        ] == [[]] * 3


@both_loops
async def test_an_upgrade_with_a_body_sends_the_body_first() -> None:
    async with serving(OK) as site, relaying(site.port) as running:
        answer = await running.ask(get("/", *UPGRADE, "Content-Length: 5", method="POST", body=b"hello"))
        assert (answer.status, site.got[0].body) == (200, b"hello")


@both_loops
async def test_a_tunnel_in_which_nothing_moves_is_closed_and_one_that_ticks_is_not() -> None:
    async def site(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(SWITCH)
        await reader.read()

    async with listening(site) as port, relaying(port, deadlines={"tunnel_idle_seconds": 0.3}) as running:
        reader, writer = await running.open()
        writer.write(get("/", *UPGRADE))
        await read_answer(reader)
        for _ in range(6):
            await asyncio.sleep(0.1)
            writer.write(b"tick")
        assert running.relay.tunnels
        await running.settled()
        assert not running.relay.tunnels
        writer.close()


@both_loops
async def test_a_slow_end_of_a_tunnel_makes_the_other_wait() -> None:
    sent = 0

    async def site(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.transport.set_write_buffer_limits(high=65536)
        await reader.readuntil(b"\r\n\r\n")
        writer.write(SWITCH)
        for _ in range(512):
            writer.write(b"x" * 65536)
            sent += 65536
            await writer.drain()

    async with listening(site) as port, relaying(port) as running:
        reader, writer = await running.open()
        reader._limit = 65536  # type: ignore[attr-defined]
        writer.write(get("/", *UPGRADE))
        await reader.readuntil(b"\r\n\r\n")
        await asyncio.sleep(0.3)
        assert sent < 24 << 20
        assert len(await reader.readexactly(512 * 65536)) == 512 * 65536
        writer.close()


@both_loops
async def test_tunnels_take_places_of_callers_and_none_of_the_pool() -> None:
    async def site(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        while b"chat/1" not in head:
            writer.write(OK)
            head = await reader.readuntil(b"\r\n\r\n")
        writer.write(SWITCH)
        await reader.read()

    limits = {"upstream_connections": 1, "caller_connections": 4}
    async with listening(site) as port, relaying(port, limits=limits) as running:
        for _ in range(3):  # more tunnels than the pool has places, open at once, and then again
            writers = []
            for _ in range(3):
                reader, writer = await running.open()
                writer.write(get("/", *UPGRADE))
                assert await reader.readexactly(len(SWITCH)) == SWITCH
                writers.append(writer)
            assert (await running.ask(get())).status == 200
            async with asyncio.timeout(2):
                while running.relay.connections:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
            reader, fourth = await running.open()
            fourth.write(get("/", *UPGRADE))
            assert await reader.readexactly(len(SWITCH)) == SWITCH
            assert (await running.ask(get())).status == 0  # a fifth caller
            for writer in [*writers, fourth]:
                writer.close()
            async with asyncio.timeout(2):
                while running.relay.tunnels or running.busy:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
