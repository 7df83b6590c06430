"""The running process: reloads, a drain under load, metrics that move, a log that tells nothing it should not."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from stage.callers import CHROME, CURL, agent, request
from stage.processes import free_port
from stage.scripted import Answer, ScriptedSite, page
from stage.serving import PROGRAM, Saywhy, environment, serving, total, wait_until
from stage.wire import Torn, ask, receive

PROBLEM = agent("application/problem+json")
BREAD = "<html><title>Sorry</title><body><h1>{}</h1></body></html>"
SECRETS = "Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJwbGFudGVkIn0.c2lnbmF0dXJlLXBsYW50ZWQ"
ANSWERS = {
    "/bread": page("404 Not Found", BREAD.format("The oven is cold today").encode()),
    "/leak": page(
        "500 Internal Server Error",
        f"<h1>Failed</h1><pre>Authorization: {SECRETS}\npassword=planted-pw</pre>".encode(),
    ),
    "/slow": Answer((b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", b"slow", b"ly now"), wait=0.1),
    "/very-slow": Answer((b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", b"slow", b"ly now"), wait=1.2),
}
RULES = """
pack: bakery
about: What this bakery says.
rules:
  - id: cold-oven
    about: The oven is cold.
    when: {status: [404], contains: [%s]}
    then: {code: %s, message: The bakery is closed today.}
"""
GOOD_RULES = RULES % ("oven is cold", "temporarily_unavailable")
BROKEN = {
    "unknown-key": GOOD_RULES.replace("contains", "contanis"),
    "not-yaml": GOOD_RULES.replace("[404]", "[404"),
    "bad-expression": GOOD_RULES.replace("contains: [oven is cold]", "contains: [oven], matches: ['(oven']"),
    "gone": "",
}


@pytest.fixture(scope="module")
def bakery() -> Iterator[ScriptedSite]:
    """The site behind every proxy here."""
    with ScriptedSite(ANSWERS) as site:
        yield site


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An operator's rule folder that works."""
    made = tmp_path / "rules" / "bakery"
    made.mkdir(parents=True)
    (made / "rules.yaml").write_text(GOOD_RULES)
    return made.parent


def code(proxy: Saywhy) -> str:
    """The code that an agent gets for the bakery's page."""
    answer = ask(proxy.port, request(proxy.port, "/bread", PROBLEM))
    assert answer.status == 404
    found = json.loads(answer.content)["error"]["code"]
    assert isinstance(found, str)
    return found


@pytest.mark.parametrize("mistake", BROKEN)
def test_a_broken_rule_file_never_replaces_a_set_that_works(
    tmp_path: Path, bakery: ScriptedSite, folder: Path, mistake: str
) -> None:
    file = folder / "bakery/rules.yaml"
    with serving(bakery.port, tmp_path, rules=[folder]) as proxy:
        assert code(proxy) == "temporarily_unavailable"
        assert proxy.metric("saywhy_config_last_reload_successful") == 1
        first = proxy.metric("saywhy_config_last_reload_success_timestamp_seconds")
        file.write_text(BROKEN[mistake])
        proxy.signal(signal.SIGHUP)
        assert wait_until(lambda: proxy.metric("saywhy_config_last_reload_successful") == 0)
        assert code(proxy) == "temporarily_unavailable"
        assert proxy.metric("saywhy_config_last_reload_success_timestamp_seconds") == first
        assert "rules.yaml" in proxy.output()  # the log names the file
        assert proxy.get("/-/ready")[0] == 200
        file.write_text(GOOD_RULES.replace("temporarily_unavailable", "out_of_stock"))
        proxy.signal(signal.SIGHUP)
        assert wait_until(lambda: proxy.metric("saywhy_config_last_reload_successful") == 1)
        assert code(proxy) == "out_of_stock"
        assert proxy.metric("saywhy_config_last_reload_success_timestamp_seconds") > first


def test_a_pipe_in_the_rules_holds_no_reload(tmp_path: Path, bakery: ScriptedSite, folder: Path) -> None:
    file = folder / "bakery/rules.yaml"
    with serving(bakery.port, tmp_path, rules=[folder]) as proxy:
        file.unlink()
        os.mkfifo(file)
        status, said = proxy.get("/-/reload", method="POST")
        assert (status, "is a named pipe, not a file" in said) == (500, True)
        assert code(proxy) == "temporarily_unavailable"
        file.unlink()
        file.write_text(GOOD_RULES.replace("temporarily_unavailable", "conflict"))
        assert proxy.get("/-/reload", method="POST")[0] == 200
        assert code(proxy) == "conflict"


def test_a_broken_settings_file_leaves_the_old_one_in_force(
    tmp_path: Path, bakery: ScriptedSite, folder: Path
) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text("rules:\n  folders: [rules]\n")  # relative to the file
    with serving(bakery.port, tmp_path, config=file) as proxy:
        assert code(proxy) == "temporarily_unavailable"
        file.write_text("ruls:\n  folders: [rules]\n")
        proxy.signal(signal.SIGHUP)
        assert wait_until(lambda: proxy.metric("saywhy_config_last_reload_successful") == 0)
        assert code(proxy) == "temporarily_unavailable"
        assert "ruls" in proxy.output()
        file.write_text("rules:\n  folders: [rules]\n  disable: [bakery/cold-oven]\n")
        proxy.signal(signal.SIGHUP)
        assert wait_until(lambda: proxy.metric("saywhy_config_last_reload_successful") == 1)
        assert code(proxy) == "not_found"


def test_a_swapped_symlink_is_seen_without_a_signal(tmp_path: Path, bakery: ScriptedSite) -> None:
    """Kubernetes updates a mounted ConfigMap by swapping the link `..data`; the files' own links never change."""
    mount = tmp_path / "mounted" / "bakery"
    for stamp, word in (("..first", "temporarily_unavailable"), ("..second", "conflict")):
        (mount / stamp).mkdir(parents=True)
        (mount / stamp / "rules.yaml").write_text(GOOD_RULES.replace("temporarily_unavailable", word))
    (mount / "..data").symlink_to("..first")
    (mount / "rules.yaml").symlink_to("..data/rules.yaml")
    with serving(bakery.port, tmp_path, rules=[mount.parent]) as proxy:
        assert code(proxy) == "temporarily_unavailable"
        (mount / "..swap").symlink_to("..second")
        (mount / "..swap").replace(mount / "..data")
        assert wait_until(lambda: code(proxy) == "conflict", 8)


def test_the_admin_page_reloads_and_says_what_is_wrong(
    tmp_path: Path, bakery: ScriptedSite, folder: Path
) -> None:
    file = folder / "bakery/rules.yaml"
    with serving(bakery.port, tmp_path, rules=[folder]) as proxy:
        file.write_text(BROKEN["unknown-key"])
        status, text = proxy.get("/-/reload", method="POST")
        assert status >= 400
        for word in ("rules.yaml", "contanis", "cold-oven"):
            assert word in text
        file.write_text(GOOD_RULES.replace("temporarily_unavailable", "conflict"))
        assert proxy.get("/-/reload", method="POST")[0] == 200
        assert code(proxy) == "conflict"


def test_reloads_under_load_lose_nothing(tmp_path: Path, bakery: ScriptedSite, folder: Path) -> None:
    file = folder / "bakery/rules.yaml"
    with serving(bakery.port, tmp_path, rules=[folder]) as proxy:
        codes: set[str] = set()
        stop = threading.Event()

        def keep_asking() -> None:
            while not stop.is_set():
                codes.add(code(proxy))

        threads = [threading.Thread(target=keep_asking) for _ in range(4)]
        for one in threads:
            one.start()
        for word in ("conflict", "out_of_stock", "needs_human"):
            file.write_text(GOOD_RULES.replace("temporarily_unavailable", word))
            assert proxy.get("/-/reload", method="POST")[0] == 200
            time.sleep(0.1)
        stop.set()
        for one in threads:
            one.join(10)
        assert "needs_human" in codes
        assert codes <= {"temporarily_unavailable", "conflict", "out_of_stock", "needs_human"}


class Load:
    """Callers that ask over and over, each on a new connection, and count what became of every request."""

    def __init__(self, proxy: Saywhy, callers: int) -> None:
        self.answered = self.refused = 0
        self.lost: list[str] = []
        self.closing = 0
        self._proxy, self._stop, self._lock = proxy, threading.Event(), threading.Lock()
        self._threads = [threading.Thread(target=self._ask) for _ in range(callers)]
        for one in self._threads:
            one.start()

    def _ask(self) -> None:
        while not self._stop.is_set():
            try:
                sock = socket.create_connection(("127.0.0.1", self._proxy.port), 10)
            except OSError:
                with self._lock:
                    self.refused += 1
                return
            with sock:
                try:
                    sock.sendall(request(self._proxy.port, "/slow", CURL))
                    answer = receive(sock)
                except (Torn, OSError) as lost:
                    with self._lock:
                        self.lost.append(repr(lost))
                    continue
                with self._lock:
                    self.answered += answer.status == 200 and answer.content == b"slowly now"
                    self.closing += "close" in answer.all("connection")

    def end(self) -> None:
        """Ask no more; returns when the last answer is there."""
        self._stop.set()
        for one in self._threads:
            one.join(30)


def test_a_drain_under_load_answers_every_request(tmp_path: Path, bakery: ScriptedSite) -> None:
    with serving(bakery.port, tmp_path, env={"SAYWHY_DEADLINES__DRAIN_SECONDS": "2"}) as proxy:
        load = Load(proxy, 16)
        last: list[bytes] = []
        long_one = threading.Thread(
            target=lambda: last.append(ask(proxy.port, request(proxy.port, "/very-slow", CURL)).content)
        )
        assert wait_until(lambda: load.answered > 30)
        long_one.start()
        time.sleep(0.2)
        proxy.signal(signal.SIGTERM)
        assert wait_until(lambda: proxy.get("/-/ready")[0] == 503, 1)
        assert proxy.get("/-/healthy")[0] == 200
        time.sleep(0.7)  # accepting goes on while balancers notice
        load.end()
        long_one.join(10)
        assert proxy.process.wait(30) == 0
    assert load.lost == []
    assert load.refused == 0
    assert load.closing > 0
    assert last == [b"slowly now"]


def test_a_second_term_or_an_interrupt_ends_it_too(tmp_path: Path, bakery: ScriptedSite) -> None:
    with serving(bakery.port, tmp_path) as proxy:
        started = time.monotonic()
        proxy.signal(signal.SIGINT)
        assert proxy.process.wait(20) == 0
        assert time.monotonic() - started < 15


def test_a_log_that_nobody_reads_stops_nothing(tmp_path: Path, bakery: ScriptedSite) -> None:
    """Both outputs on one pipe, full: the collector of a container's log hangs."""
    reader, writer = os.pipe()
    port, admin = free_port(), free_port()
    with contextlib.closing(os.fdopen(reader, "rb")), os.fdopen(writer, "wb") as full:
        os.set_blocking(full.fileno(), False)
        with contextlib.suppress(BlockingIOError):
            while full.raw.write(b"\n" * 4096):  # type: ignore[attr-defined]
                pass
        # The flag is of the pipe, which the proxy inherits: its writes must be ones that block.
        os.set_blocking(full.fileno(), True)
        process = subprocess.Popen(
            [PROGRAM, "serve", "--upstream", f"http://127.0.0.1:{bakery.port}", "--listen", f"127.0.0.1:{port}", "--admin", f"127.0.0.1:{admin}"],
            stdout=full,
            stderr=full,
            env=environment({"SAYWHY_DEADLINES__DRAIN_SECONDS": "0", "SAYWHY_DEADLINES__SHUTDOWN_SECONDS": "1"}),
        )  # fmt: skip
        try:

            def healthy() -> bool:
                try:
                    with urllib.request.urlopen(f"http://127.0.0.1:{admin}/-/healthy", timeout=3) as answer:
                        return bool(answer.status == 200)
                except OSError:
                    return False

            assert wait_until(healthy, 20)
            forged = PROBLEM._replace(fields=(*PROBLEM.fields, ("X-Forwarded-For", "192.0.2.7")))
            for _ in range(50):
                assert ask(port, request(port, "/bread", forged)).status == 404
            process.send_signal(signal.SIGHUP)
            time.sleep(1)
            assert healthy()
            assert ask(port, request(port, "/bread", PROBLEM)).status == 404
            ending = time.monotonic()
            process.send_signal(signal.SIGTERM)
            assert process.wait(20) == 0
            assert time.monotonic() - ending < 8
        finally:
            process.kill()
            process.wait(10)


def test_metrics_move(tmp_path: Path, bakery: ScriptedSite, folder: Path) -> None:
    with serving(bakery.port, tmp_path, rules=[folder]) as proxy:
        before = proxy.get("/metrics")[1]
        for path, caller in (
            ("/good", CURL),
            ("/bread", CHROME),
            ("/bread", PROBLEM),
            ("/leak", PROBLEM),
            ("/leak", PROBLEM),
        ):
            ask(proxy.port, request(proxy.port, path, caller))

        def moved(name: str, **labels: str) -> float:
            return total(proxy.get("/metrics")[1], name, **labels) - total(before, name, **labels)

        assert wait_until(lambda: moved("saywhy_requests_total") == 5)
        assert moved("saywhy_requests_total", status_class="2xx") == 1
        assert moved("saywhy_requests_total", status_class="5xx") == 2
        assert moved("saywhy_errors_total", caller="agent") == 3
        assert moved("saywhy_errors_total", caller="agent", code="internal", status="500", source="site") == 2
        assert moved("saywhy_errors_total", code="temporarily_unavailable", decided_by="rule") == 1
        assert moved("saywhy_rule_hits_total", rule="bakery/cold-oven") == 1
        assert moved("saywhy_unmatched_errors_total", status="500") == 2
        assert moved("saywhy_passthrough_total", reason="not_agent") == 1
        assert moved("saywhy_rewrite_duration_seconds_count") == 3
        assert moved("saywhy_upstream_duration_seconds_count") == 5
        assert total(before, "saywhy_build_info") == 1
        for text in (before, proxy.get("/metrics")[1]):
            assert "/bread" not in text
            assert "planted" not in text


def test_promtool_finds_nothing_to_say(tmp_path: Path, bakery: ScriptedSite, folder: Path) -> None:
    promtool = shutil.which("promtool")
    if not promtool:
        pytest.skip("no promtool on this machine (Debian package prometheus)")
    with serving(bakery.port, tmp_path, rules=[folder]) as proxy:
        ask(proxy.port, request(proxy.port, "/bread", PROBLEM))
        text = proxy.get("/metrics")[1]
    done = subprocess.run(
        [promtool, "check", "metrics"], input=text, capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_log_is_json_and_keeps_secrets(tmp_path: Path, bakery: ScriptedSite) -> None:
    with serving(bakery.port, tmp_path) as proxy:
        for path in (
            "/leak?token=planted-query",
            "/odd%0a%1b[31mpath",
            '/quo"te',
            "/" + "x" * 5000,
            "/caf\xe9",
        ):
            ask(
                proxy.port,
                request(
                    proxy.port, path, PROBLEM._replace(fields=(*PROBLEM.fields, ("Cookie", "planted=cookie")))
                ),
            )
        lines = proxy.exchanges(at_least=5)
    assert len(lines) == 5
    first = next(line for line in lines if line["path"] == "/leak")
    assert first["method"] == "GET"
    assert first["code"] == "internal"
    for line in lines:
        assert len(json.dumps(line)) < 4000
    text = proxy.output()
    assert "planted" not in text
    assert "eyJ" not in text
    assert not [char for char in text if ord(char) < 32 and char != "\n"]
