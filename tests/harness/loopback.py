"""Raw sites and raw callers around a relay in this process: what tests of the relay share. No HTTP library on either
side, so that every byte is the test's own.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
import socket
import ssl
import struct
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest
import uvloop
from aiohttp import web

from saywhy.core.failures import look_up
from saywhy.core.model import Caller, Fields, Head, Outcome, Plan, Request, Verdict
from saywhy.core.policy import Policy, Routes
from saywhy.edge.settings import Deadlines, Forwarding, Limits, Upstream
from saywhy.relay import Relay, as_server
from saywhy.relay.names import LookUp, system_addresses

RESET = "reset"
CLOSE = "close"
Step = bytes | float | str
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
LOOPS = {"uvloop": uvloop.new_event_loop, "asyncio": asyncio.new_event_loop}


def both_loops(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """Run an async test under uvloop and under plain asyncio."""

    @functools.wraps(test)
    def run(*args: Any, loop: str, **kwargs: Any) -> None:
        async def bounded() -> None:
            async with asyncio.timeout(40):
                await test(*args, **kwargs)
                await asyncio.sleep(
                    0.02
                )  # transports that were closed say goodbye in the next rounds of the loop

        with asyncio.Runner(loop_factory=LOOPS[loop]) as runner:
            runner.run(bounded())

    del run.__dict__["__wrapped__"]
    signature = inspect.signature(test)
    loop = inspect.Parameter("loop", inspect.Parameter.KEYWORD_ONLY)
    run.__signature__ = signature.replace(parameters=[*signature.parameters.values(), loop])  # type: ignore[attr-defined]
    return pytest.mark.parametrize("loop", list(LOOPS))(run)


class Decider:
    """Stands in for the normalizer: an agent is who accepts JSON, errors of agents are held and rewritten to what the
    relay handed in, so that tests can see it.
    """

    def __init__(self, routes: Routes | None = None, **plans: Any) -> None:
        self.routes = routes or Routes()
        self.limit: int = plans.get("limit", 65536)
        self.action: Any = plans.get("action", "hold")
        self.verdict: Any = plans.get("verdict", "rewrite")
        self.successes: bool = plans.get("successes", False)
        self.gate: threading.Event | None = plans.get("gate")  # what reading in a thread waits for
        self.seen: list[tuple[Head, bytes, bool]] = []

    def glance(self, status: int, request_head: bytes) -> bool:
        return status >= 400 or (self.successes and b"json" in request_head)

    def triage(self, head: Head) -> Plan:
        caller = Caller("json" in (head.request.fields.get("accept") or ""), "accept")
        if not caller.is_agent:
            return Plan("pass", "not_agent", caller, Policy())
        return Plan(self.action, "", caller, Policy(), self.limit)

    def hurry(self, head: Head, plan: Plan, body: bytes, *, complete: bool, now: float) -> Verdict | None:
        if self.gate is not None:
            return None
        return self.normalize(head, plan, body, complete=complete, now=now)

    def normalize(self, head: Head, plan: Plan, body: bytes, *, complete: bool, now: float) -> Verdict:
        if self.gate is not None and threading.current_thread() is not threading.main_thread():
            self.gate.wait(20)
        self.seen.append((head, body, complete))
        fields, content = head.response.fields, None
        if self.verdict == "rewrite":
            fields = Fields([(b"Content-Type", b"application/json"), (b"Content-Length", b"999")])
            content = b'{"complete": %s, "bytes": %d}' % (b"true" if complete else b"false", len(body))
        elif self.verdict == "annotate":
            fields = Fields([*fields.lines, (b"Agent-Error", b"noted")])
        return Verdict(
            action=self.verdict,
            status=head.response.status,
            fields=fields,
            body=content,
            caller=plan.caller,
            original_status=head.response.status,
        )

    def fail(self, request: Request, token: str, *, now: float, wait: int | None = None) -> Verdict:
        row = look_up(token)
        fields = Fields([(b"Proxy-Status", b"saywhy; error=" + row.token.encode())])
        caller = Caller(False, "nothing")
        return Verdict(
            action="rewrite",
            status=row.status,
            fields=fields,
            body=b"failed\n",
            caller=caller,
            source="proxy",
        )


class Got(NamedTuple):
    """A request as the site read it. `target` and fields are raw; `body` is what stood on the wire behind the head."""

    first: bytes
    lines: tuple[bytes, ...]
    body: bytes
    connection: int

    @property
    def target(self) -> bytes:
        return self.first.split(b" ")[1]

    def all(self, name: bytes) -> list[bytes]:
        found = (line.partition(b":") for line in self.lines)
        return [value.strip() for field_name, _, value in found if field_name.lower() == name]


class Answer(NamedTuple):
    """An answer as the caller read it. `complete` is False where it stopped before the end that its framing announced."""

    status: int
    head: bytes
    body: bytes
    complete: bool

    def all(self, name: bytes) -> list[bytes]:
        found = (line.partition(b":") for line in self.head.split(b"\r\n")[1:])
        return [value.strip() for field_name, _, value in found if field_name.lower() == name]


async def _read_body(reader: asyncio.StreamReader, head: bytes, *, until_close: bool) -> tuple[bytes, bool]:
    lower = head.lower()
    body = b""
    try:
        if b"transfer-encoding: chunked" in lower or b"transfer-encoding:\tchunked" in lower:
            while True:
                line = await reader.readuntil(b"\r\n")
                body += line
                size = int(line.split(b";")[0], 16)
                if size == 0:
                    while True:
                        line = await reader.readuntil(b"\r\n")
                        body += line
                        if line == b"\r\n":
                            return body, True
                body += await reader.readexactly(size + 2)
        if b"\r\ncontent-length:" in lower:
            size = int(lower.split(b"\r\ncontent-length:")[1].split(b"\r\n")[0])
            return await reader.readexactly(size), True
        if until_close:
            while piece := await reader.read(65536):
                body += piece
        return body, True
    except asyncio.IncompleteReadError as error:
        return body + error.partial, False
    except ConnectionError:
        return body, False


async def read_answer(reader: asyncio.StreamReader, method: str = "GET") -> Answer:
    """One answer, interim ones too; status 0 where the connection ended before a head."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError) as error:
        return Answer(0, getattr(error, "partial", b""), b"", False)
    status = int(head[9:12])
    if method == "HEAD" or status < 200 or status in (204, 304):
        return Answer(status, head[:-4], b"", True)
    body, complete = await _read_body(reader, head, until_close=True)
    return Answer(status, head[:-4], body, complete)


async def _play(writer: asyncio.StreamWriter, steps: list[Step]) -> bool:
    for step in steps:
        if isinstance(step, bytes):
            writer.write(step)
            await writer.drain()
        elif isinstance(step, float | int):
            await asyncio.sleep(step)
        elif step == RESET:
            raw = writer.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
            return False
        else:
            return False
    return True


@dataclass
class Site:
    """A site that plays what it is told: `answer` maps a request to bytes to send, seconds to wait, CLOSE or RESET."""

    answer: Callable[[Got], bytes | list[Step]]
    got: list[Got] = field(default_factory=list)
    connections: int = 0
    gone: int = 0
    port: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        number = self.connections
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                first, *lines = head[:-4].split(b"\r\n")
                expects = any(line.lower().startswith(b"expect:") for line in lines)
                body = b"" if expects else (await _read_body(reader, head, until_close=False))[0]
                got = Got(first, tuple(lines), body, number)
                self.got.append(got)
                steps = self.answer(got)
                if not await _play(writer, [steps] if isinstance(steps, bytes) else steps):
                    break
        self.gone += 1
        writer.close()


@contextlib.asynccontextmanager
async def serving(answer: Callable[[Got], bytes | list[Step]] | bytes | list[Step]) -> AsyncIterator[Site]:
    """A site on a loopback port that answers so."""
    site = Site(answer if callable(answer) else lambda got: answer)
    async with listening(site.serve) as port:
        site.port = port
        yield site


@contextlib.asynccontextmanager
async def listening(
    serve: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    path: str | None = None,
    context: ssl.SSLContext | None = None,
) -> AsyncIterator[int]:
    """Any raw server on a loopback port, or a Unix socket; its tasks and connections end with it."""
    tasks: set[asyncio.Task[None]] = set()

    async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            await serve(reader, writer)
        except (asyncio.CancelledError, asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            tasks.discard(task)
            writer.close()

    if path is None:
        server = await asyncio.start_server(one, host, port, limit=1 << 22, backlog=1024, ssl=context)
    else:
        server = await asyncio.start_unix_server(one, path, limit=1 << 22)
    try:
        yield 0 if path is not None else server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@dataclass
class Running:
    """A relay in front of a site. `outcomes` is what it recorded."""

    relay: Relay
    runner: web.ServerRunner
    port: int
    outcomes: list[Outcome]

    def record(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)

    @property
    def busy(self) -> int:
        """Connections to sites that serve somebody."""
        return sum(counts["busy"] for counts in self.relay.pool_counts().values())

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 22)

    async def ask(self, data: bytes, method: str = "GET") -> Answer:
        """One request on a connection of its own; its final answer."""
        reader, writer = await self.open()
        writer.write(data)
        answer = await read_answer(reader, method)
        while 0 < answer.status < 200:
            answer = await read_answer(reader, method)
        writer.close()
        return answer

    async def settled(self, count: int = 1) -> None:
        """Wait until `count` exchanges are recorded."""
        for _ in range(400):
            if len(self.outcomes) >= count:
                return
            await asyncio.sleep(0.01)
        raise AssertionError(f"{len(self.outcomes)} of {count} exchanges were recorded")


@contextlib.asynccontextmanager
async def relaying(
    site: int | str | dict[str, Any],
    decider: Any = None,
    *,
    limits: dict[str, int] | None = None,
    deadlines: dict[str, float] | None = None,
    forwarding: dict[str, Any] | None = None,
    shutdown: float = 0.2,
    look_up: LookUp = system_addresses,
) -> AsyncIterator[Running]:
    """A relay on a loopback port, in front of a port, a URL, or several by name (URLs, or the members of an Upstream)."""
    urls = (
        site
        if isinstance(site, dict)
        else {"default": site if isinstance(site, str) else f"http://127.0.0.1:{site}"}
    )
    outcomes: list[Outcome] = []

    class Recorder:
        def record(self, outcome: Outcome) -> None:
            outcomes.append(outcome)

    relay = Relay(
        decider or Decider(),
        {name: Upstream(**({"url": one} if isinstance(one, str) else one)) for name, one in urls.items()},
        Limits(**(limits or {})),
        Deadlines(**(deadlines or {})),
        Forwarding(**(forwarding or {})),
        Recorder(),
        look_up,
    )
    runner = web.ServerRunner(as_server(relay), shutdown_timeout=shutdown)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
    try:
        yield Running(relay, runner, runner.addresses[0][1], outcomes)
    finally:
        await runner.cleanup()
        await asyncio.sleep(0.01)


def get(
    target: str = "/", *fields: str, method: str = "GET", version: str = "HTTP/1.1", body: bytes = b""
) -> bytes:
    """A request's bytes."""
    lines = [f"{method} {target} {version}", "Host: t.example", *fields]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body
