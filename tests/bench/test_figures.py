"""From samples to figures: which samples count, and what is a ratio of what."""

from __future__ import annotations

from typing import Any

import pytest
from tests.bench.figures import DISTURBED, Figures


def full(target: str, cpu10k: float, **more: Any) -> dict[str, Any]:
    """A sample of 1 KB at full load."""
    usual = {"scenario": "1k", "requests": 9000, "rps": 4500.0, "cpu": 0.9, "errors": 0, "others": 0.0}
    return {**usual, "target": target, "cpu10k": cpu10k, "peak": 50.0, "resting": 40.0, **more}


def paced(through: float, alone: float) -> dict[str, Any]:
    """A sample at a fixed rate."""
    return full("saywhy", 1.0, scenario="lat", p99=through, direct_p99=alone, p50=0.2, direct_p50=0.1)


def test_the_cheapest_clean_sample_is_the_cost() -> None:
    figures = Figures(
        [full("saywhy", 1.2), full("saywhy", 1.0), full("saywhy", 0.7, others=DISTURBED + 0.01)]
    )
    assert figures.cost("saywhy", "1k") == 1.0
    assert not figures.disturbed()


def test_disturbed_samples_count_where_there_are_no_others_and_are_named() -> None:
    figures = Figures([full("saywhy", 1.2, others=0.5), full("saywhy", 1.1, others=0.3), full("nginx", 0.5)])
    assert figures.cost("saywhy", "1k") == 1.1
    assert figures.disturbed() == ["saywhy 1k"]


def test_too_little_cpu_time_is_no_figure() -> None:
    assert Figures([full("saywhy", 1.0, cpu=0.09)]).cost("saywhy", "1k") is None


def test_a_ratio_is_of_efficiencies() -> None:
    """Half of the CPU time a request is twice the efficiency."""
    figures = Figures([full("saywhy", 0.5), full("envoy", 1.0)])
    assert figures.ratio("saywhy", "envoy", "1k") == 2.0
    assert figures.ratio("envoy", "saywhy", "1k") == 0.5
    assert figures.ratio("saywhy", "caddy", "1k") is None


def test_added_latency_is_the_median_of_differences() -> None:
    """Each sample's own direct figure is taken off: the machine was in the same mood."""
    figures = Figures([paced(1.0, 0.5), paced(9.0, 1.0), paced(2.0, 1.2)])
    assert figures.added("saywhy", "p99") == pytest.approx([0.5, 0.8, 8.0])
    assert figures.added_p99("saywhy") == pytest.approx(0.8)


def test_growth_is_over_what_was_there_before() -> None:
    streams = full("saywhy", 1.0, scenario="streams64", resting=80.0, peak=93.5)
    assert Figures([streams]).growth("saywhy", "streams64") == 13.5


def test_what_was_left_out_is_named_with_its_reason_and_is_no_target() -> None:
    figures = Figures([
        {"target": "caddy", "scenario": "start", "left_out": "not installed"},
        {"target": "-", "scenario": "lat", "left_out": "no C compiler"},
        {"target": "nginx", "scenario": "start", "version": "1.22.1", "resting": 30.0},
        {"target": "nginx", "scenario": "c5000", "failed": "refused"},
    ])  # fmt: skip
    assert figures.left_out == {"caddy": "not installed", "lat": "no C compiler", "nginx c5000": "refused"}
    assert figures.targets == {"nginx": "1.22.1"}
    assert figures.cost("nginx", "c5000") is None


@pytest.mark.parametrize(("opened", "named"), [(64, False), (150, False), (155, True), (9000, True)])
def test_who_does_not_keep_connections_is_named(opened: int, named: bool) -> None:
    """64 callers' and one more for every hundred of 9,000 requests are no reason for doubt."""
    assert bool(Figures([full("caddy", 1.0, site_connections=opened)]).reconnecting()) == named


def test_errors_of_all_samples_add_up() -> None:
    figures = Figures(
        [full("saywhy", 1.0, errors=2), full("saywhy", 1.0, errors=3, others=0.9), full("nginx", 1.0)]
    )
    assert (figures.errors("saywhy"), figures.errors("nginx")) == (5, 0)
