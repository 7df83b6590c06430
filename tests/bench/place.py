"""Where a run takes place, and programs that live as long as a block: started, pinned to cores, waited for, ended."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
OWN_PEERS = HERE / ".peers"
"""The environment that `make bench-peers` makes; what is in it goes before what the machine has."""


class Unfit(Exception):
    """This cannot be measured here; the message says why."""


class Place(NamedTuple):
    """A folder of its own, the site's port, the sink's, and the cores that this run may use, in order."""

    folder: Path
    site: int
    sink: int
    available: tuple[int, ...]

    @property
    def load_core(self) -> int:
        """The core of who asks, and of the site."""
        return self.available[0]

    def cores(self, count: int) -> frozenset[int]:
        """Those of a proxy that wants `count`: the last ones; who asks is among them where there are no others."""
        return frozenset(self.available[-count:])

    def log(self, name: str) -> Path:
        """Where a target's access log and all that it prints go."""
        return self.folder / f"{name}.log"


def free_port() -> int:
    """A port of loopback that nobody listens on."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


def program(name: str) -> str:
    """The path of a program, empty where it is not installed."""
    beside = f"{OWN_PEERS / 'bin'}:{os.environ.get('PATH', os.defpath)}:/usr/sbin:/usr/local/sbin"
    return shutil.which(name, path=beside) or ""


def fill(template: str, place: Place, port: int, **more: str) -> Path:
    """A configuration made from a template in `configs`: what stands between @ signs is replaced."""
    text = (HERE / "configs" / template).read_text()
    known = {"RUN": str(place.folder), "PORT": str(port), "SITE": f"127.0.0.1:{place.site}"}
    for mark, value in {**known, "SITE_PORT": str(place.site), "SINK": str(place.sink), **more}.items():
        text = text.replace(f"@{mark}@", value)
    made = place.folder / f"{port}-{template.removesuffix('.in')}"
    made.write_text(text)
    return made


def compiled(name: str, folder: Path) -> str:
    """A program of `native`, compiled into `folder`; `Unfit` without a C compiler."""
    compiler = program("cc")
    if not compiler:
        raise Unfit("no C compiler (cc; Debian package gcc)")
    made = folder / name
    command = [compiler, "-O2", "-pthread", "-o", str(made), str(HERE / "native" / f"{name}.c")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unfit(f"{name}.c does not compile: {done.stderr.strip()[-300:]}")
    return str(made)


@contextlib.contextmanager
def process(
    command: Sequence[str], port: int, cores: Collection[int], log: Path, **environment: str
) -> Iterator[int]:
    """A program pinned to `cores` that listens on `port` while the block runs; its process id. It leads a group of its
    own, and the group is ended with it.
    """
    with log.open("ab") as output:
        started = subprocess.Popen(
            command, stdout=output, stderr=output, stdin=subprocess.DEVNULL, start_new_session=True,
            env={**os.environ, **environment}, preexec_fn=lambda: os.sched_setaffinity(0, cores),
        )  # fmt: skip
    try:
        until = time.monotonic() + 30
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
        with contextlib.suppress(subprocess.TimeoutExpired):
            started.wait(5)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGKILL)
        started.wait()
