"""A worker that does nothing any more: the kernel deals callers to it, and no probe notices."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from stage.callers import CURL, request
from stage.scripted import ScriptedSite, page
from stage.serving import serving, wait_until
from stage.wire import ask

SECONDS = 60
"""It takes 35 until the parent is sure."""


def test_a_worker_that_is_stuck_is_replaced(tmp_path: Path) -> None:
    with (
        ScriptedSite({"/bread": page("200 OK", b"bread")}) as bakery,
        serving(bakery.port, tmp_path, arguments=["--workers", "2"]) as proxy,
    ):
        number = proxy.process.pid
        children = Path(f"/proc/{number}/task/{number}/children")
        stuck = children.read_text().split()[1]
        os.kill(int(stuck), signal.SIGSTOP)
        assert wait_until(lambda: proxy.metric("saywhy_worker_crashes_total") == 1, SECONDS)
        assert wait_until(lambda: proxy.metric("saywhy_workers") == 2)
        assert stuck not in children.read_text().split()
        for _ in range(20):
            assert ask(proxy.port, request(proxy.port, "/bread", CURL)).status == 200
        assert any(event.get("event") == "worker_stuck" for event in proxy.log())
