"""What the process says about itself (started, reloaded, refused, stopping), on standard error. What is said through the
standard library's loggers, by the relay and by libraries, takes the same way and the same shape.

Each has a word that never changes (`event`, for alerts), a sentence for people (`message`), and what the sentence says as
members of their own.

Exchanges are the journal's. Standard output carries nothing but exchanges, so that each line there has one shape; the
members that both have (time, level) come first and look the same in both.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal, TextIO

from saywhy.edge.journal import LEVELS, Level
from saywhy.edge.lines import coloured, stamp

Style = Literal["json", "text"]

_COLOURS = {"info": "32", "warning": "33", "error": "31"}


def style_for(wanted: Literal["auto", "json", "text"], stream: TextIO) -> Style:
    """auto: text where `stream` is a terminal."""
    if wanted != "auto":
        return wanted
    return "text" if stream.isatty() else "json"


class Events:
    """Writes one line an event, as JSON or as text: its word, its sentence, and what belongs to it. `always` are members of
    each: which worker speaks.
    """

    def __init__(self, style: Style, level: Level, stream: TextIO, always: dict[str, Any]) -> None:
        self._style, self._least, self._out = style, LEVELS[level], stream
        self._colours = style == "text" and _coloured(stream)
        self._always = always

    def info(self, event: str, message: str, **about: Any) -> None:
        """What went as it should."""
        self._say("info", event, message, about)

    def warning(self, event: str, message: str, **about: Any) -> None:
        """What somebody may want to mend."""
        self._say("warning", event, message, about)

    def error(self, event: str, message: str, **about: Any) -> None:
        """What somebody must mend."""
        self._say("error", event, message, about)

    def passed_on(self, level: Level, event: str, message: str, trace: str, **about: Any) -> None:
        """A record of a logger's, with the trace of its exception where it has one."""
        self._say(level, event, message, {**about, "exception": trace} if trace else about)

    def _say(self, level: Level, event: str, message: str, about: dict[str, Any]) -> None:
        if LEVELS[level] < self._least:
            return
        now = time.time()
        about = {**about, **self._always}
        line = (
            json.dumps(
                {"time": stamp(now), "level": level, "event": event, "message": message, **about},
                default=str,
                separators=(",", ":"),
            )
            if self._style == "json"
            else self._text(now, level, message, about)
        )
        self._out.write(f"{line}\n")
        self._out.flush()

    def _text(self, now: float, level: Level, message: str, about: dict[str, Any]) -> str:
        clock = time.strftime("%H:%M:%S", time.localtime(now))
        trace = str(about.get("exception", ""))
        shown = {key: _shown(value) for key, value in about.items() if key != "exception"}
        told = "".join(f" {key}={value}" for key, value in shown.items() if not _says(message, value))
        if self._colours:
            clock, told = f"\x1b[2m{clock}\x1b[0m", f"\x1b[2m{told}\x1b[0m" if told else ""
            level_word = f"\x1b[{_COLOURS[level]}m{level}\x1b[0m"
        else:
            level_word = level
        return f"{clock} {level_word} {_plain(message)}{told}" + "".join(
            f"\n    {_plain(line)}" for line in trace.splitlines()
        )


def _coloured(stream: TextIO) -> bool:
    try:
        return coloured(stream.fileno())
    except OSError:  # a stream without a file is no terminal
        return False


def _plain(text: str) -> str:
    """`text` without a control character: a file's name or a caller's word must not draw on a terminal."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def _says(message: str, value: str) -> bool:
    """Whether people have read `value` in the sentence already."""
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", message) is not None


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(_plain(f"{key} {one}") for key, one in value.items())
    if isinstance(value, list | tuple):
        return "; ".join(_plain(str(one)) for one in value)
    return _plain(str(value))


def open_events(style: Style, level: Level = "info", stream: TextIO | None = None, **always: Any) -> Events:
    """The events of the process, written to `stream` (standard error), with the members `always` in each."""
    return Events(style, level, sys.stderr if stream is None else stream, always)


def named(event: str, **about: Any) -> dict[str, Any]:
    """What a logger's call takes as `extra`, to be the event of this word with these members."""
    return {"event": event, "about": about}


class _Passing(logging.Handler):
    """Turns a record of the standard library's into an event."""

    def __init__(self, events: Events) -> None:
        super().__init__()
        self._events = events

    def emit(self, record: logging.LogRecord) -> None:
        """See logging.Handler."""
        try:
            about = {} if record.name.startswith("saywhy") else {"logger": record.name}
            about |= getattr(record, "about", {})
            event = getattr(record, "event", "logged")
            level: Level = "error" if record.levelno >= 40 else "warning" if record.levelno >= 30 else "info"
            trace = "".join(traceback.format_exception(*record.exc_info)) if record.exc_info else ""
            self._events.passed_on(level, event, record.getMessage(), trace, **about)
        except Exception:
            self.handleError(record)


@contextmanager
def overheard(events: Events) -> Iterator[None]:
    """While it lasts, every record of the standard library's loggers (warnings and worse, as they are set; of ours what
    went well, too) is an event.
    """
    root, passing = logging.getLogger(), _Passing(events)
    logging.getLogger("saywhy").setLevel(logging.INFO)
    root.addHandler(passing)
    try:
        yield
    finally:
        root.removeHandler(passing)
