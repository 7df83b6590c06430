"""Lines before a reader who stalls: bounded in bytes, nobody waits, and what stalls is not waited for at the end."""

from __future__ import annotations

import io
import json
import os
import resource
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from typing import TextIO

import pytest

from saywhy.edge.events import open_events
from saywhy.edge.journal import Journal
from saywhy.edge.lines import WAITING_BYTES, Lines, coloured, json_gap, queued_stderr, text_gap


def test_what_waits_is_bounded_in_bytes_however_long_the_lines_are(pipe: tuple[int, int]) -> None:
    lines = Lines(pipe[1], json_gap, name="test")
    line = "x" * 2999 + "\n"
    for _ in range(3 * WAITING_BYTES // len(line)):
        lines.put(line)
    held = sum(map(len, lines._waiting))
    assert WAITING_BYTES * 0.8 < held < WAITING_BYTES
    assert lines.dropped > WAITING_BYTES // len(line)
    os.close(pipe[0])
    lines.close(5)


def test_lines_stay_whole_where_whoever_shares_the_pipe_made_it_not_block(pipe: tuple[int, int]) -> None:
    os.set_blocking(pipe[1], False)
    lines = Lines(pipe[1], json_gap, name="test")
    for number in range(2000):
        lines.put(f"{number} {'x' * 300}\n")
    ended = threading.Thread(target=lines.close, args=(10,))
    ended.start()
    with open(pipe[0], closefd=False) as read:
        came = [read.readline() for _ in range(2000)]
    ended.join()
    assert came == [f"{number} {'x' * 300}\n" for number in range(2000)]
    assert lines.dropped == 0


def test_a_full_disk_costs_lines_and_spoils_none_that_comes_after(tmp_path: Path) -> None:
    """A limit on a file's size stands for the disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    file = tmp_path / "log"
    with file.open("wb") as out:
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (1005, hard))
            lines = Lines(out.fileno(), json_gap, name="test")
            for _ in range(20):
                lines.put("x" * 99 + "\n", urgent=True)
            until = time.monotonic() + 10
            while lines.dropped < 10 and time.monotonic() < until:
                time.sleep(0.01)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        lines.put("y" * 99 + "\n")
        lines.close(5)
    assert lines.dropped == 10
    assert file.read_text().splitlines() == ["x" * 99] * 10 + ["x" * 5, "y" * 99]


def test_a_gap_has_the_shape_of_every_line() -> None:
    read = json.loads(json_gap(3))
    assert list(read) == ["time", "level", "event", "message", "count"]
    assert len(read["time"]) == len("2026-11-30T18:28:32.315Z")
    assert text_gap(3) == "(3 lines of this log were dropped)\n"


@contextmanager
def error_pipe(writer: int) -> Iterator[None]:
    """sys.stderr writes to `writer`. Set in the test itself: pytest sets its own between a fixture and the test."""
    with open(writer, "w", closefd=False) as stream, redirect_stderr(stream):
        yield


def test_standard_error_waits_for_no_reader(pipe: tuple[int, int]) -> None:
    started = time.monotonic()
    with error_pipe(pipe[1]), queued_stderr():
        events = open_events("json")
        for number in range(20_000):
            events.info("said", "Said.", number=number, text="x" * 100)
        print("a warning of Python's own", file=sys.stderr)
        assert time.monotonic() - started < 5
        ending = time.monotonic()
    assert time.monotonic() - ending < 4
    os.close(pipe[0])  # the thread's write fails now
    for one in threading.enumerate():
        if one.name == "events":
            one.join(5)
            assert not one.is_alive()


def test_standard_error_holds_every_line_whole_and_in_order(pipe: tuple[int, int]) -> None:
    before = sys.stderr
    read: list[bytes] = []
    draining = threading.Thread(
        target=lambda: read.extend(iter(lambda: os.read(pipe[0], 65536), b"")),
    )
    draining.start()
    with error_pipe(pipe[1]), queued_stderr():
        events = open_events("json")

        def say(word: str) -> None:
            for number in range(500):
                events.info("said", "Said.", word=word, number=number)

        threads = [threading.Thread(target=say, args=(word,)) for word in "abc"]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        sys.stderr.write("without an end")
    assert sys.stderr is before
    os.close(pipe[1])
    draining.join(10)
    *lines, last = b"".join(read).decode().splitlines()
    assert last == "without an end"
    told = [json.loads(line) for line in lines]
    assert [[one["number"] for one in told if one["word"] == word] for word in "abc"] == [
        list(range(500))
    ] * 3


def test_standard_error_without_a_file_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with queued_stderr():
        assert sys.stderr is stream


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """The two ends of a pseudo-terminal."""
    ends = os.openpty()
    yield ends
    for end in ends:
        os.close(end)


def test_colours_only_on_a_terminal_where_nobody_said_no(
    terminal: tuple[int, int], pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert coloured(terminal[1])
    assert not coloured(pipe[1])
    monkeypatch.setenv("NO_COLOR", "1")
    assert not coloured(terminal[1])


def test_events_in_text(terminal: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    def said(stream: TextIO) -> str:
        open_events("text", stream=stream).warning(
            "reload_refused", "reload refused", why="SIGHUP", problems=["a:1: b", "c\x1b[31m"]
        )
        stream.flush()
        return os.read(terminal[0], 65536).decode().replace("\r\n", "\n")

    monkeypatch.delenv("NO_COLOR", raising=False)
    with open(terminal[1], "w", closefd=False) as stream:
        drawn = said(stream)
        monkeypatch.setenv("NO_COLOR", "1")
        plain = said(stream)
    assert "\x1b[33mwarning\x1b[0m reload refused" in drawn
    clock, told = plain.split(" ", 1)
    assert len(clock) == len("12:00:00")
    assert told == "warning reload refused why=SIGHUP problems=a:1: b; c\\x1b[31m\n"


@pytest.mark.parametrize("no_color", ["", "1"])
def test_the_journal_in_text(
    terminal: tuple[int, int], pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch, no_color: str
) -> None:
    monkeypatch.setenv("NO_COLOR", no_color)
    assert Journal(pipe[1], style="text")._line._colours is False  # type: ignore[attr-defined]
    assert Journal(terminal[1], style="text")._line._colours is not bool(no_color)  # type: ignore[attr-defined]
