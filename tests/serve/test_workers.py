"""Several workers under one parent: one scrape, one reload, one end, and a crash that costs what was in its hands."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from stage.bakery import RULES
from stage.callers import CURL, agent, request
from stage.load import Load
from stage.processes import free_port
from stage.scripted import ScriptedSite, page
from stage.serving import PROGRAM, Saywhy, run, serving, wait_until
from stage.wire import ask

PROBLEM = agent("application/problem+json")
ANSWERS = {"/bread": page("404 Not Found", b"<h1>The oven is cold</h1>")}
TWO = ["--workers", "2"]


@pytest.fixture(scope="module")
def bakery() -> Iterator[ScriptedSite]:
    """The site."""
    with ScriptedSite(ANSWERS) as site:
        yield site


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """The one file of an operator's rules."""
    file = tmp_path / "rules/bakery/rules.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(RULES % "conflict")
    return file


def workers(proxy: Saywhy) -> list[int]:
    """The processes of the workers."""
    number = proxy.process.pid
    return [int(one) for one in Path(f"/proc/{number}/task/{number}/children").read_text().split()]


def codes(proxy: Saywhy, times: int = 10) -> set[str]:
    """What agents are told about the bread, on so many connections: the kernel deals them out among the workers."""
    answers = [ask(proxy.port, request(proxy.port, "/bread", PROBLEM)) for _ in range(times)]
    return {json.loads(answer.content)["error"]["code"] for answer in answers}


def whole_again(proxy: Saywhy) -> bool:
    """Whether two workers serve."""
    return wait_until(lambda: proxy.metric("saywhy_workers") == 2)


SCRAPED = {
    "saywhy_upstream_duration_seconds_count": 40,
    "saywhy_passthrough_total": 40,
    "saywhy_workers": 2,
    "saywhy_upstream_up": 1,
    "saywhy_config_last_reload_successful": 1,
    "saywhy_config_info": 1,
    "saywhy_build_info": 1,
    "saywhy_worker_crashes_total": 0,
}
"""Metric -> the sum of its samples after forty errors that passed."""


def promtool_says(text: str) -> str:
    """What promtool finds in a scrape; nothing where it is not installed."""
    promtool = shutil.which("promtool")
    if promtool is None:
        return ""
    done = subprocess.run(
        [promtool, "check", "metrics"], input=text, capture_output=True, text=True, timeout=30, check=False
    )
    return done.stdout + done.stderr


def crashes(proxy: Saywhy) -> float:
    """How many workers ended unasked."""
    return proxy.metric("saywhy_worker_crashes_total")


def _told(proxy: Saywhy, event: str) -> list[dict[str, Any]]:
    return [line for line in proxy.log() if line.get("event") == event]


def test_the_life_of_a_crew(tmp_path: Path, bakery: ScriptedSite) -> None:
    """One scrape adds up and never goes back; a worker that hangs does not hold it; a crash costs what was in that
    worker's hands; and when the parent is killed, nobody is left.
    """
    with serving(bakery.port, tmp_path, arguments=TWO) as proxy:
        for _ in range(40):
            ask(proxy.port, request(proxy.port, "/bread", CURL))
        assert wait_until(lambda: proxy.metric("saywhy_requests_total") == 40)
        for name, count in SCRAPED.items():
            assert proxy.metric(name) == count, name
        assert wait_until(lambda: proxy.metric("saywhy_inflight_exchanges") == 0)
        assert proxy.metric("saywhy_upstream_connections", state="idle") >= 2, (
            "one worker had all forty callers"
        )
        assert promtool_says(proxy.get("/metrics")[1]) == ""
        first, second = workers(proxy)
        spent = proxy.metric("process_cpu_seconds_total")

        os.kill(second, signal.SIGSTOP)
        began = time.monotonic()
        assert proxy.metric("saywhy_requests_total") == 40
        assert time.monotonic() - began < 5
        os.kill(second, signal.SIGCONT)

        os.kill(first, signal.SIGKILL)
        assert wait_until(lambda: crashes(proxy) == 1)
        assert proxy.metric("saywhy_requests_total") == 40
        assert proxy.metric("process_cpu_seconds_total") >= spent
        assert whole_again(proxy)
        assert second in workers(proxy)
        assert first not in workers(proxy)
        (said,) = [event for event in proxy.log() if event.get("event") == "worker_ended"]
        assert (said["level"], said["process"], said["how"]) == ("error", first, "signal SIGKILL")
        assert "again_in_seconds" not in said, "it is replaced at once"
        assert wait_until(lambda: _told(proxy, "worker_serves"))
        (again,) = _told(proxy, "worker_serves")
        assert (again["worker"], again["process"] in workers(proxy)) == (said["worker"], True)
        os.kill(second, signal.SIGTERM)
        assert wait_until(lambda: _told(proxy, "signal_ignored"))
        (ignored,) = _told(proxy, "signal_ignored")
        assert (ignored["process"], ignored["parent"]) == (second, proxy.process.pid)
        assert ignored["worker"] != said["worker"]

        with Load(proxy.port, request(proxy.port, "/bread", CURL), callers=6) as load:
            assert wait_until(lambda: load.counts["answered"] > 20)
            os.kill(workers(proxy)[0], signal.SIGKILL)
            assert wait_until(lambda: crashes(proxy) == 2 and proxy.metric("saywhy_workers") == 2)
        assert load.counts["refused"] == 0
        assert load.counts["unanswered"] <= 6
        assert proxy.get("/-/ready")[0] == 200

        orphans = workers(proxy)
        proxy.signal(signal.SIGKILL)
        proxy.process.wait(10)
        assert wait_until(lambda: not any(Path(f"/proc/{one}").exists() for one in orphans))
        with socket.create_server(("127.0.0.1", proxy.port)):
            pass


def test_a_reload_is_every_workers_or_nobodys(tmp_path: Path, bakery: ScriptedSite, rules: Path) -> None:
    with serving(bakery.port, tmp_path, rules=[rules.parent.parent], arguments=TWO) as proxy:
        assert codes(proxy) == {"conflict"}
        before = workers(proxy)
        rules.write_text(RULES % "out_of_stock")
        assert proxy.get("/-/reload", method="POST") == (200, "Reloaded.\n")
        assert codes(proxy) == {"out_of_stock"}
        assert workers(proxy) == before, "a reload keeps the processes, and so the connections"
        rules.write_text("pack: [")
        status, said = proxy.get("/-/reload", method="POST")
        assert (status, "rules.yaml" in said) == (500, True)
        assert codes(proxy) == {"out_of_stock"}
        assert proxy.metric("saywhy_config_last_reload_successful") == 0
        # Whoever takes a place while the file is broken serves with the set in force.
        for one in before:
            os.kill(one, signal.SIGKILL)
        assert wait_until(lambda: proxy.metric("saywhy_worker_crashes_total") == 2)
        assert whole_again(proxy)
        assert codes(proxy) == {"out_of_stock"}
        rules.write_text(RULES % "needs_human")
        proxy.signal(signal.SIGHUP)
        assert wait_until(lambda: codes(proxy, 1) == {"needs_human"})
        assert wait_until(lambda: proxy.metric("saywhy_config_last_reload_successful") == 1)
        assert codes(proxy) == {"needs_human"}


def test_a_worker_that_keeps_a_reload_waiting_keeps_no_place_empty(
    tmp_path: Path, bakery: ScriptedSite, rules: Path
) -> None:
    """Whoever takes a place while the others build the new set was forked with the old one, and has to build it too."""
    with serving(bakery.port, tmp_path, rules=[rules.parent.parent], arguments=TWO) as proxy:
        first, second = workers(proxy)
        os.kill(second, signal.SIGSTOP)
        rules.write_text(RULES % "out_of_stock")
        with ThreadPoolExecutor(1) as beside:
            reload = beside.submit(proxy.get, "/-/reload", method="POST")
            time.sleep(1.5)
            os.kill(first, signal.SIGKILL)
            assert wait_until(lambda: set(workers(proxy)) - {first, second} and crashes(proxy) == 1, 8)
            assert not reload.done()
            os.kill(second, signal.SIGCONT)
            assert reload.result() == (200, "Reloaded.\n")
        assert second in workers(proxy)
        assert codes(proxy) == {"out_of_stock"}


def test_workers_that_end_before_they_serve_end_the_parent_with_a_sentence(
    tmp_path: Path, bakery: ScriptedSite
) -> None:
    """Every child exits in the moment it is made, as where memory or processes are short."""
    (tmp_path / "sitecustomize.py").write_text(
        "import os\nos.register_at_fork(after_in_child=lambda: os._exit(3))\n"
    )
    done = run(
        "serve", "--upstream", f"http://127.0.0.1:{bakery.port}", "--listen", "127.0.0.1:0", "--admin", "off", *TWO,
        env={"PYTHONPATH": str(tmp_path)}, seconds=60,
    )  # fmt: skip
    assert done.returncode == 2
    assert "No worker gets as far as serving" in done.stderr
    assert "exit status 3" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("number", [1, 2])
def test_nobody_goes_without_an_answer_when_it_is_told_to_end(
    tmp_path: Path, bakery: ScriptedSite, number: int
) -> None:
    env = {"SAYWHY_DEADLINES__DRAIN_SECONDS": "0.3"}
    with (
        serving(bakery.port, tmp_path, env=env, arguments=["--workers", str(number)]) as proxy,
        Load(proxy.port, request(proxy.port, "/bread", CURL)) as load,
    ):
        assert wait_until(lambda: load.counts["answered"] > 20)
        proxy.signal(signal.SIGTERM)
        assert wait_until(lambda: _gone_or_not_ready(proxy), 2)
        assert proxy.process.wait(30) == 0
    assert set(load.counts) <= {"answered", "refused"}, (load.counts, load.why)


def _gone_or_not_ready(proxy: Saywhy) -> bool:
    with contextlib.suppress(OSError):
        return proxy.get("/-/ready")[0] == 503
    return True


def _changing(rules: Path, words: Sequence[str], times: int, load: Load, proxy: Saywhy) -> None:
    for number in range(times):
        new = rules.with_suffix(".new")
        new.write_text(RULES % words[number % len(words)])
        new.replace(rules)
        proxy.signal(signal.SIGHUP)
        answered = load.counts["answered"]
        assert wait_until(lambda before=answered: load.counts["answered"] > before + 5)  # type: ignore[misc]


def test_hanging_up_under_load_loses_nothing(tmp_path: Path, bakery: ScriptedSite, rules: Path) -> None:
    with serving(bakery.port, tmp_path, rules=[rules.parent.parent], arguments=TWO) as proxy:
        with Load(proxy.port, request(proxy.port, "/bread", PROBLEM)) as load:
            _changing(rules, ("out_of_stock", "conflict"), 5, load, proxy)
        assert set(load.counts) == {"answered"}, (load.counts, load.why)
        assert wait_until(lambda: codes(proxy) == {"out_of_stock"})
        assert proxy.metric("saywhy_config_last_reload_successful") == 1
        assert proxy.metric("saywhy_worker_crashes_total") == 0


def test_every_kind_of_address_on_both_sides(tmp_path: Path, bakery: ScriptedSite) -> None:
    """IPv4, IPv6 and Unix sockets: for callers, for sites and for operators."""
    path, port, admin = tmp_path / "shop.sock", free_port(), tmp_path / "admin.sock"
    inner = tmp_path / "site.sock"
    file = tmp_path / "saywhy.yaml"
    with socket.socket(socket.AF_UNIX) as local, socket.socket(socket.AF_INET6) as six:
        local.bind(str(inner))
        six.bind(("::1", 0))
        file.write_text(f"""
upstreams:
  default: http://127.0.0.1:{bakery.port}
  six: http://[::1]:{six.getsockname()[1]}
  local: unix:{inner}
routes:
- {{path: "/six*", upstream: six}}
- {{path: "/local*", upstream: local}}
- {{upstream: default}}
workers: 2
listen: [":{port}", "unix:{path}"]
admin: unix:{admin}
deadlines: {{drain_seconds: 0}}
""")
        places: list[tuple[int, str | tuple[str, int]]] = [
            (socket.AF_UNIX, str(path)), (socket.AF_INET, ("127.0.0.1", port)), (socket.AF_INET6, ("::1", port)),
        ]  # fmt: skip
        with (
            ScriptedSite({"/six": page("200 OK", b"over IPv6")}, six) as _,
            ScriptedSite({"/local": page("200 OK", b"over a Unix socket")}, local) as _,
            subprocess.Popen(
                [PROGRAM, "serve", "--config", file], stderr=subprocess.PIPE, text=True
            ) as process,
        ):
            try:
                assert process.stderr is not None
                assert "with 2 workers" in process.stderr.readline()
                for family, place in places:
                    for target, content in (("/bread", b"cold"), ("/six", b"IPv6"), ("/local", b"Unix")):
                        assert content in ask_at(family, place, target), (place, target)
            finally:
                process.send_signal(signal.SIGTERM)
                assert process.wait(20) == 0
    assert not path.exists()
    assert not admin.exists()


def ask_at(family: int, place: str | tuple[str, int], target: str) -> bytes:
    """One request, wherever the proxy listens."""
    with socket.socket(family) as sock:
        sock.settimeout(5)
        sock.connect(place)
        sock.sendall(f"GET {target} HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n\r\n".encode())
        return b"".join(iter(lambda: sock.recv(65536), b""))
