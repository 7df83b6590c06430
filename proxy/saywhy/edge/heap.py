"""What glibc keeps of memory that nobody uses any more. Elsewhere (musl, macOS) these calls do nothing.

Reading rules takes a few megabytes that are free again when the set stands, and a crowd of callers leaves some hundred
between those few objects that stay: left alone, a process that was full once looks full for good.
"""

from __future__ import annotations

import ctypes
from typing import Final

_M_ARENA_MAX: Final = -8  # malloc.h

WORTH_BYTES: Final = 16 * 1024 * 1024
"""Of freed memory, until giving it back is worth the milliseconds."""


def share_one_arena() -> None:
    """One heap for all threads. To be called before any thread is started.

    glibc gives each thread a heap of its own and reserves 64 MiB of addresses for it: seven threads, nearly all of
    them idle, made a process of 80 MB look like one of 400 MB to `ulimit -v`, and it could not start under 256 MB. Our
    threads allocate one at a time anyway, under the interpreter's lock.
    """
    mallopt = _function("mallopt")
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, 1)


def give_back() -> None:
    """Give the free pages of the heap back to the kernel; a millisecond or two."""
    trim = _function("malloc_trim")
    if trim is not None:
        trim(0)


class Tide:
    """Gives back what a burst has left: `look` is to be called now and then, and costs a tenth of a millisecond where
    nothing is to be done. What was free at one look alone is about to be used again.
    """

    def __init__(self) -> None:
        self._least = 0
        self._high = False

    def look(self) -> bool:
        """Whether so much became free since the last time, and was given back."""
        free = _free_bytes()
        # What was given back stays on glibc's list of what is free: what counts is how much more there is by now.
        self._least = min(self._least, free)
        was_high, self._high = self._high, free - self._least >= WORTH_BYTES
        if not (was_high and self._high):
            return False
        give_back()
        self._high = False
        self._least = _free_bytes()
        return True


class _Mallinfo2(ctypes.Structure):
    """mallinfo(3)."""

    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost",
    )]  # fmt: skip


def _free_bytes() -> int:
    """In the heap; 0 where nobody tells (before glibc 2.33)."""
    tell = _function("mallinfo2")
    if tell is None:
        return 0
    tell.restype = _Mallinfo2
    return int(tell().fordblks)


def _function(name: str) -> ctypes._NamedFuncPointer | None:
    try:
        return getattr(ctypes.CDLL(None), name, None)
    except (OSError, TypeError):  # there is no such thing as "this program's own symbols"
        return None
