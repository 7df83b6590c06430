"""The results as Markdown: every table whole, every target named, and the block that README takes."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tests.bench import load, publish, report
from tests.bench.peers import PEERS
from tests.bench.run import Wanted, names_unknown
from tests.bench.scenarios import SCENARIOS
from tests.bench.table import NAMES

MACHINE = {
    "target": "-",
    "scenario": "machine",
    "date": "2026-01-02",
    "kernel": "6.1",
    "cpu": "a CPU",
    "cores": 2,
}


def run_of(*targets: str) -> list[dict[str, Any]]:
    """A run of every scenario."""
    samples: list[dict[str, Any]] = [dict(MACHINE)]
    for number, name in enumerate(targets, 1):
        samples.append(
            {
                "target": name,
                "scenario": "start",
                "version": f"{number}.0",
                "resting": 30.0,
                "after_error": 31.0,
            }
        )
        for scenario in SCENARIOS:
            samples.append({
                "target": name, "scenario": scenario, "requests": 8000, "rps": 4000.0, "cpu10k": float(number), "cpu": 0.8,
                "seconds": 2.0, "others": 0.0, "resting": 30.0, "peak": 40.0, "kept": 50.0, "bytes": 1 << 30, "rate": 2000.0,
                **{f"{kind}{q}": 1.0 for kind in ("", "direct_") for q in ("p50", "p99", "p999")},
            })  # fmt: skip
    return samples


def tables(text: str) -> list[list[str]]:
    """Each table's lines."""
    return [found.splitlines() for found in re.findall(r"(?:^\|.*\|\n)+", text, re.M)]


def test_every_table_is_whole() -> None:
    made = tables(report.markdown(run_of("saywhy", "saywhy-2", "nginx", "caddy"), "make bench"))
    assert len(made) == 7
    for lines in made:
        assert len(lines) > 2
        assert len({line.count("|") for line in lines}) == 1, lines


def test_an_empty_run_makes_a_report_too() -> None:
    text = report.markdown([dict(MACHINE)], "make bench")
    assert "not measured" in text
    assert publish.block(text)


def test_versions_machine_and_what_is_missing_are_said() -> None:
    missing = {"target": "envoy", "scenario": "start", "left_out": "not installed"}
    text = report.markdown([*run_of("nginx", "saywhy"), missing], "make bench")
    for said in (
        "nginx 1.0",
        "**saywhy** 2.0",
        "2026-01-02",
        "a CPU",
        "Linux 6.1",
        "- envoy: not installed",
        "| 0.50 |",
    ):
        assert said in text


def test_every_peer_has_a_name_and_is_asked_what_there_is() -> None:
    assert [peer.name for peer in PEERS] == list(NAMES)
    assert all(peer.asked <= SCENARIOS.keys() for peer in PEERS)


def test_names_that_are_not_there_are_told() -> None:
    wanted = Wanted(frozenset({"nginx", "squid"}), ("1k", "2k"), 1, 1, 1, 1)
    assert names_unknown(wanted) == ["2k", "squid"]


@pytest.mark.parametrize(("name", "expected"), [("saywhy", ["1k", "404agent"]), ("nginx", ["1k"])])
def test_only_those_that_rewrite_are_asked_as_an_agent_asks(name: str, expected: list[str]) -> None:
    (peer,) = [peer for peer in PEERS if peer.name == name]
    assert Wanted(frozenset(), ("404agent", "1k"), 1, 1, 1, 1).of(peer) == expected


WRK = """Running 2s test @ http://127.0.0.1:1/1k
  1 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     3.00ms  900.00us  10.00ms   70.00%
  Latency Distribution
     50%  900.00us
     75%    3.10ms
     90%    4.00ms
     99%    1.20s
  9000 requests in 2.00s, 20.00MB read
  Socket errors: connect 1, read 2, write 0, timeout 4
  Non-2xx or 3xx responses: 30
Requests/sec:   4500.00
"""


@pytest.mark.parametrize(("body_bytes", "requests"), [(0, 9000), (10 * 1024 * 1024, 2)])
def test_what_wrk_tells(body_bytes: int, requests: int) -> None:
    told = load.told(WRK, body_bytes)
    assert told == {
        "requests": requests, "rps": requests / 2, "p50": 0.9, "p99": 1200.0, "not_2xx": 30, "errors": 7,
    }  # fmt: skip


def test_a_wrk_that_could_not_connect_is_an_error() -> None:
    assert load.told("unable to connect to 127.0.0.1:1 Connection refused\n", 0)["errors"] == 1
