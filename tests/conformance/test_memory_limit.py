"""A hundred agents on large error pages at once, under an address limit of 256 MB; a thousand and worse: tests/soak."""

from __future__ import annotations

import asyncio
from pathlib import Path

from crowd import AGENT, LIMIT, Bystander, Watch, ask_all, fault_site, limited

AGENTS = 100


def test_a_hundred_agents_on_large_error_pages(tmp_path: Path) -> None:
    targets = [f"/good?status=500&bytes=500000&number={number}" for number in range(AGENTS)]
    with fault_site() as port, limited(port, tmp_path) as proxy:
        with Watch(proxy) as watch, Bystander(proxy.port) as bystander:
            assert asyncio.run(ask_all(proxy.port, targets, AGENT)) == {500: AGENTS}
        assert bystander.statuses.keys() <= {200, 404}
        assert watch.resident < LIMIT / 2
        assert watch.mapped() < LIMIT
        assert proxy.metric("saywhy_held_bytes") == 0
