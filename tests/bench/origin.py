"""The site under all proxies: nginx with static documents on the load generator's core."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import documents
import peers


def place(folder: Path) -> peers.Place:
    """Where this run takes place. `Unfit` without nginx: nothing else here serves fast enough to measure a proxy by."""
    if not peers.program("nginx"):
        raise peers.Unfit("the benchmark needs nginx as the site (Debian package nginx-light)")
    cores = sorted(os.sched_getaffinity(0))
    folder.chmod(0o755)  # nginx's worker is another user where nginx was started by root
    return peers.Place(folder, peers.free_port(), cores[0], cores[-1])


@contextlib.contextmanager
def serving(where: peers.Place) -> Iterator[None]:
    """The site listens while the block runs; this process moves to its core."""
    os.sched_setaffinity(0, {where.load_core})
    documents.write(where.folder / "documents")
    config = peers.fill("origin.conf.in", where, where.site, DOCUMENTS=str(where.folder / "documents"))
    command = [peers.program("nginx"), "-e", str(where.folder / "origin.err"), "-c", str(config)]
    with peers.process(command, where.site, where.load_core, where.folder / "origin.out"):
        yield
