"""What glibc keeps of memory that nobody uses any more. Elsewhere (musl, macOS) both calls do nothing.

Reading rules takes a few megabytes that are free again when the set stands, and a reload takes them in another thread,
for which glibc opens an arena of its own: left alone, a process that reloaded a few times holds ten megabytes for nothing.
"""

from __future__ import annotations

import ctypes
from typing import Final

_M_ARENA_MAX: Final = -8  # malloc.h
_ARENAS: Final = 2
"""One for the loop, one for all threads beside it: they wait for each other's interpreter lock anyway."""


def limit_arenas() -> None:
    """Keep threads to few arenas. To be called before any thread is started."""
    mallopt = _function("mallopt")
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, _ARENAS)


def give_back() -> None:
    """Give the free pages of the heap back to the kernel; a millisecond or two."""
    trim = _function("malloc_trim")
    if trim is not None:
        trim(0)


def _function(name: str) -> ctypes._NamedFuncPointer | None:
    try:
        return getattr(ctypes.CDLL(None), name, None)
    except (OSError, TypeError):  # there is no such thing as "this program's own symbols"
        return None
