"""Several processes on one pipe: whoever reads it finds whole lines, however full the pipe is."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator

import pytest

from saywhy.edge import turns
from saywhy.edge.lines import Lines, json_gap

WRITERS, LINES = 3, 3000


@pytest.fixture
def shared() -> Iterator[None]:
    """Turns are taken with the processes that are forked from this one."""
    number = turns.share()
    yield
    os.close(number)
    turns._file = -1


def write(fd: int, letter: str) -> None:
    """Many lines, in blocks of more than the pipe takes at once."""
    lines = Lines(fd, json_gap, name="writer")
    for number in range(LINES):
        lines.put(f"{letter * 200} {number}\n")
    lines.close(60)


def forked(fd: int, letter: str) -> int:
    """A process that writes."""
    number = os.fork()
    if number:
        return number
    try:
        write(fd, letter)
    finally:
        os._exit(0)


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_lines_of_several_processes_stay_whole(shared: None) -> None:
    reader, writer = os.pipe()
    # Another thread's turn at the moment of the fork is not the child's.
    with turns.turn(writer):
        children = [forked(writer, "abc"[place]) for place in range(WRITERS)]
    os.close(writer)
    came = bytearray()
    while piece := os.read(reader, 4096):
        came += piece
        if len(came) < 400_000:
            time.sleep(0.0005)  # slower than they write: the pipe is full
    os.close(reader)
    for one in children:
        os.waitpid(one, 0)
    lines = came.decode().splitlines()
    torn = [
        line for line in lines if len(set(line.partition(" ")[0])) != 1 or len(line.partition(" ")[0]) != 200
    ]
    assert torn == []
    assert len(lines) == WRITERS * LINES


def test_threads_take_turns_and_files_need_none(tmp_path: object) -> None:
    reader, writer = os.pipe()
    order: list[str] = []

    def second() -> None:
        with turns.turn(writer):
            order.append("second")

    with turns.turn(writer):
        thread = threading.Thread(target=second)
        thread.start()
        time.sleep(0.05)
        order.append("first")
        with turns.turn(os.open(os.devnull, os.O_WRONLY)), turns.turn(-1):
            order.append("elsewhere")
    thread.join(5)
    assert order == ["first", "elsewhere", "second"]
    os.close(reader)
    os.close(writer)
