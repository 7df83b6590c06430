"""Many callers at once, and one beside them who measures what they cost everybody else. The fault site runs in a process
of its own, so that what is measured is the proxy.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from stage.processes import end
from stage.serving import PROGRAM, Saywhy

HARNESS = Path(__file__).resolve().parent
LIMIT = 256 << 20
AGENT = "Accept: application/json"


@contextlib.contextmanager
def fault_site() -> Iterator[int]:
    """The port of a fault site in a process of its own."""
    process = subprocess.Popen(
        [sys.executable, HARNESS / "faultsite.py"],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(HARNESS)},
        text=True,
    )
    try:
        assert process.stdout is not None
        yield int(process.stdout.readline())
    finally:
        process.kill()
        process.communicate()


@contextlib.contextmanager
def limited(
    upstream: int, folder: Path, *, calm: int = 0, env: dict[str, str] | None = None
) -> Iterator[Saywhy]:
    """A proxy that was started under `ulimit -v` of 256 MB: the whole of its addresses, which is more than it uses.
    `calm` is the port of a second site, for what a bystander asks.
    """
    shell = ["sh", "-c", f'ulimit -v {LIMIT >> 10}; exec "$0" "$@"', str(PROGRAM), "serve"]
    flags = ["--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"]
    if calm:
        settings = folder / "saywhy.yaml"
        settings.write_text(
            f"upstreams: {{calm: 'http://127.0.0.1:{calm}', default: 'http://127.0.0.1:{upstream}'}}\n"
            "routes: [{path: '/good*', upstream: calm}, {upstream: default}]\n"
        )
        flags += ["--config", str(settings)]
    else:
        flags += ["--upstream", f"http://127.0.0.1:{upstream}"]
    proxy = Saywhy([*shell, *flags], folder, {"SAYWHY_DEADLINES__DRAIN_SECONDS": "0", **(env or {})})
    try:
        proxy.wait_ready()
        yield proxy
    finally:
        end(proxy.process, seconds=40)
    assert "Traceback" not in proxy.output(), proxy.output()[-4000:]
    assert "MemoryError" not in proxy.output()


async def ask_all(
    port: int, targets: Sequence[str], *lines: str, seconds: float = 60, most: int = 1 << 20
) -> Counter[int]:
    """One request for each target, all at once; how many got which status. 0: none within `seconds`."""

    async def one(target: str) -> int:
        writer = None
        try:
            async with asyncio.timeout(seconds):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                asked = [f"GET {target} HTTP/1.1", "Host: t.example", *lines, "Connection: close", "", ""]
                writer.write("\r\n".join(asked).encode())
                head = await reader.readuntil(b"\r\n\r\n")
                left = most
                while left > 0 and (piece := await reader.read(65536)):
                    left -= len(piece)
                return int(head[9:12])
        except (TimeoutError, OSError, asyncio.IncompleteReadError):
            return 0
        finally:
            if writer is not None:
                writer.transport.abort()

    return Counter(await asyncio.gather(*(one(target) for target in targets)))


class Bystander(threading.Thread):
    """Asks for a small page and for an agent's small error, in turn, on one kept connection; `took` in seconds each."""

    def __init__(self, port: int, *, every: float = 0.02) -> None:
        super().__init__(daemon=True)
        self._port, self._every = port, every
        self._over = threading.Event()
        self.took: list[float] = []
        self.statuses: Counter[int] = Counter()

    def __enter__(self) -> Bystander:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self.join(30)

    def percentile(self, percent: float) -> float:
        """Seconds."""
        took = sorted(self.took)
        return took[min(len(took) - 1, int(len(took) * percent / 100))]

    def run(self) -> None:
        with socket.create_connection(("127.0.0.1", self._port), timeout=30) as sock:
            number = 0
            while not self._over.wait(self._every):
                number += 1
                path, line = (
                    ("/good?bytes=200", "Accept: text/html") if number % 2 else ("/good?status=404", AGENT)
                )
                start = time.perf_counter()
                sock.sendall(f"GET {path} HTTP/1.1\r\nHost: t.example\r\n{line}\r\n\r\n".encode())
                data = b""
                while b"\r\n\r\n" not in data:
                    data += self._more(sock)
                head, _, body = data.partition(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
                while len(body) < length:
                    body += self._more(sock)
                self.took.append(time.perf_counter() - start)
                self.statuses[int(head[9:12])] += 1

    def _more(self, sock: socket.socket) -> bytes:
        piece = sock.recv(65536)
        assert piece, "the bystander was cut off"
        return piece


class Watch(threading.Thread):
    """The highest resident size, and the most that was mapped, while something goes on; bytes."""

    def __init__(self, proxy: Saywhy) -> None:
        super().__init__(daemon=True)
        self._proxy = proxy
        self._over = threading.Event()
        self.resident = 0

    def __enter__(self) -> Watch:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self.join()

    def run(self) -> None:
        while not self._over.wait(0.02):
            with contextlib.suppress(OSError):
                self.resident = max(self.resident, self._proxy.memory())

    def mapped(self) -> int:
        """The most addresses that it ever had."""
        status = Path(f"/proc/{self._proxy.process.pid}/status").read_text()
        return int(status.partition("VmPeak:")[2].split()[0]) << 10
