"""A site's name: looked up again after a while and at the first failure, several addresses in turn, and never in the way
of anybody who needs no look-up. Names come from a function of the test's, addresses are loopback's own.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from loopback import Got, Running, Site, Step, both_loops, get, relaying

from saywhy.relay import names
from saywhy.relay.names import Address, Names, system_addresses

ONE, TWO, THREE = "127.0.0.2", "127.0.0.3", "127.0.0.4"


class Zone:
    """What the name is said to be; `hangs` while nobody answers."""

    def __init__(self, *addresses: str) -> None:
        self.addresses = list(addresses)
        self.error: OSError | None = None
        self.asked = 0
        self.answers = threading.Event()
        self.answers.set()

    def __call__(self, host: str, port: int) -> list[Address]:
        self.asked += 1
        self.answers.wait(10)
        if self.error is not None:
            raise self.error
        return [Address(socket.AF_INET, (one, port)) for one in self.addresses]


@contextlib.asynccontextmanager
async def servers(
    *hosts: str, answer: Callable[[Got], bytes | list[Step]] | None = None
) -> AsyncIterator[dict[str, Any]]:
    """A site on each of these addresses, on one port, that says which it is. `close(host)` takes one away."""
    sites: dict[str, Any] = {}
    listeners: dict[str, asyncio.Server] = {}
    port = 0
    for host in hosts:
        body = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n" + host.encode()
        site = Site(answer or (lambda got, body=body: body))  # type: ignore[misc]
        listeners[host] = await asyncio.start_server(site.serve, host, port, limit=1 << 22)
        port = site.port = listeners[host].sockets[0].getsockname()[1]
        sites[host] = site
    sites["port"] = port
    sites["close"] = lambda host: listeners[host].close()
    try:
        yield sites
    finally:
        for listener in listeners.values():
            listener.close()


async def _bodies(running: Running, count: int) -> list[str]:
    return [(await running.ask(get())).body.decode() for _ in range(count)]


def _site(port: int, seconds: float = 0.3) -> dict[str, dict[str, Any]]:
    return {"default": {"url": f"http://shop.test:{port}", "dns_seconds": seconds}}


@both_loops
async def test_a_new_address_is_taken_after_its_time_though_the_old_one_still_answers() -> None:
    zone = Zone(ONE)
    deadlines = {"peek_seconds": 0.1}  # a quick sweep
    async with (
        servers(ONE, TWO) as sites,
        relaying(_site(sites["port"]), look_up=zone, deadlines=deadlines) as running,
    ):
        assert await _bodies(running, 3) == [ONE] * 3
        assert sites[ONE].connections == 1
        zone.addresses = [TWO]
        for _ in range(200):
            if await _bodies(running, 1) == [TWO]:
                break
            await asyncio.sleep(0.02)
        assert await _bodies(running, 3) == [TWO] * 3
        assert sites[ONE].connections == 1  # the kept one was not used again
        assert all(outcome.sent_status == 200 for outcome in running.outcomes)


@both_loops
async def test_a_new_address_is_taken_at_the_first_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "_APART_SECONDS", 0.1)
    zone = Zone(ONE)
    async with servers(ONE, TWO) as sites, relaying(_site(sites["port"], 60), look_up=zone) as running:
        assert (await running.ask(get("/", "Connection: close"))).status == 200
        sites["close"](ONE)
        for upstream in list(running.relay.pools["default"]._open):
            raw = upstream.transport.get_extra_info("socket")
            assert raw.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)  # small requests wait for nothing
            upstream.abort()
        zone.addresses = [TWO]
        await asyncio.sleep(0.12)  # a look-up that failures ask for comes once in that time at most
        assert (await running.ask(get("/", method="POST"))).body.decode() == TWO
        assert zone.asked == 2


@both_loops
async def test_a_busy_connection_to_an_old_address_is_ended_by_its_exchange() -> None:
    zone = Zone(ONE)

    def slow(got: Got) -> list[Step]:
        return (
            [0.6, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"]
            if got.target == b"/slow"
            else [b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"]
        )

    async with (
        servers(ONE, TWO, answer=slow) as sites,
        relaying(
            _site(sites["port"], 0.2),
            look_up=zone,
            deadlines={"peek_seconds": 0.1},
            limits={"upstream_connections": 1},
        ) as running,
    ):
        first = asyncio.create_task(running.ask(get("/slow")))
        await asyncio.sleep(0.05)
        second = asyncio.create_task(running.ask(get()))  # waits for the one connection, and is not given it
        zone.addresses = [TWO]
        assert [answer.body for answer in await asyncio.gather(first, second)] == [b"ok"] * 2
        assert [len(sites[host].got) for host in (ONE, TWO)] == [1, 1]


@both_loops
async def test_new_connections_go_round_and_a_dead_address_costs_nobody_an_answer() -> None:
    zone = Zone(ONE, TWO, THREE)
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
    async with (
        servers(ONE, TWO, THREE, answer=lambda got: answer) as sites,
        relaying(_site(sites["port"], 60), look_up=zone) as running,
    ):
        for _ in range(6):
            assert (await running.ask(get())).status == 200
        assert [sites[host].connections for host in (ONE, TWO, THREE)] == [2, 2, 2]
        sites["close"](TWO)
        for _ in range(6):
            assert (await running.ask(get("/", method="POST"))).status == 200
        assert sites[TWO].connections == 2
        assert zone.asked == 1


@both_loops
async def test_an_address_that_keeps_silent_is_overtaken() -> None:
    zone = Zone(ONE, TWO)
    with socket.socket() as deaf:  # a listener that never accepts, its queue full
        deaf.bind((ONE, 0))
        deaf.listen(0)
        port = deaf.getsockname()[1]
        fillers = [socket.socket() for _ in range(3)]
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex((ONE, port))
        site = Site(lambda got: b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        listener = await asyncio.start_server(site.serve, TWO, port)
        async with relaying(_site(port, 60), look_up=zone) as running:
            began = time.monotonic()
            for _ in range(6):  # half of them would have waited a quarter of a second, had nobody remembered
                assert (await running.ask(get())).status == 200
            assert time.monotonic() - began < 4
            pool = running.relay.pools["default"]
            assert pool._names._shunned.keys() <= {Address(socket.AF_INET, (ONE, port))}
        listener.close()
        for filler in fillers:
            filler.close()


@both_loops
async def test_a_look_up_that_hangs_holds_up_nobody_else_and_is_asked_once() -> None:
    hanging = Zone(ONE)
    hanging.answers.clear()

    def look_up(host: str, port: int) -> list[Address]:
        return hanging(host, port) if host == "hangs.test" else system_addresses("127.0.0.2", port)

    async with servers(ONE) as sites:
        urls = {
            "default": f"http://fine.test:{sites['port']}",
            "hanging": f"http://hangs.test:{sites['port']}",
        }
        async with relaying(urls, look_up=look_up, deadlines={"connect_seconds": 0.3}) as running:
            pools = running.relay.pools
            running.relay.only_pool = pools["hanging"]
            asked = [asyncio.create_task(running.ask(get())) for _ in range(20)]
            await asyncio.sleep(0.1)
            running.relay.only_pool = pools["default"]
            assert (await running.ask(get())).status == 200
            for answer in await asyncio.gather(*asked):
                assert (answer.status, answer.all(b"proxy-status")) == (504, [b"saywhy; error=dns_timeout"])
            assert hanging.asked == 1
            hanging.answers.set()


@both_loops
async def test_the_last_addresses_are_used_while_nobody_answers(caplog: pytest.LogCaptureFixture) -> None:
    zone = Zone(ONE)
    async with servers(ONE) as sites, relaying(_site(sites["port"], 0.05), look_up=zone) as running:
        close = get("/", "Connection: close")
        assert (await running.ask(close)).status == 200
        zone.error = socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        with caplog.at_level(logging.WARNING, "saywhy.relay"):
            for _ in range(3):
                await asyncio.sleep(0.07)
                running.relay.pools["default"]._names._due = 0
                for upstream in list(running.relay.pools["default"]._open):
                    upstream.abort()
                await asyncio.sleep(0.01)
                assert (await running.ask(close)).status == 200
            zone.error = None
            running.relay.pools["default"]._names._due = 0
            for upstream in list(running.relay.pools["default"]._open):
                upstream.abort()
            await asyncio.sleep(0.01)
            assert (await running.ask(close)).status == 200
    told = [record.getMessage() for record in caplog.records]
    assert [said.partition("(")[0].strip() for said in told] == [
        "Upstream default: the name shop.test cannot be looked up",
        "Upstream default: the name shop.test is found again.",
    ]  # fmt: skip
    assert "its last addresses are used on, for 10 minutes at most" in told[0]


@both_loops
async def test_a_name_that_is_none() -> None:
    zone = Zone()
    async with relaying(_site(80), look_up=zone) as running:
        for _ in range(5):
            answer = await running.ask(get())
            assert (answer.status, answer.all(b"proxy-status")) == (502, [b"saywhy; error=dns_error"])
        assert zone.asked == 1  # the answer holds for a moment


V4 = [Address(socket.AF_INET, (f"10.0.0.{number}", 80)) for number in (1, 2)]
V6 = [Address(socket.AF_INET6, (f"fd00::{number}", 80, 0, 0)) for number in (1, 2)]


def test_families_alternate_and_the_systems_choice_leads() -> None:
    async def orders(found: list[Address], shun: Address | None) -> list[list[Address]]:
        made = Names("x.test", 80, 60, lambda: None, lambda host, port: found)
        first = await made.current()
        if shun is not None:
            made.shun(shun)
        return [first, await made.current()]

    for first, second in ((V6, V4), (V4, V6)):
        one, two = asyncio.run(orders([*first, *second], None))
        assert [address.family for address in one] == [first[0].family, second[0].family] * 2
        assert {one[0], two[0]} == set(first)
    one, two = asyncio.run(orders([*V6, *V4], V6[0]))
    assert two[-1] == V6[0]
