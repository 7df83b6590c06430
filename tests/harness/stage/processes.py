"""Programs started by tests: each in a session of its own, its output in a file, and ended whatever happens."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path


class NotUp(Exception):
    """A program did not get as far as listening; the message holds what it had to say."""


def free_port() -> int:
    """A port of loopback that nobody listens on."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


def end(process: subprocess.Popen[bytes], *, seconds: float = 10) -> int:
    """SIGTERM to the process group, SIGKILL to what is left; the exit status."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.wait()


def wait_for_port(port: int, process: subprocess.Popen[bytes], log: Path, *, seconds: float = 20) -> None:
    """Until somebody listens on `port`; `NotUp` when the process ends before, or after `seconds`."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if process.poll() is not None:
            break
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.02)
    raise NotUp(f"nobody listens on {port}: {log.read_text(errors='replace')[-2000:]}")


@contextlib.contextmanager
def running(
    command: Sequence[str | Path],
    port: int,
    log: Path,
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """A program that listens on `port` while the block runs; its output goes to `log`."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(one) for one in command],
            stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
            env={**os.environ, **(env or {})}, cwd=cwd, start_new_session=True,
        )  # fmt: skip
    try:
        wait_for_port(port, process, log)
        yield process
    finally:
        end(process)
