"""Signals while the process starts: a module of its own, for all others take a moment to import."""

from __future__ import annotations

import signal
import sys


def before_serving(process: int) -> None:
    """What signals do until the loop listens to them (`ending`). `process` is this one's number.

    SIGHUP would end it; what has changed in the files until then is seen by the first look at them. SIGTERM ends it,
    also as the first process of a container, which the kernel spares every signal that has no handler
    (pid_namespaces(7)).
    """
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    if process == 1:
        signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
