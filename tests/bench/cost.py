"""What a process tree costs, read from /proc: CPU seconds, resident bytes, and who else is using a core."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
PROC = Path("/proc")


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat after the name, which may hold anything (proc(5): index 0 is field 3)."""
    return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()


def family(pid: int) -> list[int]:
    """The process and all that descend from it."""
    children: dict[int, list[int]] = {}
    for entry in PROC.iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                children.setdefault(int(_stat(int(entry.name))[1]), []).append(int(entry.name))
    found, waiting = [], [pid]
    while waiting:
        one = waiting.pop()
        found.append(one)
        waiting += children.get(one, [])
    return found


def cpu(pids: Sequence[int]) -> float:
    """User and system seconds that they have used."""
    ticks = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            ticks += sum(int(field) for field in _stat(pid)[11:13])
    return ticks / TICK


def memory(pids: Sequence[int]) -> float:
    """Resident megabytes (10^6) of them together; pages shared between them count twice."""
    pages = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            pages += int((PROC / str(pid) / "statm").read_text().split()[1])
    return pages * PAGE / 1e6


def settled_memory(pids: Sequence[int], seconds: float = 6, *, still: float = 0.7) -> float:
    """`memory` once it has not moved by 0.1 MB for `still` seconds; after `seconds` whatever it is then."""
    until, since, seen = time.monotonic() + seconds, time.monotonic(), memory(pids)
    while time.monotonic() < until and time.monotonic() - since < still:
        time.sleep(0.05)
        present = memory(pids)
        if abs(present - seen) > 0.1:
            since, seen = time.monotonic(), present
    return memory(pids)


@contextlib.contextmanager
def peak_memory(pids: Sequence[int]) -> Iterator[Callable[[], float]]:
    """Watches `memory` while the block runs; the function it gives tells the highest seen."""
    seen = [memory(pids)]
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.05):
            seen.append(memory(pids))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield lambda: max(seen)
    finally:
        over.set()
        watcher.join()


def cores_of(pids: Sequence[int]) -> set[int]:
    """The cores that any thread of them may run on."""
    allowed: set[int] = set()
    for pid in pids:
        for thread in (PROC / str(pid) / "task").iterdir():
            with contextlib.suppress(OSError):
                allowed |= os.sched_getaffinity(int(thread.name))
    return allowed


def core_busy(core: int) -> float:
    """Seconds that a core has spent on anybody's work, interrupts included."""
    for line in (PROC / "stat").read_text().splitlines():
        if line.startswith(f"cpu{core} "):
            user, nice, system, _idle, _wait, irq, softirq = map(int, line.split()[1:8])
            return (user + nice + system + irq + softirq) / TICK
    return 0.0


def wait_for_quiet(core: int, seconds: float, *, level: float = 0.1) -> bool:
    """Until nobody uses more than `level` of a core for 0.3 s, at most `seconds`; whether it became quiet."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        before = core_busy(core)
        time.sleep(0.3)
        if core_busy(core) - before < 0.3 * level:
            return True
    return False
