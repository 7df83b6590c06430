"""NTLM and Negotiate: what one caller logged in is never another's. The site knows connections, not requests."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field

import pytest
from loopback import OK, Answer, Decider, Running, both_loops, get, listening, read_answer, relaying, serving

from saywhy.core.policy import Policy, Routes
from saywhy.edge.settings import Upstream


@dataclass
class Domain:
    """A site whose connections are logged in by two legs of `scheme`, and which says to each request who it is."""

    scheme: str = "NTLM"
    identities: dict[int, str] = field(default_factory=dict)
    connections: int = 0
    open: int = 0
    seen: list[tuple[int, bytes]] = field(default_factory=list)
    closing: bool = False
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open += 1
        number, challenged = self.connections, ""
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                self.seen.append((number, head.split(b" ")[0]))
                given = next((line.split(b" ", 2)[2].decode() for line in head.split(b"\r\n")
                              if line.lower().startswith(f"authorization: {self.scheme.lower()} ".encode())), "")  # fmt: skip
                if given.startswith("hello-"):
                    challenged = given.removeprefix("hello-")
                    self._say(writer, 401, f"WWW-Authenticate: {self.scheme} riddle-{number}", "")
                elif given.startswith("answer-"):
                    right = given == f"answer-{number}"
                    if right:
                        self.identities[number] = challenged
                    self._say(writer, 200 if right else 401, "X: y", self.identities.get(number, ""))
                elif number in self.identities:
                    self._say(writer, 200, "X: y", self.identities[number])
                else:
                    self._say(writer, 401, f"WWW-Authenticate: {self.scheme}", "")
                if self.closing:
                    return
        finally:
            self.open -= 1
            if not self.open:
                self.ended.set()

    def _say(self, writer: asyncio.StreamWriter, status: int, line: str, body: str) -> None:
        writer.write(f"HTTP/1.1 {status} x\r\n{line}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())


class Talker:
    """One caller's connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, scheme: str) -> None:
        self._reader, self._writer, self._scheme = reader, writer, scheme

    async def ask(self, *fields: str, method: str = "GET") -> Answer:
        self._writer.write(get("/", *fields, method=method))
        return await read_answer(self._reader, method)

    async def log_in(self, name: str) -> Answer:
        first = await self.ask(f"Authorization: {self._scheme} hello-{name}")
        (riddle,) = first.all(b"www-authenticate")
        number = riddle.decode().rpartition("-")[2]
        return await self.ask(f"Authorization: {self._scheme} answer-{number}")

    def leave(self) -> None:
        self._writer.close()


@contextlib.asynccontextmanager
async def _talkers(running: Running, count: int, scheme: str = "NTLM") -> list[Talker]:  # type: ignore[misc]
    made = [Talker(*(await running.open()), scheme) for _ in range(count)]
    yield made
    for talker in made:
        talker.leave()


@pytest.mark.parametrize("scheme", ["NTLM", "Negotiate", "negotiate"])
@both_loops
async def test_many_callers_keep_their_own_connection(scheme: str) -> None:
    domain = Domain(scheme)
    async with (
        listening(domain.serve) as port,
        relaying(port) as running,
        _talkers(running, 8, scheme) as talkers,
    ):
        logged_in = await asyncio.gather(*(talker.log_in(f"n{at}") for at, talker in enumerate(talkers)))
        assert [answer.body.decode() for answer in logged_in] == [f"n{at}" for at in range(8)]
        for _ in range(3):
            answers = await asyncio.gather(*(talker.ask() for talker in talkers))
            assert [answer.body.decode() for answer in answers] == [f"n{at}" for at in range(8)]
            # Others, who are nobody, come in between, and find no connection of anybody's.
            others = await asyncio.gather(*(running.ask(get()) for _ in range(8)))
            assert {(answer.status, answer.body) for answer in others} == {(401, b"")}
        assert len(domain.identities) == 8


@both_loops
async def test_it_ends_with_its_caller() -> None:
    domain = Domain()
    async with listening(domain.serve) as port, relaying(port) as running, _talkers(running, 1) as (talker,):
        await talker.log_in("ann")
        assert running.relay.pool_counts()["default"]["busy"] == 1  # it counts, and is nobody else's
        talker.leave()
        async with asyncio.timeout(1):
            await domain.ended.wait()
        await asyncio.sleep(0.02)
        assert running.relay.pool_counts()["default"] == {"idle": 0, "busy": 0, "dialing": 0, "waiting": 0}
        assert (await running.ask(get())).status == 401


@pytest.mark.parametrize(
    "said", ["NTLM", "nTLM x", "Negotiate\tx", "NEGOTIATE  x", "Negotiate,x", "NTLM\t \tx"]
)
@both_loops
async def test_however_a_login_is_spelled_its_connection_is_nobody_elses(said: str) -> None:
    async with serving(OK) as site, relaying(site.port) as running, _talkers(running, 2) as (ann, bob):
        for _ in range(2):
            await ann.ask("Authorization:" + said)
            await bob.ask()
        assert [got.connection for got in site.got] == [1, 2, 1, 2]


@both_loops
async def test_a_mere_offer_binds_nobody() -> None:
    domain = Domain()
    async with listening(domain.serve) as port, relaying(port) as running, _talkers(running, 3) as talkers:
        for talker in talkers:
            assert (await talker.ask()).status == 401
            assert (await talker.ask("Authorization: Basic YTpi")).status == 401
        assert domain.connections == 1
        assert running.relay.pool_counts()["default"]["idle"] == 1


@pytest.mark.parametrize("method", ["GET", "POST"])
@both_loops
async def test_one_that_the_site_closes_is_replaced_by_another_of_the_callers(method: str) -> None:
    domain = Domain()
    async with listening(domain.serve) as port, relaying(port) as running, _talkers(running, 1) as (talker,):
        await talker.log_in("ann")
        domain.closing = True
        assert (await talker.ask()).body == b"ann"
        await asyncio.sleep(0.05)
        domain.closing = False
        assert (await talker.ask(method=method)).status == 401  # nobody on that connection
        assert running.relay.pool_counts()["default"] == {"idle": 0, "busy": 1, "dialing": 0, "waiting": 0}
        assert (await talker.log_in("ann")).body == b"ann"
        assert (domain.connections, len(domain.seen)) == (2, 6)


@both_loops
async def test_a_post_is_not_sent_twice_where_the_site_leaves_in_the_middle() -> None:
    got: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(2):
            head = await reader.readuntil(b"\r\n\r\n")
            got.append(head.split(b" ")[0])
            if head.startswith(b"POST"):
                return
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    async with listening(serve) as port, relaying(port) as running, _talkers(running, 1) as (talker,):
        assert (await talker.ask("Authorization: Negotiate abc")).status == 200
        assert (await talker.ask(method="POST")).status == 502
    assert got == [b"GET", b"POST"]


@both_loops
async def test_the_one_that_rested_longest_makes_room() -> None:
    domain = Domain()
    async with (
        listening(domain.serve) as port,
        relaying(port, limits={"upstream_connections": 3}) as running,
        _talkers(running, 3) as talkers,
    ):
        for at, talker in enumerate(talkers):
            assert (await talker.log_in(f"n{at}")).status == 200
        await talkers[0].ask()  # so n1 has rested longest
        assert (await running.ask(get())).status == 401
        assert [(await talkers[at].ask()).body for at in (0, 2)] == [b"n0", b"n2"]
        assert (await talkers[1].ask()).status == 401
        assert domain.open <= 3


@both_loops
async def test_a_site_that_a_reload_takes_away_keeps_nobody() -> None:
    old, new = Domain(), Domain()
    async with (
        listening(old.serve) as first,
        listening(new.serve) as second,
        relaying(first) as running,
        _talkers(running, 2) as talkers,
    ):
        for talker in talkers:
            await talker.log_in("ann")
        running.relay.replace_upstreams({"default": Upstream(url=f"http://127.0.0.1:{second}")})
        async with asyncio.timeout(1):
            await old.ended.wait()
        assert (await talkers[0].ask()).status == 401
        assert (await talkers[0].log_in("ann")).body == b"ann"
        assert (old.connections, new.connections) == (2, 1)


@both_loops
async def test_sites_are_told_apart() -> None:
    one, two = Domain(), Domain()
    routes = Routes((Policy(upstream="one", path=("/1*",)), Policy(upstream="two")))
    async with listening(one.serve) as first, listening(two.serve) as second:
        urls = {"one": f"http://127.0.0.1:{first}", "two": f"http://127.0.0.1:{second}"}
        async with relaying(urls, Decider(routes)) as running:
            reader, writer = await running.open()
            for path in ("/1", "/2", "/1", "/2"):
                writer.write(get(path, "Authorization: NTLM hello-x"))
                assert (await read_answer(reader)).status == 401
            assert (one.connections, two.connections) == (1, 1)
            writer.close()
            async with asyncio.timeout(1):
                await asyncio.gather(one.ended.wait(), two.ended.wait())
