"""Signals that come before anything listens to them."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

STARTING = "from saywhy.serve.starting import before_serving as b; b(%d); print(1, flush=True); import time; time.sleep(20)"


@pytest.mark.parametrize(("process", "status"), [(1, 128 + signal.SIGTERM), (2, -signal.SIGTERM)])
def test_hanging_up_is_survived_and_terminating_is_not(process: int, status: int) -> None:
    with subprocess.Popen([sys.executable, "-c", STARTING % process], stdout=subprocess.PIPE) as starting:
        assert starting.stdout is not None
        assert starting.stdout.readline() == b"1\n"
        starting.send_signal(signal.SIGHUP)
        starting.send_signal(signal.SIGTERM)
        assert starting.wait(10) == status
