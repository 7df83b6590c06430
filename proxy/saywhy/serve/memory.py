"""The allocator, told what kind of process this is."""

from __future__ import annotations

import contextlib
import ctypes
from typing import Final

_ARENA_MAX: Final = -8
"""M_ARENA_MAX of mallopt(3)."""


def share_one_arena() -> None:
    """One heap for all threads, where the C library is glibc. Call it before the first thread starts.

    glibc gives each thread a heap of its own and reserves 64 MiB of addresses for it: seven threads, nearly all of
    them idle, made a process of 80 MB look like one of 400 MB to `ulimit -v`, and it could not start under 256 MB. Our
    threads allocate one at a time anyway, under the interpreter's lock.
    """
    with contextlib.suppress(AttributeError, OSError):  # musl, macOS: no such call, and no such heaps
        ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)
