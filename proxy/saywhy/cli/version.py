"""`saywhy version`."""

from __future__ import annotations

import platform
from importlib.metadata import version as version_of
from typing import Annotated

import typer

from saywhy.cli.output import emit

PARTS = ("aiohttp", "httptools", "uvloop", "google-re2", "lxml", "pydantic")
"""What matters when a bug is reported: who parses, who matches, who moves bytes."""


def version(as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False) -> None:
    """The version, and with --json also those of Python and of the libraries that matter in a bug report."""
    own = version_of("saywhy")
    if as_json:
        emit(
            {"saywhy": own, "python": platform.python_version(), **{part: version_of(part) for part in PARTS}}
        )
    else:
        print(f"saywhy {own}")
