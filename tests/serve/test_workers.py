"""Several workers under one parent: one scrape, one reload, one end, and a crash that costs what was in its hands."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from stage.callers import CURL, agent, request
from stage.load import Load
from stage.processes import free_port
from stage.scripted import ScriptedSite, page
from stage.serving import PROGRAM, Saywhy, environment, run, serving, wait_until
from stage.wire import ask

PROBLEM = agent("application/problem+json")
RULES = """
pack: bakery
about: What this bakery says.
rules:
  - id: cold-oven
    about: The oven is cold.
    when: {status: [404], contains: [oven is cold]}
    then: {code: %s, message: The bakery is closed today.}
"""
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


def codes(proxy: Saywhy, times: int = 20) -> set[str]:
    """What agents are told about the bread, on so many connections: the kernel deals them out among the workers."""
    answers = [ask(proxy.port, request(proxy.port, "/bread", PROBLEM)) for _ in range(times)]
    return {json.loads(answer.content)["error"]["code"] for answer in answers}


def whole_again(proxy: Saywhy) -> bool:
    """Whether two workers serve."""
    return wait_until(lambda: proxy.metric("saywhy_workers") == 2)


def test_one_scrape_adds_up_and_never_goes_back(tmp_path: Path, bakery: ScriptedSite) -> None:
    with serving(bakery.port, tmp_path, arguments=TWO) as proxy:
        for _ in range(40):
            ask(proxy.port, request(proxy.port, "/bread", CURL))
        assert wait_until(lambda: proxy.metric("saywhy_requests_total") == 40)
        assert proxy.metric("saywhy_upstream_duration_seconds_count") == 40
        assert proxy.metric("saywhy_passthrough_total", reason="not_agent") == 40
        assert proxy.metric("saywhy_workers") == 2
        assert proxy.metric("saywhy_config_last_reload_successful") == 1
        assert proxy.metric("saywhy_build_info") == 1
        assert wait_until(lambda: proxy.metric("saywhy_inflight_exchanges") == 0)
        idle = proxy.metric("saywhy_upstream_connections", state="idle")
        assert idle >= 2, "forty callers, and one worker had them all"
        spent = proxy.metric("process_cpu_seconds_total")
        first, second = workers(proxy)
        os.kill(first, signal.SIGKILL)
        assert wait_until(lambda: proxy.metric("saywhy_worker_crashes_total") == 1)
        assert proxy.metric("saywhy_requests_total") == 40
        assert proxy.metric("process_cpu_seconds_total") >= spent
        assert whole_again(proxy)
        assert second in workers(proxy)
        assert first not in workers(proxy)
        said = [event for event in proxy.log() if event.get("event", "").startswith("a worker ended")]
        assert [(event["level"], event["process"], event["how"]) for event in said] == [
            ("error", first, "signal SIGKILL")
        ]


def test_a_worker_that_hangs_does_not_hold_a_scrape(tmp_path: Path, bakery: ScriptedSite) -> None:
    with serving(bakery.port, tmp_path, arguments=TWO) as proxy:
        for _ in range(20):
            ask(proxy.port, request(proxy.port, "/bread", CURL))
        assert wait_until(lambda: proxy.metric("saywhy_requests_total") == 20)
        stuck = workers(proxy)[0]
        os.kill(stuck, signal.SIGSTOP)
        try:
            began = time.monotonic()
            assert proxy.metric("saywhy_requests_total") == 20
            assert time.monotonic() - began < 5
            assert proxy.get("/-/healthy")[0] == 200
        finally:
            os.kill(stuck, signal.SIGCONT)


def test_a_crash_costs_what_was_in_its_hands_and_nothing_else(tmp_path: Path, bakery: ScriptedSite) -> None:
    with serving(bakery.port, tmp_path, arguments=TWO) as proxy:
        with Load(proxy.port, request(proxy.port, "/bread", CURL), callers=6) as load:
            for killed in range(3):
                assert whole_again(proxy)
                os.kill(workers(proxy)[0], signal.SIGKILL)
                assert wait_until(lambda at=killed: proxy.metric("saywhy_worker_crashes_total") == at + 1)  # type: ignore[misc]
            assert whole_again(proxy)
        assert load.counts["refused"] == 0
        assert load.counts["unanswered"] <= 3 * 6
        assert load.counts["answered"] > 50
        assert proxy.get("/-/ready")[0] == 200


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


def test_promtool_finds_nothing_to_say_about_the_sum(tmp_path: Path, bakery: ScriptedSite) -> None:
    with serving(bakery.port, tmp_path, arguments=TWO) as proxy:
        ask(proxy.port, request(proxy.port, "/bread", PROBLEM))
        text = proxy.get("/metrics")[1]
    assert "saywhy_errors_total{" in text
    try:
        done = subprocess.run(
            ["promtool", "check", "metrics"],
            input=text,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    except FileNotFoundError:
        pytest.skip("no promtool on this machine (Debian package prometheus)")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_workers_whose_parent_was_killed_go_and_free_the_port(tmp_path: Path, bakery: ScriptedSite) -> None:
    with serving(bakery.port, tmp_path, arguments=TWO) as proxy:
        orphans = workers(proxy)
        proxy.signal(signal.SIGKILL)
        proxy.process.wait(10)
        assert wait_until(lambda: not any(Path(f"/proc/{one}").exists() for one in orphans))
        with socket.create_server(("127.0.0.1", proxy.port)):
            pass


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


def test_a_second_parent_does_not_join_the_first_ones_port(tmp_path: Path, bakery: ScriptedSite) -> None:
    with serving(bakery.port, tmp_path, arguments=TWO) as proxy:
        done = run("serve", "--upstream", f"http://127.0.0.1:{bakery.port}", "--admin", "off",
                   "--listen", f"127.0.0.1:{proxy.port}", *TWO)  # fmt: skip
    assert done.returncode == 2
    assert f"Cannot listen on 127.0.0.1:{proxy.port} (listen): it is in use" in done.stderr


def test_unix_sockets_and_every_address_have_workers_too(tmp_path: Path, bakery: ScriptedSite) -> None:
    path, port, admin = tmp_path / "shop.sock", free_port(), tmp_path / "admin.sock"
    command = [PROGRAM, "serve", "--upstream", f"http://127.0.0.1:{bakery.port}", *TWO,
               "--listen", f"unix:{path},:{port}", "--admin", f"unix:{admin}"]  # fmt: skip
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        env=environment({"SAYWHY_DEADLINES__DRAIN_SECONDS": "0"}),
    )  # fmt: skip
    with process:
        try:
            assert process.stderr is not None
            assert "with 2 workers" in process.stderr.readline()
            places: list[tuple[int, str | tuple[str, int]]] = [
                (socket.AF_UNIX, str(path)), (socket.AF_INET, ("127.0.0.1", port)), (socket.AF_INET6, ("::1", port)),
            ]  # fmt: skip
            for family, place in places:
                for _ in range(4):
                    with socket.socket(family) as sock:
                        sock.settimeout(5)
                        sock.connect(place)
                        sock.sendall(b"GET /bread HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n\r\n")
                        answer = b"".join(iter(lambda: sock.recv(65536), b""))
                        assert b"The oven is cold" in answer
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(20) == 0
    assert not path.exists()
    assert not admin.exists()


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("attempt", range(2))
def test_nobody_goes_without_an_answer_when_it_is_told_to_end(
    tmp_path: Path, bakery: ScriptedSite, number: int, attempt: int
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
