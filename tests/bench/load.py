"""Asking: as fast as it goes (wrk), or at a fixed rate (native/paced.c)."""

from __future__ import annotations

import json
import re
import subprocess
import urllib.error
import urllib.request
from typing import Any

from tests.bench.place import program
from tests.bench.scenarios import Scenario

MILLISECONDS = {"us": 0.001, "ms": 1.0, "s": 1000.0, "m": 60000.0}
BYTES = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}


def at_full(port: int, scenario: Scenario, seconds: float) -> dict[str, Any]:
    """Keep every connection busy. Gives requests, rps, p50 and p99 in milliseconds, answers that are no success, and
    errors of the transport.
    """
    asked = [
        "-t1",
        f"-c{scenario.connections}",
        f"-d{max(1, round(seconds))}s",
        "--latency",
        "--timeout",
        "10s",
    ]
    url = f"http://127.0.0.1:{port}{scenario.path}"
    command = [program("wrk"), *asked, "-H", scenario.field, url]
    return told(
        subprocess.run(command, capture_output=True, text=True, check=True).stdout, scenario.body_bytes
    )


def told(text: str, body_bytes: int) -> dict[str, Any]:
    """What wrk printed, as numbers."""

    def number(expression: str) -> float:
        found = re.search(expression, text)
        return float(found[1]) if found else 0.0

    def latency(percent: int) -> float | None:
        found = re.search(rf"\s{percent}%\s+([\d.]+)(us|ms|s|m)\b", text)
        return float(found[1]) * MILLISECONDS[found[2]] if found else None

    ended = re.search(r"(\d+) requests in ([\d.]+)(ms|s|m), ([\d.]+)([KMGT]?B) read", text)
    if not ended:
        return {"requests": 0, "rps": 0.0, "p50": None, "p99": None, "not_2xx": 0, "errors": 1}
    took = float(ended[2]) * MILLISECONDS[ended[3]] / 1000
    requests = float(ended[4]) * BYTES[ended[5]] / body_bytes if body_bytes else float(ended[1])
    broken = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", text)
    return {
        "requests": requests, "rps": requests / took, "p50": latency(50), "p99": latency(99),
        "not_2xx": int(number(r"Non-2xx or 3xx responses: (\d+)")),
        "errors": sum(map(int, broken.groups())) if broken else 0,
    }  # fmt: skip


def at_rate(paced: str, port: int, scenario: Scenario, rate: float, seconds: float) -> dict[str, Any]:
    """Ask `rate` times a second, whatever the answers do: requests, rps, errors, and p50 to p999 in milliseconds."""
    numbers = [f"{rate:.1f}", str(scenario.connections), str(seconds)]
    command = [paced, str(port), scenario.path, *numbers, scenario.field]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    measured: dict[str, Any] = json.loads(done.stdout)
    return measured


def one(port: int, path: str, accept: str) -> None:
    """One request on a connection of its own, whatever the answer."""
    asked = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers={"Accept": accept})
    try:
        with urllib.request.urlopen(asked, timeout=20) as answer:
            answer.read()
    except urllib.error.HTTPError as error:
        error.close()
