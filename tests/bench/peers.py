"""The proxies that are compared, one row each; how they are started, pinned and ended."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent


class Unfit(Exception):
    """This target cannot be measured here; the message says why."""


class Place(NamedTuple):
    """Where a run takes place: a folder of its own, the site's port, and the two cores."""

    folder: Path
    site: int
    load_core: int
    proxy_core: int


class Peer(NamedTuple):
    """One target: `version` raises `Unfit` where it is not installed, `command` makes it listen on a port."""

    name: str
    version: Callable[[], str]
    command: Callable[[Place, int], list[str]]


class Running(NamedTuple):
    """A started target."""

    name: str
    version: str
    port: int
    pid: int


def free_port() -> int:
    """A port of loopback that nobody listens on."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


def program(name: str) -> str:
    """The path of a program, empty where it is not installed."""
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin") or ""


def fill(template: str, place: Place, port: int, **more: str) -> Path:
    """A configuration made from a template beside this file."""
    text = (HERE / template).read_text()
    for mark, value in {
        "RUN": str(place.folder),
        "PORT": str(port),
        "SITE": f"127.0.0.1:{place.site}",
        **more,
    }.items():
        text = text.replace(f"@{mark}@", value)
    made = place.folder / template.removesuffix(".in")
    made.write_text(text)
    return made


def _says(name: str, flag: str) -> Callable[[], str]:
    """The version that a program tells, as the first word with a dot between digits."""

    def ask() -> str:
        if not program(name):
            raise Unfit("not installed")
        done = subprocess.run([program(name), flag], capture_output=True, text=True, check=False)
        words = (done.stdout + done.stderr).replace("/", " ").split()
        return next((word for word in words if word[:1].isdigit() and "." in word), "?")

    return ask


def _nginx(place: Place, port: int) -> list[str]:
    return [
        program("nginx"),
        "-e",
        str(place.folder / "nginx.err"),
        "-c",
        str(fill("nginx.conf.in", place, port)),
    ]


def _haproxy(place: Place, port: int) -> list[str]:
    return [program("haproxy"), "-db", "-f", str(fill("haproxy.cfg.in", place, port))]


def _aiohttp(place: Place, port: int) -> list[str]:
    return [sys.executable, str(HERE / "aiohttp_proxy.py"), str(port), f"127.0.0.1:{place.site}"]


def _saywhy(place: Place, port: int) -> list[str]:
    serve = [
        str(Path(sys.executable).with_name("saywhy")),
        "serve",
        "--upstream",
        f"http://127.0.0.1:{place.site}",
    ]
    return [*serve, "--listen", f"127.0.0.1:{port}", "--admin", f"127.0.0.1:{free_port()}"]


PEERS = (
    Peer("saywhy", lambda: version("saywhy"), _saywhy),
    Peer("nginx", _says("nginx", "-v"), _nginx),
    Peer("haproxy", _says("haproxy", "-v"), _haproxy),
    Peer("aiohttp", lambda: version("aiohttp"), _aiohttp),
)


@contextlib.contextmanager
def process(command: Sequence[str], port: int, core: int, log: Path) -> Iterator[int]:
    """A program pinned to `core` that listens on `port` while the block runs; its process id."""
    with log.open("wb") as output:
        started = subprocess.Popen(
            command, stdout=output, stderr=output, stdin=subprocess.DEVNULL, start_new_session=True,
            preexec_fn=lambda: os.sched_setaffinity(0, {core}),
        )  # fmt: skip
    try:
        until = time.monotonic() + 20
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            if started.poll() is not None or time.monotonic() > until:
                raise Unfit(f"does not listen: {log.read_text(errors='replace').strip()[-500:]}")
            time.sleep(0.05)
        yield started.pid
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGTERM)
        try:
            started.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(started.pid, signal.SIGKILL)
            started.wait()


@contextlib.contextmanager
def running(peer: Peer, place: Place) -> Iterator[Running]:
    """A target that serves the site's 1 KB page; `Unfit` where it is not installed or does not."""
    told, port = peer.version(), free_port()
    with process(peer.command(place, port), port, place.proxy_core, place.folder / f"{peer.name}.out") as pid:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/1k", timeout=10) as answer:
                length = len(answer.read())
        except OSError as error:
            raise Unfit(f"does not serve the page: {error}") from error
        if length != 1024:
            raise Unfit(f"serves {length} bytes of 1,024")
        yield Running(peer.name, told, port, pid)
