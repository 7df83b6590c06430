"""Adding up: what several processes counted is what one would have, and an end takes nothing away."""

from __future__ import annotations

import json
import os
import random

from saywhy.core.model import Outcome
from saywhy.edge.merging import Processes, Totals, from_json, to_json
from saywhy.edge.meter import Meter, Snapshot
from saywhy.edge.metrics import GAUGES, MERGED

OK = Outcome(1.0, "GET", "shop", "/", "shop", "id", "", 200, 200, 100, 900, 0.004, 0.003, 0.0, None)


def knowing() -> Meter:
    """A meter that knows one upstream and one rule."""
    meter = Meter(version="1")
    meter.know(["shop"], [("captcha/box", "enforce")])
    return meter


def samples(meter: Meter) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """All counters and histograms."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in meter.collect()
        if family.type != "gauge"
        for sample in family.samples
    }


def outcomes(count: int) -> list[Outcome]:
    """Exchanges of many kinds."""
    rng = random.Random(11)
    return [
        OK._replace(
            sent_status=status, original_status=status, upstream_duration=rng.choice([0.001, 0.02, 3, 100])
        )
        for status in rng.choices([200, 204, 301, 404, 500, 503, 777], k=count)
    ]


def test_two_processes_count_as_one() -> None:
    alone, shown = knowing(), knowing()
    parts = {1: knowing(), 2: knowing()}
    totals = Totals(shown)
    for number, outcome in enumerate(outcomes(500)):
        alone.record(outcome)
        parts[1 + number % 2].record(outcome)
    for process, meter in parts.items():
        totals.heard(process, from_json(json.loads(json.dumps(to_json(meter.snapshot())))))
    totals.show()
    expected = samples(alone)
    assert expected.keys() == samples(shown).keys()
    assert all(abs(samples(shown)[key] - value) < 1e-6 for key, value in expected.items())


def test_an_end_takes_nothing_away_and_a_successor_adds() -> None:
    shown, totals = knowing(), None
    totals = Totals(shown)
    for process in range(1, 5):
        meter = knowing()
        for outcome in outcomes(10):
            meter.record(outcome)
        totals.heard(process, meter.snapshot())
        totals.show()
        before = samples(shown)
        totals.ended(process)
        totals.ended(process)
        totals.show()
        assert samples(shown) == before
    counted = sum(value for (name, _), value in samples(shown).items() if name == "saywhy_requests_total")
    assert counted == 40


def test_gauges_are_of_the_living() -> None:
    shown = knowing()
    totals = Totals(shown)

    def standing(held: float) -> Snapshot:
        return Snapshot(
            {}, {}, {"saywhy_held_bytes": {(): held}, "saywhy_upstream_connections": {("shop", "idle"): 2}}
        )

    totals.heard(1, standing(5))
    totals.heard(2, standing(7))
    totals.show()
    assert shown.registry.get_sample_value("saywhy_held_bytes") == 12
    labels = {"upstream": "shop", "state": "idle"}
    assert shown.registry.get_sample_value("saywhy_upstream_connections", labels) == 4
    totals.ended(1)
    totals.show()
    assert shown.registry.get_sample_value("saywhy_held_bytes") == 7


def test_every_gauge_says_how_it_is_merged() -> None:
    assert MERGED.keys() == GAUGES.keys()


def test_processes_are_added_up() -> None:
    alone = {family.name: family for family in Processes(lambda: [], lambda: 0.0).collect()}
    both = {
        family.name: family
        for family in Processes(lambda: [os.getppid(), 999_999_999], lambda: 1000.0).collect()
    }
    assert alone.keys() == both.keys()
    if not alone:  # no /proc here
        return

    def value(families: dict[str, object], name: str) -> float:
        return float(families[name].samples[0].value)  # type: ignore[attr-defined]

    assert value(both, "process_cpu_seconds") >= 1000
    assert value(both, "process_resident_memory_bytes") > value(alone, "process_resident_memory_bytes")
    assert value(both, "process_start_time_seconds") == value(alone, "process_start_time_seconds")
