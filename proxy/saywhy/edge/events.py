"""What the process says about itself (started, reloaded, refused, stopping): structlog on standard error. What is said
through the standard library's loggers, by the relay and by libraries, takes the same way and the same shape.

Exchanges are the journal's. Standard output carries nothing but exchanges, so that each line there has one shape.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal, TextIO

import structlog

from saywhy.edge.journal import Level


def style_for(wanted: Literal["auto", "json", "text"], stream: TextIO) -> Literal["json", "text"]:
    """auto: text where `stream` is a terminal."""
    if wanted != "auto":
        return wanted
    return "text" if stream.isatty() else "json"


def open_events(style: Literal["json", "text"], level: Level = "info", stream: TextIO | None = None) -> Any:
    """A logger for events of the process, bound to `stream` (standard error)."""
    out = sys.stderr if stream is None else stream
    drawn: tuple[Any, ...] = (
        (structlog.processors.format_exc_info, structlog.processors.JSONRenderer())
        if style == "json"
        else (structlog.dev.ConsoleRenderer(colors=out.isatty(), pad_event_to=0),)
    )
    return structlog.wrap_logger(
        structlog.PrintLogger(out),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
            *drawn,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        cache_logger_on_first_use=False,
    )


class _Passing(logging.Handler):
    """Turns a record of the standard library's into an event."""

    def __init__(self, events: Any) -> None:
        super().__init__()
        self._events = events

    def emit(self, record: logging.LogRecord) -> None:
        """See logging.Handler."""
        try:
            about = {} if record.name.startswith("saywhy") else {"logger": record.name}
            self._events.log(record.levelno, record.getMessage(), exc_info=record.exc_info or None, **about)
        except Exception:
            self.handleError(record)


@contextmanager
def overheard(events: Any) -> Iterator[None]:
    """While it lasts, every record of the standard library's loggers (warnings and worse, as they are set) is an event."""
    root, passing = logging.getLogger(), _Passing(events)
    root.addHandler(passing)
    try:
        yield
    finally:
        root.removeHandler(passing)
