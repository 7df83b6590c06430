"""A caller who leaves, in whatever phase and however, frees the site within a second."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import socket
import ssl
import struct
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from loopback import Decider, Running, both_loops, get, listening, relaying

Reader, Writer = asyncio.StreamReader, asyncio.StreamWriter
AGENT = "Accept: application/json"
POST = get("/", "Content-Length: 100000000", method="POST")
UPGRADE = get("/", "Connection: Upgrade", "Upgrade: chat/1")
SWITCH = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: chat/1\r\n\r\n"
HALF = b"HTTP/1.1 %b\r\nContent-Type: text/html\r\nContent-Length: 100\r\n\r\nhello"


async def _listen(reader: Reader, writer: Writer) -> None:
    while await reader.read(65536):
        pass


async def _flood(reader: Reader, writer: Writer) -> None:
    while True:
        writer.write(b"x" * 65536)
        await writer.drain()


async def _take_nothing(reader: Reader, writer: Writer) -> None:
    await asyncio.sleep(30)


class Phase(NamedTuple):
    """What the caller sends, what the site says to it and does then; `fills`: the caller goes on sending until the
    relay reads no more of it.
    """

    sends: bytes
    says: bytes = b""
    does: Callable[[Reader, Writer], Awaitable[None]] = _listen
    fills: bool = False


PHASES: dict[str, Phase] = {
    "waiting for a connection": Phase(get()),
    "before the head": Phase(get()),
    "after an interim head": Phase(get(), b"HTTP/1.1 103 Early Hints\r\n\r\n"),
    "in the body": Phase(get(), HALF % b"200 OK"),
    "in a body faster than it reads": Phase(get(), b"HTTP/1.1 200 OK\r\n\r\n", _flood),
    "in a held error": Phase(get("/", AGENT), HALF % b"500 Oops"),
    "in a peek": Phase(get("/", AGENT), HALF % b"200 OK"),
    "uploading": Phase(POST + b"x" * 1000),
    "uploading more than the site takes": Phase(POST, b"", _take_nothing, fills=True),
    "with more requests than are read ahead": Phase(get() * 40),
    "in a tunnel": Phase(UPGRADE, SWITCH + b"hello"),
    "in a tunnel faster than it reads": Phase(UPGRADE, SWITCH, _flood),
    "in a tunnel whose site takes nothing": Phase(UPGRADE, SWITCH, _take_nothing, fills=True),
}


def _close(writer: Writer) -> None:
    writer.close()


def _reset(writer: Writer) -> None:
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def _die(writer: Writer) -> None:
    """As the kernel closes for a process that was killed: no word of TLS, a reset where bytes are unread."""
    writer.transport.abort()


GOODBYES = {"close": _close, "reset": _reset, "die": _die}
WAYS = [("close", "plain"), ("reset", "plain"), ("close", "TLS"), ("reset", "TLS"), ("die", "TLS")]
UNSEEN = {
    # A plain end behind bytes that are still owed to the site is a half-close in a tunnel, and its right.
    ("in a tunnel whose site takes nothing", "close", "plain"),
    ("in a tunnel whose site takes nothing", "close", "TLS"),
    ("in a tunnel whose site takes nothing", "die", "TLS"),
    # This caller says goodbye in TLS and waits for an answer, behind bytes that nobody reads.
    ("uploading more than the site takes", "close", "TLS"),
}


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> ssl.SSLContext:
    """A server's context with a certificate that signs itself."""
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("openssl (package openssl) is not installed")
    folder: Path = tmp_path_factory.mktemp("tls")
    public, private = folder / "cert.pem", folder / "key.pem"
    command = f"req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout {private} -out {public} -days 1"
    subprocess.run([program, *command.split(), "-subj", "/CN=t"], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(public, private)
    return context


@contextlib.asynccontextmanager
async def _encrypted(running: Running, context: ssl.SSLContext) -> AsyncIterator[int]:
    """A second listener of the relay, with TLS."""
    factory: Any = running.relay
    server = await asyncio.get_running_loop().create_server(factory, "127.0.0.1", 0, ssl=context)
    yield server.sockets[0].getsockname()[1]
    server.close()


async def _arrive(running: Running, port: int, tls: ssl.SSLContext | None, phase: Phase) -> Writer:
    _reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=tls, limit=1024)
    writer.write(phase.sends)
    if phase.fills:
        # The kernels' buffers must keep room for the end: what waits in the caller's own is never seen by anybody.
        while not _is_stuck(running):
            writer.write(b"x" * 65536)
            await asyncio.sleep(0.002)
        while writer.transport.get_write_buffer_size():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    return writer


def _is_stuck(running: Running) -> bool:
    if running.relay.tunnels:
        return any(tunnel.unread() for tunnel in running.relay.tunnels)
    return any(down.paused for down in running.relay.connections)


@pytest.mark.parametrize("name", PHASES)
@both_loops
async def test_whoever_leaves_frees_the_site(name: str, certificate: ssl.SSLContext) -> None:
    phase = PHASES[name]
    came = 0

    async def site(reader: Reader, writer: Writer) -> None:
        nonlocal came
        if phase.fills:
            reader._limit = 1024  # type: ignore[attr-defined]
        await reader.readuntil(b"\r\n\r\n")
        came += 1
        writer.write(phase.says)
        await phase.does(reader, writer)

    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    limits = {"upstream_connections": 1 if name.startswith("waiting") else 9, "stream_buffer_bytes": 65536}
    decider = Decider(successes=True, action="peek" if name == "in a peek" else "hold")
    async with (
        listening(site) as port,
        relaying(port, decider, limits=limits) as running,
        _encrypted(running, certificate) as tls_port,
    ):
        blocker = await _arrive(running, running.port, None, PHASES["before the head"])
        async with asyncio.timeout(5):
            while not came:  # noqa: ASYNC110
                await asyncio.sleep(0.005)
        slow = {}
        for goodbye, kind in WAYS:
            if (name, goodbye, kind) in UNSEEN:
                continue
            at, tls = (tls_port, trusting) if kind == "TLS" else (running.port, None)
            writer = await _arrive(running, at, tls, phase)
            await _begun(running, waits=name.startswith("waiting"))
            await asyncio.sleep(0.005)
            GOODBYES[goodbye](writer)
            try:
                async with asyncio.timeout(1):
                    while running.relay.inflight > 1 or running.relay.tunnels or running.busy > 1:  # noqa: ASYNC110
                        await asyncio.sleep(0.005)
            except TimeoutError:
                slow[goodbye, kind] = (running.relay.inflight, len(running.relay.tunnels), running.busy)
                break
        assert slow == {}
        assert running.relay.held_bytes == 0
        assert running.relay.pool_counts()["default"]["waiting"] == 0
        blocker.close()
        await asyncio.sleep(0.02)


async def _begun(running: Running, *, waits: bool) -> None:
    """Until the exchange is where it should be."""
    async with asyncio.timeout(5):
        while True:
            counts = running.relay.pool_counts()["default"]
            if running.relay.tunnels or (counts["waiting"] if waits else counts["busy"] > 1):
                return
            await asyncio.sleep(0.005)


@both_loops
async def test_whoever_leaves_while_the_site_is_dialled_is_forgotten() -> None:
    # A listener that never accepts, its queue full: the kernel lets further attempts wait.
    with socket.socket() as deaf, contextlib.ExitStack() as fillers:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        for _ in range(3):
            filler = fillers.enter_context(socket.socket())
            filler.setblocking(False)
            filler.connect_ex(deaf.getsockname())
        async with relaying(deaf.getsockname()[1]) as running:
            for leave in GOODBYES.values():
                _reader, writer = await running.open()
                writer.write(get())
                async with asyncio.timeout(1):
                    while not running.relay.inflight:  # noqa: ASYNC110
                        await asyncio.sleep(0.005)
                leave(writer)
                async with asyncio.timeout(1):
                    while running.relay.inflight or running.relay.pool_counts()["default"]["waiting"]:  # noqa: ASYNC110
                        await asyncio.sleep(0.005)
