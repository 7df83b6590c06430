"""What `explain` wants to know of one run and nobody else pays for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from saywhy.core.model import Evidence

if TYPE_CHECKING:
    from saywhy.core.page import Page
    from saywhy.core.rules import Step


@dataclass(slots=True)
class Record:
    """Filled while a run goes on: the page as read, every rule tried, the evidence in its order."""

    page: Page | None = None
    steps: list[Step] = field(default_factory=list)
    evidence: Sequence[Evidence] = ()
