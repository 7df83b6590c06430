"""Inputs in files: `corpus/<target>.txt` holds what reached some branch first, `corpus/<target>.finds.txt` what broke a
promise once, with a line above that says which. One input a line, written as Python writes bytes.
"""

from __future__ import annotations

import ast
import asyncio
import importlib
from collections.abc import Iterable
from pathlib import Path

FOLDER = Path(__file__).parent / "corpus"
TARGETS = ("requests", "responses", "both", "chunks")
MOST_INPUTS = 300
"""In one target's file, the shortest first: enough for nearly all branches, and a second of `make test`."""

MOST_BYTES = 640


def read(path: Path) -> list[bytes]:
    """The inputs of one file; comments begin with #."""
    lines = path.read_text().splitlines() if path.exists() else []
    return [ast.literal_eval(line) for line in lines if line and not line.startswith("#")]


def inputs(target: str) -> list[bytes]:
    """All that is kept for a target: seeds, corpus, finds."""
    seeds = importlib.import_module(f"tests.fuzz.{target}").seeds()
    return [*seeds, *read(FOLDER / f"{target}.txt"), *read(FOLDER / f"{target}.finds.txt")]


def write(target: str, found: Iterable[bytes]) -> int:
    """Keep the shortest of `found`; how many."""
    kept = sorted({one for one in found if len(one) <= MOST_BYTES}, key=lambda one: (len(one), one))[
        :MOST_INPUTS
    ]
    (FOLDER / f"{target}.txt").write_text("".join(f"{one!r}\n" for one in kept))
    return len(kept)


def replay(target: str, data: bytes) -> None:
    """One input against one target; raises what it finds."""
    check = importlib.import_module(f"tests.fuzz.{target}").check
    try:
        check(data)
    finally:
        asyncio._set_running_loop(None)
