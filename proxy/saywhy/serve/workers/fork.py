"""A process out of this one, which has an event loop at work and a thread or two that wait for lines to write."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Collection

FAILED = 70
"""Exit status of a child in which something went wrong that nobody foresaw (sysexits.h: EX_SOFTWARE)."""

_NOT_FOR_CHILDREN = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
"""A terminal and systemd send these to all processes of a group at once. The parent gets them too, and gives orders."""


def fork(live: Callable[[], int], keep: Collection[int]) -> int:
    """The number of a child that lives `live` and exits with what that returns. Of this process's files it has standard
    streams and `keep` alone. Raises OSError where the system has no room for a process.
    """
    # Until the child has handlers of its own, a signal to it would be written into the loop of this process.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        with warnings.catch_warnings():
            # Python warns of threads: one that has a lock at this moment has it for ever in the child. Ours write to
            # standard error, whose lock is made anew (edge.turns), or wait for work.
            warnings.simplefilter("ignore", DeprecationWarning)
            number = os.fork()
        if number:
            return number
        _be_a_child(live, keep)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    raise AssertionError("a child does not come back")


def _be_a_child(live: Callable[[], int], keep: Collection[int]) -> None:
    status = FAILED
    try:
        _forget_the_parent(keep)
        status = live()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else FAILED
    except BaseException:
        os.write(2, traceback.format_exc().encode())
    finally:
        # Not sys.exit: the parent's frames are below, with their own ideas of what is to be done at the end.
        os._exit(status)


def _forget_the_parent(keep: Collection[int]) -> None:
    """Its loop, signals, logging, and files: above all its ends of other workers' channels, which would keep those from
    noticing that the parent is gone.
    """
    asyncio._set_running_loop(None)
    signal.set_wakeup_fd(-1)
    for one in _NOT_FOR_CHILDREN:
        signal.signal(one, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    logging.getLogger().handlers.clear()
    if sys.__stderr__ is not None:
        sys.stderr = sys.__stderr__
    for number in _open_files():
        if number > 2 and number not in keep:
            try:
                os.close(number)
            except OSError:  # the listing's own
                pass
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _open_files() -> list[int]:
    for folder in ("/proc/self/fd", "/dev/fd"):
        try:
            return [int(name) for name in os.listdir(folder)]
        except OSError:
            continue
    return list(range(3, 1024))


def how_it_ended(status: int) -> str:
    """A waitpid status in words: `exit status 3`, `signal SIGKILL`."""
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return f"exit status {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"
