"""What a request costs: saywhy beside the proxies that are installed here, as CPU seconds per 10,000 requests.

    python tests/bench/bench.py [--only saywhy,nginx] [--scenarios 1k,404agent] [--rounds 3] [--seconds 4]

Load generator and site share the first core, each proxy has the last one to itself; all are started once and visited
in turn (A B C, A B C, ...), so that slow drift of the machine hits all alike. Never a timed test: nothing fails here.
The route: `documents` and `origin` make the site, `peers` start the proxies, `load` asks, `cost` reads /proc, `table`
writes Markdown. Samples and table land in tests/bench/results/.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import cost
import load
import origin
import peers
import table

RESULTS = Path(__file__).parent / "results"
AGENT = "Accept: application/problem+json"

SCENARIOS: dict[str, load.Scenario] = {
    "1k": load.Scenario("/1k", 64),
    "100k": load.Scenario("/100k", 64),
    "10m": load.Scenario("/10m", 64),
    "404": load.Scenario("/missing", 64),
    "503": load.Scenario("/down", 64),
    "1kagent": load.Scenario("/1k", 64, AGENT),
    "404agent": load.Scenario("/missing", 64, AGENT),
    "503agent": load.Scenario("/down", 64, AGENT),
    "60kagent": load.Scenario("/denied60k", 64, AGENT),
    "500kagent": load.Scenario("/oops500k", 64, AGENT),
    "c1000": load.Scenario("/1k", 1000),
}
RATE_SCENARIO = "lat"


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only", default="", help="names of targets, with commas; default: all that are installed"
    )
    parser.add_argument(
        "--scenarios", default="1k,404,404agent", help=f"of {', '.join([*SCENARIOS, RATE_SCENARIO])}"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=4, help="of load in one sample")
    parser.add_argument("--rate", type=float, default=500, help="requests a second of the scenario lat")
    parser.add_argument(
        "--quiet", type=float, default=6, help="seconds to wait for a quiet machine before a sample"
    )
    return parser.parse_args()


@contextlib.contextmanager
def started(chosen: Sequence[peers.Peer], place: peers.Place) -> Iterator[list[peers.Running]]:
    """Those of the chosen proxies that serve the site's page; the others are named and left out."""
    with contextlib.ExitStack() as stack:
        found = []
        for peer in chosen:
            try:
                running = stack.enter_context(peers.running(peer, place))
            except peers.Unfit as why:
                print(f"left out: {peer.name}: {why}", file=sys.stderr)
                continue
            found.append(running)
        yield found


def sample(
    target: peers.Running, scenario: str, options: argparse.Namespace, place: peers.Place
) -> dict[str, Any]:
    """One measurement: what was asked and answered, what it cost, and how much others used of the proxy's core."""
    cost.wait_for_quiet(place.load_core, options.quiet / 2)
    cost.wait_for_quiet(place.proxy_core, options.quiet)
    family = cost.family(target.pid)
    with cost.peak_memory(family) as peak:
        before, core, started_at = cost.cpu(family), cost.core_busy(place.proxy_core), time.monotonic()
        if scenario == RATE_SCENARIO:
            measured = load.at_rate(target.port, load.Scenario("/1k", 16), options.rate, options.seconds)
        else:
            measured = load.at_full(target.port, SCENARIOS[scenario], options.seconds, place.load_core)
        seconds, used = time.monotonic() - started_at, cost.cpu(family) - before
        others = (cost.core_busy(place.proxy_core) - core - used) / seconds
    return {
        "target": target.name, "scenario": scenario, **measured,
        "cpu10k": used / max(1, measured["requests"]) * 10_000,
        "utilisation": used / seconds, "others": max(0.0, others), "peak": peak(),
    }  # fmt: skip


def measure(
    targets: Sequence[peers.Running], options: argparse.Namespace, place: peers.Place, out: Path
) -> list[dict[str, Any]]:
    """All rounds; each sample is written down at once. A sample in which others used the core is taken again."""
    samples: list[dict[str, Any]] = []
    with out.open("w") as file:
        for target in targets:
            samples.append(
                {"target": target.name, "scenario": "idle", "peak": cost.memory(cost.family(target.pid))}
            )
            load.at_full(target.port, load.Scenario("/1k", 32), 1, place.load_core)  # warm
        for _ in range(options.rounds):
            for scenario in options.scenarios.split(","):
                for target in targets:
                    taken = sample(target, scenario, options, place)
                    if taken["others"] > table.DISTURBED:
                        taken = min(
                            taken, sample(target, scenario, options, place), key=lambda one: one["others"]
                        )
                    samples.append(taken)
                    file.write(json.dumps(taken) + "\n")
                    file.flush()
                    print(
                        {
                            name: round(value, 3) if isinstance(value, float) else value
                            for name, value in taken.items()
                        },
                        flush=True,
                    )
    return samples


def main() -> int:
    """Run it; exit status 2 where the machine has not what it takes."""
    options = arguments()
    unknown = set(options.scenarios.split(",")) - {*SCENARIOS, RATE_SCENARIO}
    if unknown:
        print(f"no such scenario: {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    wanted = [name for name in options.only.split(",") if name]
    chosen = [peer for peer in peers.PEERS if not wanted or peer.name in wanted]
    RESULTS.mkdir(exist_ok=True)
    stamp = time.strftime("%Y%m%d-%H%M%S")
    with tempfile.TemporaryDirectory(prefix="saywhy-bench-") as folder:
        try:
            place = origin.place(Path(folder))
            with origin.serving(place), started(chosen, place) as targets:
                samples = measure(targets, options, place, RESULTS / f"{stamp}.jsonl")
                versions = {target.name: target.version for target in targets}
        except peers.Unfit as why:
            print(why, file=sys.stderr)
            return 2
    text = table.markdown(samples, versions, load.generator())
    (RESULTS / f"{stamp}.md").write_text(text)
    print("\n" + text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
