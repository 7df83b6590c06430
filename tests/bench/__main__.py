"""What a request costs: saywhy beside the proxies that are installed here, as CPU seconds per 10,000 requests.

    make bench                                        the whole, under 15 minutes, into tests/bench/RESULTS.md
    make bench ARGS="--quick"                         3 minutes, to see roughly
    make bench ARGS="--only saywhy,nginx --scenarios 1k,404agent"

What is not installed is left out, by name; `make bench-peers` fetches what PyPI has. Never a timed test: nothing fails
here. The route: `documents` and `origin` make the site, `peers` start the proxies (`configs`), `proof` looks whether they
do what the table says of them, `run` visits them in rounds, `samples` asks (`load`, `streams`, `native`) and reads /proc
(`cost`); `figures`, `bars`, `table` and `report` are pure and make Markdown, `publish` puts a part of it into README.
Samples and tables of all runs are kept in tests/bench/results/.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import tempfile
import time
from pathlib import Path

from tests.bench import report
from tests.bench.place import HERE, Unfit
from tests.bench.publish import RESULTS
from tests.bench.run import Wanted, names_unknown, run
from tests.bench.scenarios import SCENARIOS

KEPT = HERE / "results"
ROUNDS = 3
QUICK = ("1k", "100k", "404", "404agent", "lat")


def arguments() -> argparse.Namespace:
    """The command line."""
    rows = "\n".join(f"  {name:10} {scenario.about}" for name, scenario in SCENARIOS.items())
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench", description=__doc__, epilog=f"scenarios:\n{rows}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--only", default="", help="names of targets, with commas; all that are installed")
    parser.add_argument(
        "--scenarios", default="", help="names, with commas; for each target what its row says"
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--seconds", type=int, default=2, help="of load in one sample")
    parser.add_argument(
        "--quiet", type=float, default=4, help="seconds to wait for a quiet core before a sample"
    )
    parser.add_argument(
        "--minutes", type=float, default=14, help="after which nothing is waited for or repeated"
    )
    parser.add_argument("--quick", action="store_true", help=f"one round of {', '.join(QUICK)}")
    parser.add_argument(
        "--again", nargs="+", type=Path, metavar="FILE",
        help="no run: RESULTS.md of the samples of earlier ones, results/*.jsonl",
    )  # fmt: skip
    return parser.parse_args()


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def main() -> int:
    """Run it; exit status 2 where a name is unknown or the machine has not what it takes."""
    options = arguments()
    if options.again:
        samples = [json.loads(line) for file in options.again for line in file.read_text().splitlines()]
        RESULTS.write_text(report.markdown(samples, "make bench"))
        return 0
    scenarios = _words(options.scenarios) or (QUICK if options.quick else ())
    rounds, minutes = (1, 2.5) if options.quick else (options.rounds, options.minutes)
    only = frozenset(_words(options.only))
    wanted = Wanted(only, scenarios, rounds, options.seconds, options.quiet, minutes)
    if unknown := names_unknown(wanted):
        print(f"no such target or scenario: {', '.join(unknown)} (--help has the scenarios)", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends what was started, as an interrupt does
    KEPT.mkdir(exist_ok=True)
    stamp = time.strftime("%Y%m%d-%H%M%S")
    lines = KEPT / f"{stamp}.jsonl"
    with tempfile.TemporaryDirectory(prefix="saywhy-bench-") as folder:
        try:
            samples = run(wanted, Path(folder), lines)
        except Unfit as why:
            print(why, file=sys.stderr)
            return 2
    given = " ".join(sys.argv[1:])
    text = report.markdown(samples, f'make bench ARGS="{given}"' if given else "make bench")
    (KEPT / f"{stamp}.md").write_text(text)
    print("\n" + text)
    if (
        not (wanted.only or wanted.scenarios) and rounds >= ROUNDS
    ):  # a part of the whole is no result to quote
        RESULTS.write_text(text)
        print(f"Written to {RESULTS}; python -m tests.bench.publish puts its figures into README.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
