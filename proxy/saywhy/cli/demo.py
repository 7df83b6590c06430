"""`saywhy demo`: a shop that fails in every way, the proxy before it, and a tour."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer
import uvloop

from saywhy.demo import tour


def demo(
    port: Annotated[
        int,
        typer.Option(
            metavar="PORT",
            min=0,
            max=65535,
            show_default=False,
            help="Where the proxy listens; a free port is taken where this one is not. (8080)",
        ),
    ] = 8080,
    once: Annotated[bool, typer.Option("--once", help="Print the tour and exit.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON a stop, then exit.")] = False,
) -> int:
    """A shop that fails in every way, the proxy before it, and a tour of before and after.

    Every answer shown came through the proxy just now. After the tour both keep serving, so that you can try.
    """
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(tour.run(port, once=once or as_json, as_json=as_json))
