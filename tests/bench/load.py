"""Asking: as fast as it goes (wrk where it is installed, else a loop of our own), or at a fixed rate."""

from __future__ import annotations

import re
import selectors
import socket
import statistics
import subprocess
import time
from typing import Any, NamedTuple

import peers

UNITS = {"us": 0.001, "ms": 1.0, "s": 1000.0, "m": 60000.0}


class Scenario(NamedTuple):
    """A path, on how many kept connections, with which field beside the usual ones."""

    path: str
    connections: int
    field: str = "Accept: */*"


def generator() -> str:
    """What asks, for the table."""
    return (
        "wrk"
        if peers.program("wrk")
        else "a Python loop (wrk is not installed: requests a second are a floor)"
    )


def at_full(port: int, scenario: Scenario, seconds: int, core: int) -> dict[str, Any]:
    """Keep every connection busy. Gives requests, rps, p50 and p99 in milliseconds, errors of the transport."""
    if not peers.program("wrk"):
        return _loop(port, scenario, seconds, rate=None)
    url = f"http://127.0.0.1:{port}{scenario.path}"
    command = [
        "taskset",
        "-c",
        str(core),
        peers.program("wrk"),
        "-t1",
        f"-c{scenario.connections}",
        f"-d{seconds}s",
    ]
    command += ["--latency", "--timeout", "10s", "-H", scenario.field, url]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def number(expression: str) -> float:
        found = re.search(expression, text)
        return float(found[1]) if found else 0.0

    def latency(percent: int) -> float | None:
        found = re.search(rf"\s{percent}%\s+([\d.]+)(us|ms|s|m)", text)
        return float(found[1]) * UNITS[found[2]] if found else None

    broken = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", text)
    return {
        "requests": int(number(r"(\d+) requests in")), "rps": number(r"Requests/sec:\s+([\d.]+)"),
        "p50": latency(50), "p99": latency(99), "errors": sum(map(int, broken.groups())) if broken else 0,
    }  # fmt: skip


def at_rate(port: int, scenario: Scenario, rate: float, seconds: int) -> dict[str, Any]:
    """Ask `rate` times a second, whatever the answers do. Latency counts from when a request was due, so that a
    stalled proxy cannot hide behind requests that were never sent (coordinated omission).
    """
    return _loop(port, scenario, seconds, rate=rate)


class _Connection:
    """One kept connection and how much of the present answer is still to come."""

    def __init__(self, port: int) -> None:
        self.sock = socket.create_connection(("127.0.0.1", port), 10)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.head = b""
        self.left = -1  # of the body; -1: the head is not whole yet
        self.due = 0.0

    def take(self, piece: bytes) -> bool:
        """Whether `piece` ends the answer. Answers have a length or are small and chunked."""
        if self.left >= 0:
            self.left -= len(piece)
            return self.left <= 0
        self.head += piece
        head, blank, body = self.head.partition(b"\r\n\r\n")
        if not blank:
            return False
        lower = head.lower()
        at = lower.find(b"\r\ncontent-length:")
        if at < 0:
            return body.endswith(b"0\r\n\r\n")
        self.left = int(head[at + 17 :].partition(b"\r\n")[0]) - len(body)
        return self.left <= 0

    def reset(self) -> None:
        """Ready for the next request."""
        self.head, self.left = b"", -1


def _loop(port: int, scenario: Scenario, seconds: int, *, rate: float | None) -> dict[str, Any]:
    request = f"GET {scenario.path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{scenario.field}\r\n\r\n".encode()
    idle = [_Connection(port) for _ in range(scenario.connections)]
    selector = selectors.DefaultSelector()
    for one in idle:
        selector.register(one.sock, selectors.EVENT_READ, one)
    taken: list[float] = []
    errors = issued = 0
    start = time.perf_counter()
    end = start + seconds
    while (now := time.perf_counter()) < end + 5:
        while idle and now < end and (rate is None or start + issued / rate <= now):
            connection = idle.pop()
            connection.due = start + issued / rate if rate else now
            connection.sock.sendall(request)
            issued += 1
        if now >= end and len(idle) == scenario.connections - errors:
            break
        pause = max(0.0, start + issued / rate - now) if rate and idle else 0.05
        for key, _ in selector.select(min(pause, 0.05)):
            connection = key.data
            piece = connection.sock.recv(262144)
            if not piece:
                selector.unregister(connection.sock)
                errors += 1
            elif connection.take(piece):
                taken.append((time.perf_counter() - connection.due) * 1000)
                connection.reset()
                idle.append(connection)
    for key in list(selector.get_map().values()):
        key.data.sock.close()
    cuts = statistics.quantiles(taken, n=100) if len(taken) > 1 else [0.0] * 99
    return {
        "requests": len(taken),
        "rps": len(taken) / seconds,
        "p50": cuts[49],
        "p99": cuts[98],
        "errors": errors,
    }
