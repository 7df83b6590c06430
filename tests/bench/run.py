"""One run: the site, the targets, rounds of samples. All targets are started once and visited in turn (A B C, A B C, ...),
so that slow drift of the machine hits all alike; a sample in which others used the core is taken again.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.bench import origin, peers, proof, report, samples
from tests.bench.figures import DISTURBED
from tests.bench.place import Place, Unfit, compiled
from tests.bench.samples import Bench, Sample
from tests.bench.scenarios import SCENARIOS

REPEATS = 2
"""Times that a disturbed sample is taken again; the least disturbed one counts."""
AROUND_SECONDS = 1.2
"""That a sample takes beside its load where the machine is quiet."""
REST_AFTER = frozenset({"10m", "c5000", "streams64", "idle5000"})
"""Scenarios that leave connections behind; what closing them costs is not the next target's."""


class Wanted(NamedTuple):
    """What was asked for; empty `only` and `scenarios` mean what each target's row says."""

    only: frozenset[str]
    scenarios: tuple[str, ...]
    rounds: int
    seconds: float
    quiet_seconds: float
    minutes: float
    """That the run may take: on a busy machine the rest is taken without waiting and once, so that it ends in time."""

    def of(self, peer: peers.Peer) -> list[str]:
        """The scenarios of a target, in their order. An agent's are for those that rewrite: passing on is measured without."""
        asked = self.scenarios or peer.asked
        return [
            name
            for name, scenario in SCENARIOS.items()
            if name in asked and (peer.rewrites or not scenario.for_agents)
        ]


def run(wanted: Wanted, folder: Path, out: Path) -> list[Sample]:
    """All samples, each written to `out` as a line of JSON at once. Raises `Unfit` where there can be no run."""
    taken: list[Sample] = []
    until = time.monotonic() + wanted.minutes * 60
    place = origin.place(folder)
    with out.open("w") as file, origin.serving(place) as site, contextlib.ExitStack() as stack:

        def keep(sample: Sample) -> None:
            taken.append(sample)
            file.write(json.dumps(sample) + "\n")
            file.flush()
            print(_short(sample), flush=True)

        keep(report.machine())
        paced = _generator(folder, site, keep)
        bench = Bench(place, site, paced, wanted.seconds, wanted.quiet_seconds, taken)
        chosen = [peer for peer in peers.PEERS if not wanted.only or peer.name in wanted.only]
        targets = list(_ready(chosen, place, stack, keep))
        impossible = {one["scenario"] for one in taken if "left_out" in one}
        for sample in _rounds(targets, wanted, bench, impossible, until):
            keep(sample)
    return taken


def _generator(folder: Path, site: Sequence[int], keep: samples.Keep) -> str:
    """The generator of fixed rates, empty where it cannot be built; what then cannot be asked is said."""
    if len(site) < 2:
        keep({"target": "-", "scenario": "up1g", "left_out": "no C compiler for native/sink.c"})
    try:
        return compiled("paced", folder)
    except Unfit as why:
        keep({"target": "-", "scenario": "lat", "left_out": str(why)})
        return ""


def _ready(
    chosen: Sequence[peers.Peer], place: Place, stack: contextlib.ExitStack, keep: samples.Keep
) -> Iterator[peers.Running]:
    """Those that are installed and prove to be what the table says they are; the others are named and left out."""
    for peer in chosen:
        with contextlib.ExitStack() as trial:
            try:
                target = trial.enter_context(peers.running(peer, place))
                memory, proved = samples.started(target), proof.of(target, place)
            except (Unfit, OSError) as why:
                keep({"target": peer.name, "scenario": "start", "left_out": str(why)})
                continue
            stack.push(trial.pop_all())
        keep({**memory, "version": target.version, "comes_from": peer.comes_from})
        keep(proved)
        yield target


def _rounds(
    targets: Sequence[peers.Running], wanted: Wanted, bench: Bench, impossible: set[str], until: float
) -> Iterator[Sample]:
    plan = [
        (number, name, target)
        for number in range(wanted.rounds)
        for name in SCENARIOS
        if name not in impossible and not (number and SCENARIOS[name].once)
        for target in targets
        if name in wanted.of(target.peer)
    ]
    for at, (number, name, target) in enumerate(plan):
        needed = (len(plan) - at) * (wanted.seconds + AROUND_SECONDS)
        yield _cleanest(target, name, bench, until - needed) | {"round": number}
        if name in REST_AFTER:
            time.sleep(0.7)


def _cleanest(target: peers.Running, name: str, bench: Bench, patient_until: float) -> Sample:
    """The least disturbed of a few samples; the first at once where there is no time to be patient."""
    best: Sample = {}
    for _ in range(1 + REPEATS):
        patient = time.monotonic() < patient_until
        try:
            sample = samples.take(target, name, bench if patient else bench._replace(quiet_seconds=0.0))
        except OSError as error:
            return {"target": target.name, "scenario": name, "failed": str(error) or type(error).__name__}
        if not best or sample["others"] < best["others"]:
            best = sample
        if best["others"] <= DISTURBED or SCENARIOS[name].once or time.monotonic() > patient_until:
            break
    return best


def _short(sample: Sample) -> str:
    if "left_out" in sample:
        return f"left out: {sample['target']} {sample['scenario']}: {sample['left_out']}"
    shown = (
        f"{key} {value:.3f}" if isinstance(value, float) else f"{key} {value}"
        for key, value in sample.items()
    )
    return ", ".join(shown)


def names_unknown(wanted: Wanted) -> list[str]:
    """What was asked for and is not there."""
    known = {peer.name for peer in peers.PEERS} | set(SCENARIOS)
    return sorted({*wanted.only, *wanted.scenarios} - known)
