"""What several tests of the edge stand on."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    """The reading and the writing end of a pipe."""
    ends = os.pipe()
    yield ends
    for end in ends:
        try:
            os.close(end)
        except OSError:
            pass
