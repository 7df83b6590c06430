"""What the process says about itself (started, reloaded, refused, stopping): structlog on standard error.

Exchanges are the journal's. Standard output carries nothing but exchanges, so that each line there has one shape.
"""

from __future__ import annotations

import sys
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
    drawn = (
        structlog.processors.JSONRenderer()
        if style == "json"
        else structlog.dev.ConsoleRenderer(colors=out.isatty(), pad_event_to=0)
    )
    return structlog.wrap_logger(
        structlog.PrintLogger(out),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
            drawn,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        cache_logger_on_first_use=False,
    )
