"""The process from outside: reloads without being asked, Unix sockets, healthcheck, the two ways to end."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from stage.bakery import RULES
from stage.callers import CURL, agent, request
from stage.processes import free_port
from stage.scripted import Answer, ScriptedSite, page
from stage.serving import PROGRAM, Saywhy, environment, run, serving, wait_until
from stage.wire import ask

from saywhy.serve.sockets import UnixSockets

PROBLEM = agent("application/problem+json")
ANSWERS = {
    "/bread": page("404 Not Found", b"<h1>The oven is cold</h1>"),
    "/stuck": Answer((b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", b"never"), wait=60),
}


@pytest.fixture(scope="module")
def bakery() -> Iterator[ScriptedSite]:
    """The site."""
    with ScriptedSite(ANSWERS) as site:
        yield site


def code(proxy: Saywhy) -> Any:
    """What an agent is told about the bread."""
    return json.loads(ask(proxy.port, request(proxy.port, "/bread", PROBLEM)).content)["error"]["code"]


def events(proxy: Saywhy) -> list[dict[str, Any]]:
    """What the process said about itself."""
    return [line for line in proxy.log() if "event" in line]


def test_changed_content_is_noticed_and_a_broken_file_is_said_once(
    tmp_path: Path, bakery: ScriptedSite
) -> None:
    pack = tmp_path / "rules/bakery"
    pack.mkdir(parents=True)
    (pack / "rules.yaml").write_text(RULES % "conflict")
    with serving(bakery.port, tmp_path, rules=[tmp_path / "rules"]) as proxy:
        assert code(proxy) == "conflict"
        first = proxy.get("/metrics")[1].split("saywhy_config_info{hash=")[1][:20]
        (pack / "rules.yaml").write_text(RULES % "needs_human")
        assert wait_until(lambda: code(proxy) == "needs_human")
        assert proxy.get("/metrics")[1].split("saywhy_config_info{hash=")[1][:20] != first
        (pack / "rules.yaml").write_text("pack: [")
        assert wait_until(lambda: proxy.metric("saywhy_config_last_reload_successful") == 0)
        time.sleep(2.5)  # one more look at the same broken file
        assert code(proxy) == "needs_human"
        refused = [event for event in events(proxy) if event["event"] == "reload_refused"]
        assert len(refused) == 1
        assert refused[0]["level"] == "error"
        assert f"{pack}/rules.yaml" in refused[0]["problems"][0]


def test_a_reload_moves_to_another_site_and_says_what_needs_a_restart(
    tmp_path: Path, bakery: ScriptedSite
) -> None:
    file = tmp_path / "saywhy.yaml"
    text = "upstreams: {{default: 'http://127.0.0.1:{}'}}\nlisten: 127.0.0.1:{}\nadmin: 127.0.0.1:0\n"
    file.write_text(text.format(bakery.port, 0))
    with ScriptedSite({"/bread": page("410 Gone", b"moved out")}) as other:
        proxy = Saywhy([str(PROGRAM), "serve", "--config", str(file)], tmp_path, {})
        try:
            proxy.wait_ready()
            assert ask(proxy.port, request(proxy.port, "/bread", CURL)).status == 404
            file.write_text(text.format(other.port, 8080))
            waits = "Reloaded. A restart is needed before listen takes effect.\n"
            assert proxy.get("/-/reload", method="POST") == (200, waits)
            assert ask(proxy.port, request(proxy.port, "/bread", CURL)).status == 410

            def said() -> list[list[str]]:
                return [event["settings"] for event in events(proxy) if event["event"] == "restart_needed"]

            # The look at the files may come between, and say it too.
            assert wait_until(lambda: [*said()[:1]] == [["listen"]])
            # Compared with what runs, not with the last file: what waits goes on waiting, and what is taken back does not.
            assert proxy.get("/-/reload", method="POST") == (200, waits)
            file.write_text(text.format(other.port, 0))
            assert proxy.get("/-/reload", method="POST") == (200, "Reloaded.\n")

            def changes() -> list[list[str]]:
                return [event["changed"] for event in events(proxy) if event["event"] == "reloaded"]

            assert wait_until(lambda: changes().count([str(file)]) == 2)
            assert [] in changes(), "nothing had changed by then"
            assert events(proxy)[-1]["event"] == "reloaded"
            file.write_text("admin: 127.0.0.1:1\n")
            status, problems = proxy.get("/-/reload", method="POST")
            assert (status, "no site to stand in front of" in problems) == (500, True)
            assert ask(proxy.port, request(proxy.port, "/bread", CURL)).status == 410
        finally:
            proxy.signal(signal.SIGINT)
            assert proxy.process.wait(10) == 0


def ask_unix(path: Path, target: str) -> bytes:
    """One request over a Unix socket."""
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(5)
        sock.connect(str(path))
        sock.sendall(f"GET {target} HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n\r\n".encode())
        return b"".join(iter(lambda: sock.recv(65536), b""))


def test_unix_sockets_on_both_ports_and_a_greeting_for_people(tmp_path: Path, bakery: ScriptedSite) -> None:
    shop, admin = tmp_path / "shop.sock", tmp_path / "admin.sock"
    command = [str(PROGRAM), "serve", "--upstream", f"http://127.0.0.1:{bakery.port}", "--log-format", "text",
               "--listen", f"unix:{shop}", "--admin", f"unix:{admin}"]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            greeting = process.stderr.readline()
            assert (
                f"listens on unix:{shop} before http://127.0.0.1:{bakery.port}; health and metrics on unix:{admin}."
                in greeting
            )
            assert b"Welcome" in ask_unix(shop, "/")
            assert ask_unix(admin, "/-/ready").startswith(b"HTTP/1.1 200")
            probe = run("healthcheck", "--ready", "--admin", f"unix:{admin}")
            assert (probe.returncode, probe.stdout, probe.stderr) == (0, "Ready.\n", "")
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(10)
    assert process.returncode == 0
    assert not shop.exists()
    assert not admin.exists()


def test_a_socket_file_of_somebody_else_stays(tmp_path: Path) -> None:
    path = tmp_path / "shop.sock"
    files = UnixSockets()
    with socket.socket(socket.AF_UNIX) as first:
        first.bind(str(path))
        files.remember(str(path))
        path.unlink()
        with socket.socket(socket.AF_UNIX) as second:
            second.bind(str(path))
            files.remove()
            assert path.exists()
            files.remember(str(path))
            files.remove()
            assert not path.exists()


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_standard_streams_are_no_reason_to_fall(
    tmp_path: Path, bakery: ScriptedSite, closed: str
) -> None:
    admin = tmp_path / "admin.sock"
    line = f"exec {PROGRAM} serve --upstream http://127.0.0.1:{bakery.port} --listen 127.0.0.1:0 --admin unix:{admin} {closed}"
    env = environment({"SAYWHY_DEADLINES__DRAIN_SECONDS": "0"})
    with subprocess.Popen(
        ["bash", "-c", line], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
    ) as process:
        assert wait_until(
            lambda: admin.exists() and ask_unix(admin, "/-/ready").startswith(b"HTTP/1.1 200"), 20
        )
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=20)
    assert process.returncode == 0, said
    assert "Assertion" not in said


def test_what_libraries_log_is_an_event_like_the_others(tmp_path: Path, bakery: ScriptedSite) -> None:
    with serving(bakery.port, tmp_path, env={"SAYWHY_LOG_LEVEL": "error"}) as proxy:
        (doubt,) = [event for event in events(proxy) if event["level"] == "warning"]
        assert (
            doubt["message"]
            == "SAYWHY_LOG_LEVEL: is not read, it has single underscores; write SAYWHY_LOG__LEVEL."
        )
        ask(proxy.port, request(proxy.port, "/bread", CURL, fields=[("X-Forwarded-For", "192.0.2.7")]))
        assert wait_until(lambda: len([event for event in events(proxy) if event["level"] == "warning"]) == 2)
        assert "trusted_proxies" in events(proxy)[-1]["message"]


def test_several_mistakes_are_a_line_each_and_findings(tmp_path: Path) -> None:
    file = tmp_path / "saywhy.yaml"
    file.write_text("listen: here\nadmin: there\nlimts: {}\nupstreams: {default: shop}\n")
    done = run("serve", "--config", file)
    assert done.returncode == 2
    assert [line.partition(": ")[::2][1].partition(": ")[0] for line in done.stderr.splitlines()] == [
        f"{file}:{line}" for line in (1, 2, 3, 4)
    ]
    assert all(line.startswith("error: ") for line in done.stderr.splitlines())
    answer = json.loads(run("serve", "--config", file, "--json").stderr)
    assert answer["findings"] == [line.removeprefix("error: ") for line in done.stderr.splitlines()]
    assert answer["error"]["message"] == answer["findings"][0]


def test_healthcheck(tmp_path: Path, bakery: ScriptedSite) -> None:
    with serving(bakery.port, tmp_path) as proxy:
        assert run("healthcheck", "--admin", f":{proxy.admin}").returncode == 0
        by_environment = run(
            "healthcheck", "--ready", "--json", env={"SAYWHY__ADMIN": f"127.0.0.1:{proxy.admin}"}
        )
        assert json.loads(by_environment.stdout) == {"ok": True, "status": 200, "said": "Ready."}
    nobody = run("healthcheck", "--admin", f"127.0.0.1:{free_port()}", "--json")
    assert nobody.returncode == 1
    assert json.loads(nobody.stderr)["error"]["code"] == "temporarily_unavailable"
    assert run("healthcheck", "--admin", "off").returncode == 2


def started_stuck(proxy: Saywhy) -> threading.Thread:
    """A caller whose answer never ends."""

    def wait() -> None:
        with socket.create_connection(("127.0.0.1", proxy.port), 5) as sock:
            sock.sendall(request(proxy.port, "/stuck", CURL))
            sock.settimeout(30)
            try:
                while sock.recv(65536):
                    pass
            except OSError:
                pass

    thread = threading.Thread(target=wait)
    thread.start()
    assert wait_until(lambda: proxy.metric("saywhy_inflight_exchanges") == 1)
    return thread


ENDINGS = [
    pytest.param("30", "30", [signal.SIGINT], 4, 1, id="interrupt-is-quick"),
    pytest.param("30", "30", [signal.SIGTERM, signal.SIGTERM], 4, 1, id="a-second-term-ends-the-drain"),
    pytest.param("30", "30", [signal.SIGTERM, signal.SIGTERM], 6, 2, id="of-workers-too"),
    pytest.param("0", "1.5", [signal.SIGTERM], 5, 1, id="what-is-stuck-is-cut-off"),
]


@pytest.mark.parametrize(("drain", "shutdown", "signals", "seconds", "workers"), ENDINGS)
def test_an_exchange_that_never_ends(
    tmp_path: Path,
    bakery: ScriptedSite,
    drain: str,
    shutdown: str,
    signals: list[signal.Signals],
    seconds: float,
    workers: int,
) -> None:
    env = {"SAYWHY_DEADLINES__DRAIN_SECONDS": drain, "SAYWHY_DEADLINES__SHUTDOWN_SECONDS": shutdown}
    with serving(bakery.port, tmp_path, env=env, arguments=["--workers", str(workers)]) as proxy:
        stuck = started_stuck(proxy)
        begun = time.monotonic()
        for number in signals:
            proxy.signal(number)
            time.sleep(0.3)
        assert proxy.process.wait(20) == 0
        assert time.monotonic() - begun < seconds
        stuck.join(5)
        assert not stuck.is_alive()
        words = ["stopping", *(["cutting_off"] if len(signals) > 1 else []), "stopped"]
        assert [event["event"] for event in events(proxy)][1:] == words
        last = events(proxy)[-1]
        assert (last["level"], last["cut_off"]) == ("warning", 1)
        assert 0 < last["seconds"] < seconds


@pytest.mark.parametrize("attempt", range(3))
def test_nobody_who_got_through_goes_without_an_answer_at_the_end(
    tmp_path: Path, bakery: ScriptedSite, attempt: int
) -> None:
    over = threading.Event()
    counts: Counter[str] = Counter()

    def caller(port: int) -> None:
        while not over.is_set():
            try:
                sock = socket.create_connection(("127.0.0.1", port), 5)
            except OSError:
                counts["refused"] += 1  # nothing was asked
                time.sleep(0.01)
                continue
            with sock:
                try:
                    sock.sendall(request(port, "/bread", CURL, fields=[("Connection", "close")]))
                    counts["answered" if sock.recv(12) == b"HTTP/1.1 404" else "without an answer"] += 1
                except OSError:
                    counts["reset"] += 1

    with serving(bakery.port, tmp_path, env={"SAYWHY_DEADLINES__DRAIN_SECONDS": "0.1"}) as proxy:
        callers = [threading.Thread(target=caller, args=(proxy.port,)) for _ in range(16)]
        for one in callers:
            one.start()
        time.sleep(0.3)
        proxy.signal(signal.SIGTERM)
        assert proxy.process.wait(20) == 0
        over.set()
        for one in callers:
            one.join(10)
    assert set(counts) <= {"answered", "refused"}, counts
    assert counts["answered"] > 50


def test_the_log_keeps_to_its_level(tmp_path: Path, bakery: ScriptedSite) -> None:
    with serving(bakery.port, tmp_path, arguments=["--log-level", "warning"]) as proxy:
        for path in ("/", "/bread", "/"):
            ask(proxy.port, request(proxy.port, path, CURL))
        assert [line["path"] for line in proxy.exchanges(at_least=1)] == ["/bread"]


def test_a_failure_to_start_is_an_envelope_where_json_is_asked_for() -> None:
    done = run("serve", "--upstream", "nonsense", "--json")
    assert (done.returncode, done.stdout) == (2, "")
    answer = json.loads(done.stderr)
    assert (answer["ok"], answer["command"], answer["error"]["code"]) == (False, "serve", "invalid_input")
    assert answer["error"]["field"] == "upstreams.default.url"


def test_help_teaches() -> None:
    done = run("serve", "--help")
    assert done.returncode == 0
    for word in ("saywhy serve --upstream http://127.0.0.1:3000", "SIGHUP", "--rules", "[v6]"):
        assert word in done.stdout
