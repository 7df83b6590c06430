"""A bounded queue of lines before a file descriptor, and the thread that writes them: whoever logs never waits for whoever
reads. Both outputs have one: the journal on standard output, and all that is written to standard error while serving.
"""

from __future__ import annotations

import io
import os
import select
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr
from typing import TextIO

from saywhy.edge.turns import turn

FLUSH_BYTES = 65536
FLUSH_SECONDS = 1.0
BLOCK_LINES = 256
"""In one write: about 64 KiB, and no line of the journal has more than 3,000 bytes."""
WAITING_BYTES = 10_000_000
"""Of memory that waiting lines may take: some seconds of full load, long enough for a log collector that restarts."""
LINE_COST = 64
"""Bytes that a line takes besides its characters: the object's head and its place in the queue."""
CLOSE_SECONDS = 1.0


def json_gap(count: int) -> str:
    """What a log for machines says where lines are missing."""
    now = stamp(time.time())
    return f'{{"time":"{now}","level":"warning","event":"lines_dropped","message":"Lines of this log were dropped.","count":{count}}}\n'


def text_gap(count: int) -> str:
    """What a log for people says where lines are missing."""
    return f"({count} lines of this log were dropped)\n"


def stamp(seconds: float) -> str:
    """Unix time as every line of the log writes it: UTC, to the millisecond."""
    whole = int(seconds)
    return time.strftime("%Y-%m-%dT%H:%M:%S.", time.gmtime(whole)) + f"{int((seconds - whole) * 1000):03d}Z"


def coloured(fd: int) -> bool:
    """Whether colours may go to `fd`: a terminal, and nobody said no (https://no-color.org)."""
    try:
        return os.isatty(fd) and not os.environ.get("NO_COLOR")
    except OSError:
        return False


class Lines:
    """Writes lines to the file descriptor `fd` from a thread of its own.

    One thread puts. Flushed after 64 KiB, after a second, when `urgent`, and by `close`. `dropped` counts the lines that
    found the queue full or nobody reading; `gap` words the line that tells of them.
    """

    def __init__(self, fd: int, gap: Callable[[int], str], *, name: str) -> None:
        self._fd, self._gap = fd, gap
        # A deque's append and popleft are atomic: two threads share it without a lock on the hot path. For the same
        # reason each of the two sums has one thread that adds to it.
        self._waiting: deque[str] = deque()
        self._added = self._taken = 0
        self._unflushed = 0
        self._wake = threading.Event()
        self._ended = False
        self.dropped = 0
        self._reported = 0
        self._torn = False  # whether what was written last is half a line
        self._thread = threading.Thread(target=self._write_until_closed, name=name, daemon=True)
        self._thread.start()

    @property
    def full(self) -> bool:
        """Whether the next line would be dropped."""
        return self._added - self._taken >= WAITING_BYTES

    def put(self, line: str, *, urgent: bool = False) -> None:
        """Queue one line, its end included. Never blocks, never raises."""
        if self._added - self._taken >= WAITING_BYTES:
            self.dropped += 1
            return
        self._waiting.append(line)
        size = len(line)
        self._added += size + LINE_COST
        self._unflushed += size
        if urgent or self._unflushed >= FLUSH_BYTES:
            self._unflushed = 0
            self._wake.set()

    def close(self, timeout: float = CLOSE_SECONDS) -> None:
        """Write what waits, for at most `timeout` seconds: a reader who stalls must not keep the process alive."""
        self._ended = True
        self._wake.set()
        self._thread.join(timeout)

    def _write_until_closed(self) -> None:
        while not self._ended:
            self._wake.wait(FLUSH_SECONDS)
            self._wake.clear()
            self._flush()
        self._flush()

    def _flush(self) -> None:
        while self._waiting:
            take = self._waiting.popleft
            lines = [take() for _ in range(min(len(self._waiting), BLOCK_LINES))]
            block = "".join(lines)
            # While they are being written they take room, but only one block does.
            self._taken += len(block) + LINE_COST * len(lines)
            if self.dropped > self._reported:
                self._reported, missing = self.dropped, self.dropped - self._reported
                block += self._gap(missing)
            self._write(block.encode("utf-8", "backslashreplace"), len(lines))

    def _write(self, block: bytes, lines: int) -> None:
        if self._torn:
            block = b"\n" + block
        left = memoryview(block)
        try:
            with turn(self._fd):
                while left:
                    left = left[_write_some(self._fd, left) :]
            self._torn = False
        except OSError:
            # Nobody reads any more (a closed pipe) or the disk is full. The proxy's work goes on.
            missing = min(lines, bytes(left).count(b"\n"))  # there may be a gap's line among them
            self.dropped += missing
            self._reported += missing
            if written := len(block) - len(left):
                self._torn = block[written - 1] != ord("\n")


def _write_some(fd: int, data: memoryview) -> int:
    """As os.write, also where `fd` does not block: whoever shares a pipe with us can have set it so for all, as Node.js
    does.
    """
    while True:
        try:
            return os.write(fd, data)
        except BlockingIOError:
            writable = select.poll()
            writable.register(fd, select.POLLOUT)
            writable.poll()


class QueuedText(io.TextIOBase):
    """A text stream before `Lines`: what is written waits for its line's end, then goes into the queue. Any thread may
    write; none is kept waiting.
    """

    def __init__(self, stream: TextIO, gap: Callable[[int], str]) -> None:
        super().__init__()
        self._fd = stream.fileno()
        self._lines = Lines(self._fd, gap, name="events")
        self._turn = threading.Lock()
        self._begun = ""

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """See io.TextIOBase."""
        return "utf-8"

    def writable(self) -> bool:
        """See io.IOBase."""
        return True

    def fileno(self) -> int:
        """The descriptor that the thread writes to."""
        return self._fd

    def isatty(self) -> bool:
        """Whether that is a terminal."""
        return os.isatty(self._fd)

    def write(self, text: str) -> int:
        """See io.TextIOBase."""
        with self._turn:
            whole, end, self._begun = (self._begun + text).rpartition("\n")
            if len(self._begun) > WAITING_BYTES:
                self._begun = ""
            if end:
                self._lines.put(whole + end, urgent=True)
        return len(text)

    def finish(self, timeout: float = CLOSE_SECONDS) -> None:
        """Write what waits, for at most `timeout` seconds."""
        with self._turn:
            if self._begun:
                self._lines.put(self._begun + "\n")
                self._begun = ""
        self._lines.close(timeout)


@contextmanager
def queued_stderr(gap: Callable[[int], str] = json_gap) -> Iterator[None]:
    """While it lasts, whatever is written to sys.stderr (events, records of libraries, what Python itself has to say)
    goes through a queue: a pipe that nobody reads would stop the thread that writes to it for good.
    """
    try:
        queue = QueuedText(sys.stderr, gap)
    except (OSError, AttributeError):  # no file behind it: nothing there can stall
        yield
        return
    try:
        with redirect_stderr(queue):
            yield
    finally:
        queue.finish()
