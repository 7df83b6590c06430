"""A million exchanges between a real proxy and faults on both sides, and every answer at the caller that asked for it."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stage.serving import serving, wait_until

HARNESS = Path(__file__).resolve().parent.parent / "harness"
EXCHANGES = int(os.environ.get("SAYWHY_SOAK_EXCHANGES", "1000000"))
PROCESSES = 2
CALLERS = 120
"""In each process: together more than the connections that the proxy may open, so that exchanges wait for them too."""

CONNECTIONS = 64
SECONDS = 900


def start(module: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", module, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(HARNESS)}, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


@contextlib.contextmanager
def site() -> Iterator[int]:
    """The storm's site in a process of its own; its port."""
    with start("storm.site") as process:
        assert process.stdout is not None
        yield int(process.stdout.readline())
        process.terminate()


def asked(port: int) -> tuple[Counter[str], list[str]]:
    """What all callers saw: counts, and what must not be."""
    seen: Counter[str] = Counter()
    wrong: list[str] = []
    with contextlib.ExitStack() as stack:
        processes = [
            stack.enter_context(
                start("storm.callers", port, EXCHANGES // PROCESSES, number * CALLERS, CALLERS)
            )
            for number in range(PROCESSES)
        ]
        for process in processes:
            stack.callback(process.kill)
        for process in processes:
            report: dict[str, Any] = json.loads(process.communicate(timeout=SECONDS)[0])
            wrong += report.pop("wrong")
            seen.update(report)
    return seen, wrong


def test_a_million_exchanges_and_not_one_answer_at_the_wrong_caller(tmp_path: Path) -> None:
    settings = {"SAYWHY_LIMITS__UPSTREAM_CONNECTIONS": str(CONNECTIONS)}
    quiet = ["--log-level", "error"]
    with site() as port, serving(port, tmp_path, env=settings, arguments=quiet) as proxy:
        seen, wrong = asked(proxy.port)
        assert wait_until(lambda: proxy.metric("saywhy_inflight_exchanges") == 0)
        assert proxy.metric("saywhy_held_bytes") == 0
        memory = proxy.memory() >> 20
    print(dict(seen), f"{memory} MB")
    assert wrong == []
    assert seen["right"] >= EXCHANGES
    # It was a storm: sites hung up, callers left, pages were rewritten.
    assert min(seen[what] for what in ("torn", "failed", "rewritten", "mischief")) > EXCHANGES // 200, seen
    assert memory < 200
