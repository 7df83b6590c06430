"""One sample of each kind: what was asked and answered, what it cost, and how much others used of the core meanwhile."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.bench import cost, load, origin, streams
from tests.bench.peers import Running
from tests.bench.place import Place
from tests.bench.scenarios import AGENT, SCENARIOS, Kind, Scenario

Sample = dict[str, Any]
Keep = Callable[[Sample], None]
STALL_SECONDS = 1.0
"""For which the callers of `streams64` read nothing: time enough to fill every buffer on the way."""
LOG_BYTES = 200_000_000
"""At which a target's log is emptied between samples, so that none is measured filling a disk."""


class Bench(NamedTuple):
    """What a sample is taken with: the site's process ids, the generator of fixed rates, and the samples so far."""

    place: Place
    site: Sequence[int]
    paced: str
    seconds: float
    quiet_seconds: float
    taken: list[Sample]

    def others_mine(self) -> float:
        """CPU seconds of all that runs on the core of who asks, as far as it is ours."""
        own = sum(
            sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        )
        return own + cost.cpu([pid for one in self.site for pid in cost.family(one)])


def started(target: Running) -> Sample:
    """Memory of a target that has served one page, and once it has answered its first error for an agent."""
    family = cost.family(target.pid)
    load.one(target.port, "/1k", "*/*")
    resting = cost.settled_memory(family)
    load.one(target.port, SCENARIOS["404agent"].path, AGENT.partition(": ")[2])
    return {
        "target": target.name,
        "scenario": "start",
        "resting": resting,
        "after_error": cost.settled_memory(family),
    }


def take(target: Running, name: str, bench: Bench) -> Sample:
    """One measurement of a scenario."""
    scenario = SCENARIOS[name]
    cores = target.cores | ({bench.place.load_core} if scenario.kind == "paced" else set())
    for core in sorted(cores | {bench.place.load_core}):
        cost.wait_for_quiet(core, bench.quiet_seconds)
    family = cost.family(target.pid)
    asked = KINDS[scenario.kind](target, scenario, bench)  # whatever must be known before
    resting = cost.memory(family)
    with cost.peak_memory(family) as peak:
        before, busy, mine = cost.cpu(family), sum(map(cost.core_busy, cores)), bench.others_mine()
        began = time.monotonic()
        measured = asked()
        seconds, used = time.monotonic() - began, cost.cpu(family) - before
        known = used + (bench.others_mine() - mine if bench.place.load_core in cores else 0)
        others = (sum(map(cost.core_busy, cores)) - busy - known) / seconds / len(cores)
    sample = {
        "target": target.name, "scenario": name, **measured,
        "cpu": used, "seconds": seconds, "others": max(0.0, others), "resting": resting, "peak": peak(),
    }  # fmt: skip
    if measured.get("requests"):
        sample["cpu10k"] = used / measured["requests"] * 10_000
    _empty(bench.place.log(target.name))
    return sample


def _full(target: Running, scenario: Scenario, bench: Bench) -> Callable[[], Sample]:
    def ask() -> Sample:
        """Answers of the other kind than the scenario's are errors; connections to the site tell who keeps them."""
        before = origin.seen(bench.place).connections
        measured = load.at_full(target.port, scenario, bench.seconds)
        failures = measured["requests"] - measured["not_2xx"] if scenario.fails else measured["not_2xx"]
        connected = origin.seen(bench.place).connections - before - 1
        return {**measured, "errors": measured["errors"] + failures, "site_connections": connected}

    return ask


def _paced(target: Running, scenario: Scenario, bench: Bench) -> Callable[[], Sample]:
    """At half of what the target did at 1 KB; and the site alone at the same rate, as what is added is asked for."""
    done = [one["rps"] for one in bench.taken if (one["target"], one["scenario"]) == (target.name, "1k")]
    rate = max(done or [load.at_full(target.port, SCENARIOS["1k"], 1)["rps"]]) / 2
    direct = load.at_rate(bench.paced, bench.place.site, scenario, rate, bench.seconds)

    def ask() -> Sample:
        through = load.at_rate(bench.paced, target.port, scenario, rate, bench.seconds)
        return {**through, **{f"direct_{q}": direct[q] for q in ("p50", "p99", "p999")}}

    return ask


def _idle(target: Running, scenario: Scenario, _bench: Bench) -> Callable[[], Sample]:
    def ask() -> Sample:
        with streams.kept(target.port, scenario.path, scenario.connections):
            return {"kept": cost.settled_memory(cost.family(target.pid))}

    return ask


def _streams(target: Running, scenario: Scenario, _bench: Bench) -> Callable[[], Sample]:
    return lambda: {
        "bytes": streams.read_late(target.port, scenario.path, scenario.connections, STALL_SECONDS)
    }


def _download(target: Running, scenario: Scenario, _bench: Bench) -> Callable[[], Sample]:
    return lambda: {"bytes": streams.download(target.port, scenario.path)}


def _upload(target: Running, scenario: Scenario, _bench: Bench) -> Callable[[], Sample]:
    return lambda: {"bytes": streams.upload(target.port, scenario.path)}


KINDS: dict[Kind, Callable[[Running, Scenario, Bench], Callable[[], Sample]]] = {
    "full": _full, "paced": _paced, "idle": _idle,
    "streams": _streams, "download": _download, "upload": _upload,
}  # fmt: skip


def _empty(log: Path) -> None:
    """All targets write at a file's end, wherever it is (O_APPEND)."""
    if log.exists() and log.stat().st_size > LOG_BYTES:
        with log.open("r+b") as file:
            file.truncate(0)
