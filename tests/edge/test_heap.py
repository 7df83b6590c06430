"""Memory that is free again goes back, and what a proxy never uses is not loaded."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from saywhy.edge.heap import WORTH_BYTES, Tide, give_back

GLIBC = platform.libc_ver()[0] == "glibc"  # elsewhere both calls do nothing, and must do that
_PIECE, _PIECES = 1000, 20_000  # past pymalloc's 512 bytes, so that glibc holds them


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_free_pages_under_a_used_one_go_back_to_the_kernel() -> None:
    pieces = [bytes(_PIECE) for _ in range(_PIECES)]
    last = pieces[-1]
    full = _resident()
    pieces.clear()
    give_back()
    assert not GLIBC or _resident() < full - _PIECE * _PIECES / 2
    assert len(last) == _PIECE


def test_a_burst_is_given_back_once() -> None:
    tide = Tide()
    for _ in range(2):
        tide.look()
    pieces = [bytes(_PIECE) for _ in range(2 * WORTH_BYTES // _PIECE)]
    last = pieces[-1]
    assert not tide.look(), "nothing is free"
    full = _resident()
    pieces.clear()
    assert not tide.look(), "it may be wanted again at once"
    assert tide.look() == GLIBC
    assert not GLIBC or _resident() < full - WORTH_BYTES
    assert [tide.look() for _ in range(3)] == [False] * 3, "what was given back is given back"
    assert len(last) == _PIECE


SCRIPTS = {
    "a proxy does not load what guesses at charsets": """
import sys
from saywhy.cli.serve import _absent
with _absent("charset_normalizer"):
    import bs4
import saywhy.serve.app
assert "charset_normalizer" not in sys.modules
""",
    "a page that lies about its charset still loads it": """
import sys
from saywhy.cli.serve import _absent
with _absent("charset_normalizer"):
    import bs4
from saywhy.core.page.charset import to_text
text = "Die Größe der Überraschung war für alle spürbar, und das Ärgernis blieb. " * 20
assert to_text(text.encode("cp1252"), "text/html; charset=utf-8").text == text
assert "charset_normalizer" in sys.modules
""",
    "one arena": """
import platform, threading
from pathlib import Path
from saywhy.edge.heap import share_one_arena
share_one_arena()
held, ready, go = [], threading.Barrier(9), threading.Event()
def take():
    held.append([bytes(1000) for _ in range(100)])
    ready.wait()
    go.wait()
threads = [threading.Thread(target=take) for _ in range(8)]
for one in threads: one.start()
ready.wait()
# An arena is 64 MB of addresses, at their multiple (malloc.c, HEAP_MAX_SIZE): what is used, then what is kept for it.
maps = [line.split() for line in Path("/proc/self/maps").read_text().splitlines()]
spans = [[int(end, 16) for end in one[0].split("-")] + [one[1]] for one in maps]
arenas = sum(
    1 for (start, _, used), (_, end, kept) in zip(spans, spans[1:])
    if start % (64 << 20) == 0 and end - start == 64 << 20 and (used, kept) == ("rw-p", "---p")
)
go.set()
assert arenas == 0 or platform.libc_ver()[0] != "glibc", arenas
""",
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_in_a_process_of_its_own(name: str) -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPTS[name]], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
