"""What 1,000 rules cost over 10, when an agent's error page is read and rewritten (PROXY: under 1.3 times).

    python tests/bench/rules_cost.py [--rounds 9] [--pages 300]

By hand, and never a timed test. No socket: the core alone is asked, so that the figure is the worst that a proxy can show
(what moves bytes costs the same with any number of rules). Both books are asked in turn, and the least of all rounds
counts, since others on the machine only ever add. The rules are of four kinds, in the proportions of the shipped packs,
with phrases that no page holds; once they name the statuses they are about, as nearly all shipped ones do, and once not.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import documents
import yaml

from saywhy.core.model import Fields, Head, Request, Response
from saywhy.core.normalize import Normalizer
from saywhy.edge.packs import load_rulebook

FEW, MANY = 10, 1000
STATUSES = (400, 401, 403, 404, 409, 410, 422, 429, 500, 503)
ASKED = Request("GET", b"/missing", Fields([(b"Host", b"shop.example"), (b"Accept", b"application/json")]))


def rules(count: int, *, status: bool) -> Iterator[dict[str, object]]:
    """`count` rules, the same in every run: of ten, five look for phrases, two for a title, two for a field, one for an
    element behind a word of the source.
    """
    chance = random.Random(11)

    def phrase() -> str:
        return " ".join("".join(chance.choices("aeioulmnrst", k=chance.randint(4, 9))) for _ in range(3))

    for number in range(count):
        when: dict[str, object] = {}
        if status:
            when["status"] = chance.sample(STATUSES, 2)
        kind = number % 10
        if kind < 5:
            when |= {
                "media": "html",
                "contains": {"any": [phrase(), phrase()], "in": "source" if kind == 0 else "text"},
            }
        elif kind < 7:
            when |= {"media": "html", "title": {"any": [phrase()]}}
        elif kind < 9:
            when["header"] = {f"x-vendor-{number}": {"is": "block"}}
        else:
            when |= {
                "media": "html",
                "contains": {"any": [phrase()], "in": "source"},
                "select": {"css": f".wall-{number} > form"},
            }
        yield {"id": f"rule-{number}", "about": "Never holds.", "when": when, "then": {"code": "not_allowed"}}


def normalizer(count: int, *, status: bool) -> Normalizer:
    """A core with `count` rules and nothing else."""
    with tempfile.TemporaryDirectory(prefix="saywhy-rules-") as folder:
        pack = Path(folder) / "many"
        pack.mkdir()
        text = {"pack": "many", "about": "Made for a measurement.", "rules": [*rules(count, status=status)]}
        (pack / "rules.yaml").write_text(yaml.safe_dump(text))
        return Normalizer(load_rulebook([Path(folder)]))


def rewriting(core: Normalizer, body: bytes) -> Callable[[], None]:
    """One agent's 404, from both heads to the envelope."""
    came = [(b"Server", b"nginx"), (b"Content-Type", b"text/html"), (b"Content-Length", b"%d" % len(body))]

    def once() -> None:
        head = Head(
            Request(ASKED.method, ASKED.target, Fields(ASKED.fields.lines)), Response(404, Fields(came))
        )
        verdict = core.normalize(head, core.triage(head), body, complete=True, now=0.0)
        assert verdict.code == "not_found", verdict.code

    return once


def seconds(work: Callable[[], None], pages: int) -> float:
    """CPU seconds of one page, over `pages` of them."""
    start = time.process_time()
    for _ in range(pages):
        work()
    return (time.process_time() - start) / pages


def main() -> int:
    """Measure both kinds of book and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--pages", type=int, default=300, help="in one sample")
    options = parser.parse_args()
    body = documents.error_page(8192, "404 - Page not found", "Sorry, this page does not exist or has moved.")
    print(
        f"| rules | {FEW}: us a page | {MANY}: us a page | times | median of rounds |\n|---|---|---|---|---|"
    )
    for name, status in (("that name statuses", True), ("on any status", False)):
        few, many = (rewriting(normalizer(count, status=status), body) for count in (FEW, MANY))
        for work in (few, many):
            seconds(work, options.pages)  # what is made on first use
        rounds = [(seconds(few, options.pages), seconds(many, options.pages)) for _ in range(options.rounds)]
        least = [min(column) * 1e6 for column in zip(*rounds, strict=True)]
        middle = statistics.median(after / before for before, after in rounds)
        print(f"| {name} | {least[0]:.0f} | {least[1]:.0f} | {least[1] / least[0]:.2f} | {middle:.2f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
