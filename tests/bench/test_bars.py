"""Each bar at its edge: what just meets it, what just misses it, and what was not measured."""

from __future__ import annotations

from typing import Any

import pytest
from tests.bench.bars import BARS, judged
from tests.bench.figures import Figures


def costing(target: str, scenario: str, cpu10k: float, **more: Any) -> dict[str, Any]:
    """A sample with a cost."""
    return {"target": target, "scenario": scenario, "cpu10k": cpu10k, "cpu": 1.0, "requests": 9999, **more}


def beside(peer: str, ratio: float, scenario: str = "1k") -> list[dict[str, Any]]:
    """Two samples with that ratio of efficiencies."""
    return [costing("saywhy", scenario, 1.0), costing(peer, scenario, ratio)]


def saywhy(scenario: str, **more: Any) -> list[dict[str, Any]]:
    """One sample without a cost."""
    return [{"target": "saywhy", "scenario": scenario, "requests": 1, **more}]


EDGES = {
    "0.55 of nginx": (beside("nginx", 0.56), beside("nginx", 0.54)),
    "Envoy": (beside("envoy", 1.21), beside("envoy", 1.19)),
    "Caddy": (beside("caddy", 1.01), beside("caddy", 1.0)),
    "HAProxy with Lua": (beside("haproxy-lua", 1.01), beside("haproxy-lua", 0.9)),
    "Traefik": (beside("traefik", 1.01), beside("traefik", 0.9)),
    "mitmproxy": (beside("mitmproxy", 25.0), beside("mitmproxy", 24.9)),
    "100 KB": (beside("nginx", 0.81, "100k"), beside("nginx", 0.79, "100k")),
    "10 MB: ": (beside("nginx", 0.81, "10m"), beside("nginx", 0.79, "10m")),
    "2,000 times a second": (saywhy("404agent", rps=2000.0), saywhy("404agent", rps=1999.0)),
    "every page is a new one": (saywhy("404fresh", rps=2000.0), saywhy("404fresh", rps=1999.0)),
    "added p99": (saywhy("lat", p99=1.4, direct_p99=0.5), saywhy("lat", p99=1.6, direct_p99=0.5)),
    "idle under 85": (saywhy("start", resting=84.9), saywhy("start", resting=85.0)),
    "130 MB": (saywhy("start", after_error=129.9), saywhy("start", after_error=130.0)),
    "64 streams": (saywhy("streams64", resting=80.0, peak=100.0), saywhy("streams64", resting=80.0, peak=100.1)),
    "5,000 idle": (saywhy("idle5000", kept=149.9), saywhy("idle5000", kept=150.0)),
    "two workers": (
        [costing("saywhy", "1k", 1.0), costing("saywhy-2", "1k", 1.09)],
        [costing("saywhy", "1k", 1.0), costing("saywhy-2", "1k", 1.11)],
    ),
}  # fmt: skip


def verdict(promise: str, samples: list[dict[str, Any]]) -> str:
    """Of the one bar whose promise has these words."""
    (found,) = [verdict for said, _, verdict in judged(Figures(samples)) if promise in said]
    return found


@pytest.mark.parametrize("promise", EDGES)
def test_each_bar_at_its_edge(promise: str) -> None:
    met, missed = EDGES[promise]
    assert verdict(promise, met) == "met"
    assert verdict(promise, missed) == "missed"
    assert verdict(promise, []) == "not measured"


def test_no_bar_is_without_an_edge() -> None:
    assert len(EDGES) == len(BARS)


def test_a_workers_cost_is_said_in_percent() -> None:
    found = {promise: figure for promise, figure, _ in judged(Figures(EDGES["two workers"][1]))}
    assert [figure for promise, figure in found.items() if "two workers" in promise] == ["+11.0 %"]
