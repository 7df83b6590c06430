"""A site replaced in a loop, under load, behind a real proxy: gracefully with the new one beside the old, and by a kill."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from stage.serving import serving
from storm.replaced import Load, doubled_or_lost

HARNESS = Path(__file__).resolve().parent.parent / "harness"
GENERATIONS = 20
CALLERS = 48
CONNECTIONS = 32
"""To the site: fewer than callers, so that dead ones are handed on too."""

SERVED_SECONDS = 0.3


class Generations:
    """The site's processes, one after the other, on one port."""

    def __init__(self, record: Path, errors: int, how: str) -> None:
        self.record = record
        self.errors = errors
        self.how = how
        self.port = 0
        self.started: list[asyncio.subprocess.Process] = []

    async def next(self) -> None:
        """Start one more, and wait until it listens."""
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "storm.replaced", str(self.port), str(self.record), self.how,
            env={"PYTHONPATH": str(HARNESS)}, stdout=subprocess.PIPE, stderr=self.errors,
        )  # fmt: skip
        self.started.append(process)
        assert process.stdout is not None
        self.port = int(await asyncio.wait_for(process.stdout.readline(), 20))

    async def stop(self) -> None:
        """End all that still run."""
        for process in self.started:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


@contextlib.asynccontextmanager
async def first(folder: Path, how: str = "kept") -> AsyncIterator[Generations]:
    with (folder / "sites.err").open("wb") as errors:
        generations = Generations(folder / "recorded", errors.fileno(), how)
        await generations.next()
        try:
            yield generations
        finally:
            await generations.stop()
    assert (folder / "sites.err").read_bytes() == b""


async def _replace(generations: Generations, load: Load, how: signal.Signals) -> None:
    asking = asyncio.create_task(load.run(CALLERS))
    for _ in range(GENERATIONS):
        old = generations.started[-1]
        await generations.next()
        await asyncio.sleep(SERVED_SECONDS)  # both serve
        old.send_signal(how)
        await asyncio.sleep(SERVED_SECONDS)
    load.over = True
    await asking


SETTINGS = {"SAYWHY_LIMITS__UPSTREAM_CONNECTIONS": str(CONNECTIONS)}


@pytest.mark.parametrize("how", ["kept", "once"])
async def test_no_get_fails_while_old_and_new_overlap(how: str, tmp_path: Path) -> None:
    """`once`: a connection for each request, so that many wait in the old one's queue when it goes."""
    async with first(tmp_path, how) as generations:
        with serving(generations.port, tmp_path, env=SETTINGS) as proxy:
            load = Load(proxy.port, "GET")
            await _replace(generations, load, signal.SIGTERM)
    print(len(load.answered), "GETs answered by", len(load.sites), "generations")
    assert load.failed == {}
    assert len(load.sites) > GENERATIONS // 2
    assert len(load.answered) > 20 * GENERATIONS


@pytest.mark.parametrize("method", ["POST", "PUT"])
async def test_no_upload_is_doubled_or_lost_when_the_site_is_killed(method: str, tmp_path: Path) -> None:
    async with first(tmp_path) as generations:
        with serving(generations.port, tmp_path, env=SETTINGS) as proxy:
            load = Load(proxy.port, method)
            await _replace(generations, load, signal.SIGKILL)
    recorded = generations.record.read_text().split()
    print(len(load.answered), method, "answered,", len(load.failed), "failed,", len(recorded), "recorded")
    assert doubled_or_lost(recorded, load) == []
    assert len(load.answered) > 20 * GENERATIONS
    assert 0 < len(load.failed) < GENERATIONS * CONNECTIONS * 2
