"""Bytes in segments: the first two bytes of an input choose where they are cut."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise


def cut(data: bytes) -> tuple[bytes, list[bytes]]:
    """What is behind the first two bytes, whole and in segments; few cuts are more likely than many."""
    if len(data) < 3:
        return b"", []
    chance = random.Random(data[:2])
    wire = data[2:]
    places = {chance.randrange(1, len(wire) + 1) for _ in range(chance.choice((0, 1, 2, 3, 8, 40)))}
    edges = [0, *sorted(places - {len(wire)}), len(wire)]
    return wire, [wire[a:b] for a, b in pairwise(edges)]


def seeded(wires: Iterator[bytes] | list[bytes]) -> Iterator[bytes]:
    """Inputs of whole messages, each in two cuts."""
    for number, wire in enumerate(wires):
        for start in (number, number + 9000):
            yield start.to_bytes(2, "big") + wire
