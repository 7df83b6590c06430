"""`python -m tests.conformance [NAME ...] [--case WORD] [--show]`: the raw battery through saywhy and its peers.

NAME is saywhy, nginx, HAProxy or Apache; none: all that are installed. `--case` runs cases whose name holds WORD, `--show`
prints what was seen of every failure and note. Exit 1 where saywhy fails a case.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

_HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(_HERE), str(_HERE.parent / "harness")]


def main() -> int:
    """The command."""
    from battery.cases import CASES
    from battery.peers import PEERS
    from battery.run import Result, battery
    from battery.table import markdown

    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *PEERS], metavar="NAME")
    parser.add_argument("--case", default="")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    wanted = [PEERS[name] for name in options.names or PEERS]
    cases = [case for case in CASES if options.case in case.name]
    found: dict[str, list[Result]] = {}
    for peer in wanted:
        if peer.find() is None:
            continue
        with tempfile.TemporaryDirectory() as folder:
            Path(folder).chmod(0o777)  # nginx and httpd give up root, and must still get at their own files
            found[peer.name] = asyncio.run(
                battery(
                    cases,
                    lambda where, peer=peer, folder=folder: peer.start(where, Path(folder)),
                    lanes=peer.lanes,
                )
            )
    releases = {name: PEERS[name].release() for name in found}
    print(markdown(found, releases, [peer.name for peer in wanted if peer.name not in found]))
    if options.show:
        for name, results in found.items():
            print(
                *(f"\n{name}: {result}" for result in results if result.word != "pass" or options.case),
                sep="",
            )
    return int(any(result.word == "fail" for result in found.get("saywhy", ())))


if __name__ == "__main__":
    sys.exit(main())
