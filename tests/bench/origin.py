"""The site under all proxies: nginx with static documents on the core of who asks, and the sink of uploads."""

from __future__ import annotations

import contextlib
import os
import re
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.bench import documents
from tests.bench.place import Place, Unfit, compiled, fill, free_port, process, program


class Seen(NamedTuple):
    """What the site has seen so far."""

    connections: int
    requests: int


def place(folder: Path) -> Place:
    """Where this run takes place. `Unfit` without nginx: nothing else here serves fast enough to measure a proxy by."""
    if not program("nginx"):
        raise Unfit("the benchmark needs nginx as the site (Debian package nginx-light)")
    if not program("wrk"):
        raise Unfit("the benchmark needs wrk to ask (Debian package wrk)")
    folder.chmod(0o755)  # nginx's worker is another user where nginx was started by root
    return Place(folder, free_port(), free_port(), tuple(sorted(os.sched_getaffinity(0))))


@contextlib.contextmanager
def serving(where: Place) -> Iterator[list[int]]:
    """The site listens while the block runs, and this process is on its core; the site's process ids."""
    os.sched_setaffinity(0, {where.load_core})
    documents.write(where.folder / "documents")
    config = fill("origin.conf.in", where, where.site, DOCUMENTS=str(where.folder / "documents"))
    command = [program("nginx"), "-e", str(where.folder / "origin.err"), "-c", str(config)]
    core = {where.load_core}
    with contextlib.ExitStack() as stack:
        pids = [stack.enter_context(process(command, where.site, core, where.log("origin")))]
        with contextlib.suppress(Unfit):  # without a compiler; the scenario that needs it says so
            sink = [compiled("sink", where.folder), str(where.sink)]
            pids.append(stack.enter_context(process(sink, where.sink, core, where.log("sink"))))
        yield pids


def seen(where: Place) -> Seen:
    """What the site counts (nginx's stub_status), this question included."""
    with urllib.request.urlopen(f"http://127.0.0.1:{where.site}/status", timeout=10) as answer:
        accepted, _handled, requests = map(
            int, re.findall(r"^ (\d+) (\d+) (\d+)", answer.read().decode(), re.M)[0]
        )
    return Seen(accepted, requests)
