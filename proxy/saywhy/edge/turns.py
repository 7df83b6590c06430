"""Whose turn it is to write to what several write to. A write of more than PIPE_BUF (4096) bytes to a pipe that is full
is torn apart by whoever else writes (pipe(7)), and with it a line: here a block of lines is written in one turn.

Threads of this process take turns by themselves: standard output and standard error are often one pipe. Processes do
after `share`, which their parent calls before it forks them.
"""

from __future__ import annotations

import fcntl
import os
import stat
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_threads: dict[int, threading.Lock] = {}
_file = -1
"""Its bytes are locked, one for each output: such locks (fcntl(2)) end with the process that holds them."""


def share() -> int:
    """From now on, take turns with the processes that are forked from this one. They need the file descriptor that is
    returned.
    """
    global _file
    if _file < 0:
        if hasattr(os, "memfd_create"):
            _file = os.memfd_create("saywhy turns")
        else:
            with tempfile.TemporaryFile() as file:
                _file = os.dup(file.fileno())
    return _file


# A thread of the parent's may have had its turn when this process was forked.
os.register_at_fork(after_in_child=_threads.clear)


def _place(fd: int) -> int:
    """A number for what is behind `fd`; -1 where writes are never torn apart, or nobody can tell."""
    try:
        about = os.fstat(fd)
    except OSError:
        return -1
    return about.st_ino & 0x3FFFFFFF if stat.S_ISFIFO(about.st_mode) or stat.S_ISSOCK(about.st_mode) else -1


@contextmanager
def turn(fd: int) -> Iterator[None]:
    """While it lasts, nobody else who takes turns writes to what is behind `fd`. Waits as long as a write would."""
    place = _place(fd)
    if place < 0:
        yield
        return
    with _threads.setdefault(place, threading.Lock()):
        if _file >= 0:
            fcntl.lockf(_file, fcntl.LOCK_EX, 1, place)
        try:
            yield
        finally:
            if _file >= 0:
                fcntl.lockf(_file, fcntl.LOCK_UN, 1, place)
