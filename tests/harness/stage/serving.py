"""`saywhy serve` as a process: started, waited for, looked into, ended."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from prometheus_client.parser import text_string_to_metric_families

from stage.processes import NotUp, end

PROGRAM = Path(sys.executable).with_name("saywhy")


def environment(more: Mapping[str, str] | None) -> dict[str, str]:
    """This process's environment and `more`. Compiled modules are kept: tests start saywhy dozens of times."""
    return {**os.environ, "PYTHONDONTWRITEBYTECODE": "", **(more or {})}


class Saywhy:
    """A running proxy. `port` and `admin` are ports of loopback, which it chose itself and told; `out` holds its access
    log, `err` what the process says about itself.
    """

    port: int
    admin: int

    def __init__(self, command: Sequence[str], folder: Path, env: Mapping[str, str]) -> None:
        self.out, self.err = folder / "saywhy.out", folder / "saywhy.err"
        with self.out.open("wb") as out, self.err.open("wb") as err:
            self.process = subprocess.Popen(
                command,
                stdout=out,
                stderr=err,
                stdin=subprocess.DEVNULL,
                env=environment(env),
                start_new_session=True,
            )

    def output(self) -> str:
        """All that it wrote, on either output."""
        return self.out.read_text(errors="replace") + self.err.read_text(errors="replace")

    def log(self) -> list[dict[str, Any]]:
        """Its log, one value a line; a line that is no JSON object fails the test that asks."""
        lines = [json.loads(line) for line in self.output().splitlines() if line.strip()]
        assert all(isinstance(line, dict) for line in lines)
        return lines

    def exchanges(self, *, at_least: int = 0, seconds: float = 5) -> list[dict[str, Any]]:
        """The log's lines about exchanges, once there are `at_least` so many (the log is written in batches)."""
        until = time.monotonic() + seconds
        while True:
            found = [line for line in self.log() if "method" in line and "path" in line]
            if len(found) >= at_least or time.monotonic() > until:
                return found
            time.sleep(0.05)

    def get(self, path: str, *, method: str = "GET") -> tuple[int, str]:
        """Status and text of a page of the admin port."""
        asked = urllib.request.Request(f"http://127.0.0.1:{self.admin}{path}", method=method)
        try:
            with urllib.request.urlopen(asked, timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def metric(self, name: str, **labels: str) -> float:
        """The sum of the samples of `name` that carry `labels`."""
        return total(self.get("/metrics")[1], name, **labels)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the process itself."""
        self.process.send_signal(number)

    def memory(self) -> int:
        """Resident bytes."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def _greeting(self) -> dict[str, Any]:
        """The event that tells where it listens; empty before it is written."""
        whole = [
            line
            for line in self.err.read_text(errors="replace").splitlines(keepends=True)
            if line.endswith("\n")
        ]
        events = [json.loads(line) for line in whole if line.startswith("{")]
        return next((event for event in events if "listen" in event), {})

    def wait_ready(self, seconds: float = 20) -> None:
        """Until it has told its ports and /-/ready says so; `NotUp` with its own words where it never does."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and self.process.poll() is None:
            if greeting := self._greeting():
                self.port, self.admin = (
                    urlsplit(greeting["listen"][0]).port or 0,
                    urlsplit(greeting["admin"]).port or 0,
                )
                if self.get("/-/ready")[0] == 200:
                    return
            time.sleep(0.02)
        raise NotUp(f"saywhy did not get ready (exit status {self.process.poll()}): {self.output()[-2000:]}")


def total(exposition: str, name: str, **labels: str) -> float:
    """The sum of the samples of `name` with `labels` in a metrics page."""
    samples = (sample for family in text_string_to_metric_families(exposition) for sample in family.samples)
    return sum(one.value for one in samples if one.name == name and labels.items() <= one.labels.items())


def wait_until(condition: Any, seconds: float = 10) -> bool:
    """Whether `condition()` became true within `seconds`."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.05)
    return bool(condition())


def run(
    *arguments: str | Path, seconds: float = 30, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """One command of saywhy that ends by itself."""
    command = [str(PROGRAM), *(str(one) for one in arguments)]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=seconds,
        env=environment(env),
        check=False,
    )


@contextlib.contextmanager
def serving(
    upstream: int | str,
    folder: Path,
    *,
    rules: Sequence[Path] = (),
    config: Path | None = None,
    env: Mapping[str, str] | None = None,
    arguments: Sequence[str] = (),
    under: Sequence[str] = (),
) -> Iterator[Saywhy]:
    """A ready proxy before `upstream` (a port of loopback, or a URL) while the block runs.

    `folder` is for its outputs; `under` is a command that starts another (with limits). It does not wait for balancers when it goes, unless `env` says so. It is ended in every case, and a trace in its log fails the test: whatever came in,
    none of it is worth a traceback.
    """
    url = upstream if isinstance(upstream, str) else f"http://127.0.0.1:{upstream}"
    command = [
        *under,
        str(PROGRAM),
        "serve",
        "--upstream",
        url,
        "--listen",
        "127.0.0.1:0",
        "--admin",
        "127.0.0.1:0",
    ]
    for one in rules:
        command += ["--rules", str(one)]
    if config:
        command += ["--config", str(config)]
    proxy = Saywhy([*command, *arguments], folder, {"SAYWHY_DEADLINES__DRAIN_SECONDS": "0", **(env or {})})
    try:
        proxy.wait_ready()
        yield proxy
    finally:
        end(proxy.process, seconds=40)
    assert "Traceback" not in proxy.output(), proxy.output()[-4000:]
