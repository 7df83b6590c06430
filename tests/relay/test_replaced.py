"""A site replaced under load: no GET fails where old and new overlap, no upload comes twice where the old one is killed."""

from __future__ import annotations

import asyncio

import pytest
from loopback import both_loops, relaying
from storm.replaced import Load, Replaceable, doubled_or_lost

# asyncio's server forgets sockets that it accepts while it closes.
pytestmark = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)

GENERATIONS = 5
MOST_GENERATIONS = 100
"""Until one is killed while an upload is under way, which on a busy machine takes luck."""
CALLERS = 16


@both_loops
async def test_overlapping_generations_lose_no_get() -> None:
    site = Replaceable("0", print)
    port = await site.listen(0)
    async with relaying(port, limits={"upstream_connections": CALLERS // 2}) as running:
        load = Load(running.port, "GET")
        asking = asyncio.create_task(load.run(CALLERS))
        for number in range(1, GENERATIONS):
            await asyncio.sleep(0.05)
            old, site = site, Replaceable(str(number), print)
            await site.listen(port)
            await old.end()
        await asyncio.sleep(0.05)
        load.over = True
        await asking
    site.kill()
    assert load.failed == {}
    assert len(load.sites) > 1


@pytest.mark.parametrize("method", ["POST", "PUT"])
@both_loops
async def test_no_upload_comes_twice_when_a_site_is_killed(method: str) -> None:
    recorded: list[str] = []
    site = Replaceable("0", recorded.append)
    port = await site.listen(0)
    async with relaying(port) as running:
        load = Load(running.port, method)
        asking = asyncio.create_task(load.run(CALLERS))
        number = 1
        while number < GENERATIONS or (not load.failed and number < MOST_GENERATIONS):
            await asyncio.sleep(0.05)
            old, site = site, Replaceable(str(number), recorded.append)
            await site.listen(port)
            old.kill()
            number += 1
        await asyncio.sleep(0.05)
        load.over = True
        await asking
    site.kill()
    assert doubled_or_lost(recorded, load) == []
    assert load.failed  # it was killed while it served
    assert len(load.sites) > 1
