"""Going down: answers say so, exchanges in flight end well, nobody is left without an answer."""

from __future__ import annotations

import asyncio
import time

from aiohttp import web
from loopback import OK, Step, both_loops, get, read_answer, relaying, serving

from saywhy.edge.settings import Upstream


@both_loops
async def test_answers_of_a_draining_relay_close_their_connection() -> None:
    async with serving(OK) as site, relaying(site.port) as running:
        reader, writer = await running.open()
        writer.write(get())
        assert (await read_answer(reader)).all(b"connection") == []
        running.relay.drain()
        writer.write(get())
        answer = await read_answer(reader)
        assert (answer.body, answer.all(b"connection")) == (b"ok", [b"close"])
        assert await reader.read() == b""
        writer.close()
        assert (await running.ask(get())).status == 200  # still accepting


@both_loops
async def test_exchanges_in_flight_end_and_idle_connections_close_at_once() -> None:
    steps: list[Step] = [0.3, b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nsl", 0.3, b"ow"]
    async with serving(steps) as site, relaying(site.port, shutdown=5) as running:
        idle, idle_writer = await running.open()
        busy, busy_writer = await running.open()
        half, half_writer = await running.open()
        fresh, fresh_writer = await running.open()
        idle_writer.write(get())
        assert (await read_answer(idle)).body == b"slow"
        busy_writer.write(get())
        half_writer.write(get()[:20])
        await asyncio.sleep(0.1)
        start = time.monotonic()
        ending = asyncio.create_task(running.runner.cleanup())
        assert await idle.read() == b""
        assert time.monotonic() - start < 0.25
        half_writer.write(get()[20:])
        fresh_writer.write(get())  # was on its way when the listener closed
        for reader in (busy, half, fresh):
            answer = await read_answer(reader)
            assert (answer.body, answer.all(b"connection")) == (b"slow", [b"close"])
        await ending
        assert time.monotonic() - start < 2
        for writer in (idle_writer, busy_writer, half_writer, fresh_writer):
            writer.close()


@both_loops
async def test_a_connection_without_a_request_does_not_delay_the_end_for_long() -> None:
    async with serving(OK) as site, relaying(site.port, shutdown=20) as running:
        reader, writer = await running.open()
        await asyncio.sleep(0.8)  # and is not closed before: longer than a tick
        assert len(running.relay.connections) == 1
        start = time.monotonic()
        await running.runner.cleanup()
        assert await reader.read() == b""
        assert time.monotonic() - start < 2
        writer.close()


@both_loops
async def test_what_does_not_end_is_cut_off_after_the_timeout() -> None:
    async with serving([5.0, OK]) as site, relaying(site.port, shutdown=0.3) as running:
        reader, writer = await running.open()
        writer.write(get())
        await asyncio.sleep(0.05)
        start = time.monotonic()
        await running.runner.cleanup()
        assert time.monotonic() - start < 1
        assert (await read_answer(reader)).status == 0
        writer.close()
        assert running.relay.inflight == 0


@both_loops
async def test_under_load_no_request_goes_without_an_answer() -> None:
    async with serving(OK) as site, relaying(site.port, shutdown=5) as running:
        stop = False
        answered = 0

        async def caller() -> None:
            nonlocal answered
            while not stop:
                try:
                    reader, writer = await running.open()
                except ConnectionError:
                    return
                while True:
                    writer.write(get())
                    answer = await read_answer(reader)
                    assert (answer.status, answer.body) == (200, b"ok")
                    answered += 1
                    if answer.all(b"connection") == [b"close"]:
                        break
                writer.close()

        callers = [asyncio.create_task(caller()) for _ in range(20)]
        await asyncio.sleep(0.2)
        running.relay.drain()
        await asyncio.sleep(0.2)
        stop = True  # balancers have noticed
        await asyncio.gather(*callers)
        await running.runner.cleanup()
        assert answered > 50


@both_loops
async def test_a_reload_of_sites_keeps_what_is_unchanged() -> None:
    async with (
        serving(OK) as first,
        serving(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nnew") as second,
        relaying(first.port) as running,
    ):
        relay = running.relay
        assert (await running.ask(get())).body == b"ok"
        relay.replace_upstreams({"default": Upstream(url=f"http://127.0.0.1:{first.port}")})
        assert (await running.ask(get())).body == b"ok"
        assert first.connections == 1
        relay.replace_upstreams({"default": Upstream(url=f"http://127.0.0.1:{second.port}")})
        assert (await running.ask(get())).body == b"new"
        await asyncio.sleep(0.05)
        assert first.gone == 1


@both_loops
async def test_unix_listeners_and_counters(tmp_path: object) -> None:
    path = f"{tmp_path}/saywhy.sock"
    async with serving(OK) as site, relaying(site.port) as running:
        await web.UnixSite(running.runner, path).start()
        reader, writer = await asyncio.open_unix_connection(path)
        writer.write(get("/", "X-Forwarded-For: 6.6.6.6"))
        assert (await read_answer(reader)).status == 200
        assert site.got[0].all(b"x-forwarded-for") == []
        assert (running.relay.requests_count, running.relay.inflight, len(running.relay.connections)) == (
            1,
            0,
            1,
        )
        assert repr(running.relay) == "<Relay to default, 0 in flight>"
        writer.close()


@both_loops
async def test_whoever_waits_for_a_site_that_a_reload_takes_away_is_served_by_it() -> None:
    async with (
        serving([0.2, OK]) as first,
        serving(OK) as second,
        relaying(first.port, limits={"upstream_connections": 1}, deadlines={"peek_seconds": 0.1}) as running,
    ):
        relay = running.relay
        asked = [asyncio.create_task(running.ask(get("/", method="POST"))) for _ in range(3)]
        await asyncio.sleep(0.05)
        relay.replace_upstreams({"default": Upstream(url=f"http://127.0.0.1:{second.port}")})
        assert (await running.ask(get())).status == 200
        assert [answer.status for answer in await asyncio.gather(*asked)] == [200] * 3
        assert (len(first.got), len(second.got)) == (3, 1)
        for _ in range(100):
            if not relay._leaving:
                break
            await asyncio.sleep(0.01)
        assert not relay._leaving  # and then it is forgotten
