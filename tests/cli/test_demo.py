"""`saywhy demo`: every stop shows what it promises, in real requests, and the end is a clean one."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from saywhy.demo.pages import PLANTED
from saywhy.demo.stops import STOPS, Stop


def demo(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "saywhy.cli", "demo", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture(scope="module")
def lines() -> list[dict[str, Any]]:
    done = demo("--port", "0", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def tour() -> str:
    done = demo("--port", "0", "--once")
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize(("number", "stop"), list(enumerate(STOPS)), ids=[stop.title for stop in STOPS])
def test_every_stop_shows_what_it_promises(lines: list[dict[str, Any]], number: int, stop: Stop) -> None:
    line = lines[number]
    assert line["title"] == stop.title
    assert (line["after"]["status"], line["after"]["code"] or "") == (stop.status, stop.code)
    assert line["browser_untouched"]
    assert line["as_promised"]
    if stop.action == "rewrite" and stop.accept.endswith("json"):
        assert line["envelope"]["error"]["code"] == stop.code
        assert line["envelope"]["error"]["message"]
    if stop.action in ("annotate", "redact", "pass"):
        assert line["after"]["bytes"] == line["before"]["bytes"]


def test_what_the_tour_is_proud_of(lines: list[dict[str, Any]]) -> None:
    by_path = {line["path"]: line for line in lines}
    assert by_path["/checkout"]["envelope"]["error"]["field"] == "email"
    assert by_path["/search?q=rake"]["envelope"]["error"]["retry_after"] == 30
    assert by_path["/warehouse/pick"]["envelope"]["error"]["source"] == "proxy"
    assert by_path["/warehouse/pick"]["before"] is None


def test_the_tour_is_plain_where_nobody_watches(tour: str) -> None:
    assert "\x1b" not in tour
    assert not any(character in tour for character in "╭│╰")
    assert "15 stops. At 14 of them something goes wrong, at the last nothing does." in tour
    assert f"--- {len(STOPS)}/15  A healthy page" in tour
    for stop in STOPS:
        assert stop.title in tour
        assert stop.moral in tour
    assert f"{len(STOPS)} of {len(STOPS)} times a browser got what the site sent, byte for byte" in tour
    assert (
        f"{len(PLANTED)} of {len(PLANTED)} planted secrets stood in the shop's pages, 0 in what agents got"
        in tour
    )
    assert "!" not in [line[:1] for line in tour.splitlines()]


def test_events_come_one_by_one(tour: str) -> None:
    seconds = [float(found) for found in re.findall(r"after +([\d.]+) s  \d kettles", tour)]
    assert len(seconds) == 3
    assert seconds[2] - seconds[0] > 0.25


def test_a_port_that_is_taken_is_no_obstacle() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = demo("--port", str(port), "--once")
    assert done.returncode == 0
    assert f"port {port} is taken, so the proxy listens on " in done.stdout


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], Path, int]]:
    """The demo after its tour: the process, what it printed, the proxy's port."""
    log = tmp_path / "demo.log"
    command = [sys.executable, "-u", "-m", "saywhy.cli", "demo", "--port", "0"]
    with log.open("w") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
    deadline = time.monotonic() + 60
    while not (found := re.search(r"Still serving on http://127\.0\.0\.1:(\d+)", log.read_text())):
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    yield process, log, int(found[1])
    if process.poll() is None:
        process.kill()
        process.wait()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_goes_on_serving_until_it_is_told_to_stop(
    serving: tuple[subprocess.Popen[bytes], Path, int], number: signal.Signals
) -> None:
    process, log, port = serving
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", "/prices", headers={"Accept": "application/json"})
    answer = connection.getresponse()
    assert answer.status == 403
    assert json.loads(answer.read())["error"]["code"] == "needs_human"
    connection.close()
    process.send_signal(number)
    assert process.wait(15) == 0
    printed = log.read_text()
    assert "GET /prices  403 -> 403  rewrite: needs_human by captcha/" in printed
    assert printed.rstrip().endswith("The shop is closed.")
    assert "Traceback" not in printed.partition("Still serving")[2]


def test_a_stop_that_does_not_show_what_it_promises_is_told_and_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from saywhy.cli import run
    from saywhy.demo import tour as telling

    monkeypatch.setattr(telling, "STOPS", (STOPS[0], STOPS[1]._replace(code="not_found")))
    assert run(["demo", "--port", "0", "--once"]) == 1
    printed = capsys.readouterr().out
    assert "! expected 409 not_found, got 409 out_of_stock" in printed
    assert printed.count("! expected") == 1
