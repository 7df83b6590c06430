"""The three standard streams, as a process may find them at its start and leave them at its end."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

WITHOUT_OUTPUT = ("serve", "healthcheck")
"""Commands that do what they are for without a line on standard output."""


def open_closed() -> tuple[str, ...]:
    """Put /dev/null where a standard stream is closed (`<&-`, `>&-`), and give the names of those that were.

    The next file that is opened would take the number of a closed one: libuv takes it for the terminal then and aborts
    when it is closed, and what is printed would go into it.
    """
    closed = []
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            # The lowest free number is this one: those below are open by now.
            os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(number, "w" if number else "r", closefd=False))
            closed.append(name)
    return tuple(closed)


def nowhere_to_write(words: Sequence[str], closed: Sequence[str]) -> bool:
    """Whether the command of `words` has something to say and standard output was closed."""
    named = next((word for word in words if not word.startswith("-")), None)
    return "stdout" in closed and named not in WITHOUT_OUTPUT


def let_go() -> None:
    """The reader of standard output (head, less) has what it wanted: nothing more may be flushed to it."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
