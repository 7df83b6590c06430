"""What became of one replayed response, and the sums over many."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from saywhy.cli.recordings import Recording
    from saywhy.cli.workbench import Judged


@dataclass(frozen=True, slots=True)
class Result:
    """One response: what was decided, and whether that is what somebody expected (None: nobody said)."""

    id: str
    action: str
    status: int
    original_status: int
    code: str | None
    field: str | None
    retry: str | None
    retry_after: int | None
    rule: str | None
    decided_by: str | None
    message: str | None
    recording: Recording
    seconds: float

    @classmethod
    def of(cls, recording: Recording, judged: Judged) -> Result:
        """The result of a verdict. A response that passed has no code, whatever was found in it."""
        verdict = judged.verdict
        touched = verdict is not None and verdict.action != "pass"
        error = (
            verdict.envelope.error
            if verdict is not None and verdict.envelope is not None and touched
            else None
        )
        return cls(
            id=recording.id,
            action=verdict.action if verdict is not None else "pass",
            status=verdict.status if verdict is not None else recording.head.response.status,
            original_status=recording.head.response.status,
            code=(verdict.code or None) if verdict is not None and touched else None,
            field=str(error.field) if error is not None and error.field is not None else None,
            retry=str(error.retry) if error is not None else None,
            retry_after=error.retry_after if error is not None else None,
            rule=verdict.rule if verdict is not None and touched else None,
            decided_by=verdict.decided_by if verdict is not None and touched else None,
            message=str(error.message) if error is not None else None,
            recording=recording,
            seconds=judged.seconds,
        )

    @property
    def right(self) -> bool | None:
        """Whether the expectation is met. None: there is none.

        A code below 400 counts only where the answer was rewritten or annotated; `code` is None where it passed, so
        the comparison says so by itself.
        """
        expected = self.recording.expectation
        if expected is None:
            return None
        if expected.code is None:
            return self.action == "pass"
        if self.original_status < 400 and self.action not in ("rewrite", "annotate"):
            return False
        return self.code == expected.code or self.code in expected.also

    @property
    def expected_text(self) -> str:
        """The expectation in words."""
        expected = self.recording.expectation
        if expected is None or expected.code is None:
            return "untouched"
        return " / ".join((expected.code, *expected.also))

    def line(self) -> dict[str, Any]:
        """The line of `replay --json`."""
        names = (
            "id",
            "action",
            "status",
            "code",
            "field",
            "retry",
            "retry_after",
            "rule",
            "decided_by",
            "message",
        )
        return {name: getattr(self, name) for name in names}


@dataclass(slots=True)
class Tally:
    """Right and wrong."""

    right: int = 0
    wrong: int = 0

    def add(self, *, right: bool) -> None:
        """Count one."""
        if right:
            self.right += 1
        else:
            self.wrong += 1

    @property
    def total(self) -> int:
        """Both."""
        return self.right + self.wrong

    @property
    def share(self) -> float:
        """Right ones, in percent."""
        return 100 * self.right / self.total if self.total else 0.0


@dataclass(slots=True)
class Scores:
    """The sums over a replay."""

    codes: Counter[str] = field(default_factory=Counter)
    actions: Counter[str] = field(default_factory=Counter)
    deciders: Counter[str] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    by_category: defaultdict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
    everything: Tally = field(default_factory=Tally)
    codes_expected: Tally = field(default_factory=Tally)
    fields_expected: Tally = field(default_factory=Tally)
    untouched: Tally = field(default_factory=Tally)
    untouched_rewritten: int = 0
    untouched_marked: int = 0
    misses: list[Result] = field(default_factory=list)
    seconds: float = 0.0
    total: int = 0

    def add(self, result: Result) -> None:
        """Count one result."""
        self.total += 1
        self.seconds += result.seconds
        self.codes[result.code or "(passed)"] += 1
        self.actions[result.action] += 1
        self.deciders[result.decided_by or "(passed)"] += 1
        if result.rule:
            self.rules[result.rule] += 1
        expected = result.recording.expectation
        if expected is None or result.right is None:
            return
        self.by_category[result.recording.category or "(none)"].add(right=result.right)
        self.everything.add(right=result.right)
        if not result.right:
            self.misses.append(result)
        if expected.code is None:
            self.untouched.add(right=result.right)
            self.untouched_rewritten += result.action == "rewrite"
            self.untouched_marked += result.action in ("annotate", "redact")
            return
        self.codes_expected.add(right=result.right)
        if expected.field is not None:
            self.fields_expected.add(right=result.field == expected.field)

    @property
    def judged(self) -> int:
        """How many had an expectation."""
        return self.everything.total

    @property
    def wrong(self) -> int:
        """How many expectations were not met."""
        return self.everything.wrong

    @property
    def milliseconds_each(self) -> float:
        """The mean time in the core, in milliseconds."""
        return 1000 * self.seconds / self.total if self.total else 0.0
