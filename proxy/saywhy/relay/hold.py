"""What is held back of an answer until it can be decided: the wire's bytes, and the content without its chunks."""

from __future__ import annotations

from typing import Final

from saywhy.relay.framing import Dechunk

_FRAMING_SLACK: Final = 16384
"""How much more than the content its chunk sizes and extensions may take before the hold counts as full."""


_FREE_BYTES: Final = 4096
"""So much anybody may keep uncounted, a request as browsers send it: whoever fills the budget shuts out nobody else."""


class Budget:
    """All bytes of one kind that one process keeps at one time."""

    __slots__ = ("_most", "held")

    def __init__(self, most: int) -> None:
        self._most = most
        self.held = 0

    def allows(self, size: int) -> bool:
        """Whether `size` more bytes may be held."""
        return self.held + size <= self._most


class Share:
    """What one connection or exchange keeps of a budget."""

    __slots__ = ("_budget", "_size")

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._size = 0

    def set(self, size: int) -> bool:
        """It is `size` bytes now; whether the budget allows that. 0 gives all of it back."""
        counted = max(0, size - _FREE_BYTES)
        budget = self._budget
        budget.held += counted - self._size
        self._size = counted
        return not counted or budget.allows(0)


class Hold:
    """One answer's body, held. `limit` counts content; `full` says that enough is there (or that no more may be);
    `until` is the loop's time at which what has come must do.
    """

    __slots__ = (
        "_budget",
        "_content",
        "_dechunk",
        "_limit",
        "_size",
        "_taken",
        "_wire",
        "full",
        "starved",
        "until",
    )

    def __init__(self, limit: int, chunked: bool, budget: Budget, until: float) -> None:
        self.until = until
        self._limit = limit
        self._budget = budget
        self._dechunk = Dechunk() if chunked else None
        # Not lists of pieces: a page that comes byte by byte would cost forty times what the budget counts.
        self._wire = bytearray()
        self._content = bytearray()
        self._size = 0
        self._taken = 0
        self.full = limit <= 0
        self.starved = False

    def add(self, piece: bytes) -> None:
        """One more segment of the body, framing included."""
        self._wire += piece
        cost = len(piece)
        if self._dechunk is not None:
            content = self._dechunk.feed(piece)
            self._content += content
            cost += len(content)
            self._size += len(content)
        else:
            self._size += len(piece)
        if not self._budget.allows(cost):
            self.full = self.starved = True
        self._budget.held += cost
        self._taken += cost
        if self._size >= self._limit or self._taken > 3 * self._limit + _FRAMING_SLACK:
            self.full = True

    def content(self) -> bytes:
        """The content so far, content-coded as on the wire."""
        return bytes(self._wire if self._dechunk is None else self._content)

    def wire(self) -> bytes:
        """The bytes so far, exactly as they came."""
        return bytes(self._wire)

    def release(self) -> None:
        """Give the budget back."""
        self._budget.held -= self._taken
        self._taken = 0
