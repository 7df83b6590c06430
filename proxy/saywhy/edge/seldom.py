"""What is told once, and again after a while: a caller or a site that does the same wrong thing a thousand times a second
must not write a thousand lines.
"""

from __future__ import annotations

from time import monotonic
from typing import Final

AGAIN_SECONDS: Final = 600.0
"""Long enough for a log to stay readable, short enough for somebody who looks into it while it lasts."""


class Seldom:
    """Remembers what was told. The caller sees to it that the words are few."""

    def __init__(self) -> None:
        self._until: dict[str, float] = {}

    def due(self, word: str) -> bool:
        """Whether `word` is to be told now; from then on it is not, for ten minutes."""
        now = monotonic()
        if self._until.get(word, 0.0) > now:
            return False
        self._until[word] = now + AGAIN_SECONDS
        return True
