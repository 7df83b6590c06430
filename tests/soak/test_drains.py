"""Ends and reloads under load, often: no request goes without an answer, and a reload is noticed by nobody."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from certificates import authority, issued, trusting
from stage.callers import CURL, agent, request
from stage.load import Load
from stage.scripted import ScriptedSite, page
from stage.serving import serving, wait_until
from stage.wire import ask

ENDS = 20
TLS_ENDS = 5
HANG_UPS = 60
CALLERS = 16
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
WORDS = ("conflict", "out_of_stock", "needs_human")
DRAIN = {"SAYWHY_DEADLINES__DRAIN_SECONDS": "0.5"}


@pytest.fixture(scope="module")
def bakery() -> Iterator[ScriptedSite]:
    """The site."""
    with ScriptedSite({"/bread": page("404 Not Found", b"<h1>The oven is cold</h1>")}) as site:
        yield site


@pytest.mark.parametrize("workers", [1, 2])
def test_twenty_ends_leave_nobody_without_an_answer(
    tmp_path: Path, bakery: ScriptedSite, workers: int
) -> None:
    answered = 0
    for number in range(ENDS):
        folder = tmp_path / str(number)
        folder.mkdir()
        with (
            serving(bakery.port, folder, env=DRAIN, arguments=["--workers", str(workers)]) as proxy,
            Load(proxy.port, request(proxy.port, "/bread", CURL), callers=CALLERS) as load,
        ):
            assert wait_until(lambda: load.counts["answered"] > 100)
            # At another moment of the load each time.
            time.sleep(number * 0.007)
            proxy.signal(signal.SIGTERM)
            assert proxy.process.wait(40) == 0
        assert set(load.counts) <= {"answered", "refused"}, (number, load.counts, load.why)
        answered += load.counts["answered"]
    print(f"{workers} workers: {ENDS} ends, {answered} requests, 0 without an answer")


def test_ends_under_tls(tmp_path: Path, bakery: ScriptedSite) -> None:
    ca = authority(tmp_path)
    ours = issued(tmp_path, ca, "bakery", "DNS:localhost")
    env = {
        **DRAIN, "SAYWHY_TLS__LISTEN": "127.0.0.1:0", "SAYWHY_TLS__CERTIFICATE_FILE": str(ours.certificate),
        "SAYWHY_TLS__KEY_FILE": str(ours.key),
    }  # fmt: skip
    answered = 0
    for number in range(TLS_ENDS):
        folder = tmp_path / str(number)
        folder.mkdir()
        with serving(bakery.port, folder, env=env, arguments=["--workers", "2"]) as proxy:
            port = next(int(url.rpartition(":")[2]) for event in proxy.log() for url in event.get("listen", ())
                        if url.startswith("https:"))  # fmt: skip
            with Load(
                port, request(port, "/bread", CURL), callers=CALLERS, tls=trusting(ca.certificate)
            ) as load:
                assert wait_until(lambda load=load: load.counts["answered"] > 100)  # type: ignore[misc]
                proxy.signal(signal.SIGTERM)
                assert proxy.process.wait(40) == 0
        assert set(load.counts) <= {"answered", "refused"}, (number, load.counts, load.why)
        answered += load.counts["answered"]
    print(f"TLS, 2 workers: {TLS_ENDS} ends, {answered} requests, 0 without an answer")


@pytest.mark.parametrize("workers", [1, 2])
def test_hanging_up_every_second_for_a_minute(tmp_path: Path, bakery: ScriptedSite, workers: int) -> None:
    file = tmp_path / "rules/bakery/rules.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(RULES % WORDS[-1])
    with (
        serving(
            bakery.port, tmp_path, rules=[tmp_path / "rules"], arguments=["--workers", str(workers)]
        ) as proxy,
        Load(proxy.port, request(proxy.port, "/bread", PROBLEM), callers=CALLERS) as load,
    ):
        for number in range(HANG_UPS):
            file.with_suffix(".new").write_text(RULES % WORDS[number % len(WORDS)])
            file.with_suffix(".new").replace(file)
            proxy.signal(signal.SIGHUP)
            time.sleep(1)
        assert proxy.get("/-/reload", method="POST") == (200, "Reloaded.\n")
        assert proxy.metric("saywhy_config_last_reload_successful") == 1
        assert proxy.metric("saywhy_worker_crashes_total") == 0
        load.end()
        answers = [ask(proxy.port, request(proxy.port, "/bread", PROBLEM)) for _ in range(20)]
        reloads = [event for event in proxy.log() if event.get("event") == "reloaded"]
    assert set(load.counts) == {"answered"}, (load.counts, load.why)
    assert {json.loads(answer.content)["error"]["code"] for answer in answers} == {
        WORDS[(HANG_UPS - 1) % len(WORDS)]
    }
    # On a machine that is busy, several workers may take longer to read a set than it lasts.
    assert len(reloads) > 1
    print(
        f"{workers} workers: {HANG_UPS} SIGHUPs, {len(reloads)} reloads, {load.counts['answered']} requests, 0 errors"
    )
