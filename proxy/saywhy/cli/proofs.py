"""One example of a rule put to the proof: is it answered by its rule, and with the envelope that is written down?"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from saywhy.cli.recordings import asking_for
from saywhy.cli.workbench import judge
from saywhy.core.model import Head, Verdict
from saywhy.core.normalize import Normalizer
from saywhy.core.policy import Policy, Routes
from saywhy.core.rules import Rulebook
from saywhy.core.scrub import Scrubber
from saywhy.edge.packs import Example

NOW = 1_767_225_600.0
"""2026-01-01T00:00:00Z: an example means the same whenever it runs."""

ACCEPT = "application/problem+json"


@dataclass(frozen=True, slots=True)
class Proof:
    """What came of one example. `problem` is empty where all is well; `got` is the envelope, None for look-alikes."""

    example: Example
    problem: str
    got: dict[str, Any] | None = None
    fixable: bool = False  # --update may write `got` down

    @property
    def ok(self) -> bool:
        """Whether all is well."""
        return not self.problem

    def diff(self) -> list[str]:
        """What differs, as the lines of a unified diff; empty where there is nothing to compare."""
        if not self.fixable or self.example.expected is None or self.got is None:
            return []
        name = self.example.expected_path.name
        lines = difflib.unified_diff(
            pretty(self.example.expected).splitlines(),
            pretty(self.got).splitlines(),
            f"{name} (expected)",
            "now",
            lineterm="",
            n=2,
        )
        return list(lines)

    def update(self) -> None:
        """Write the envelope of now beside the example."""
        if self.got is not None:
            self.example.expected_path.write_text(pretty(self.got), encoding="utf-8")


def pretty(value: Any) -> str:
    """JSON as the expected side is written."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def prove(book: Rulebook, found: Iterable[Example]) -> Iterable[Proof]:
    """Each example against its own pack alone: what another pack would say first is a question of order."""
    benches: dict[str, Normalizer] = {}
    for example in found:
        if example.pack not in benches:
            benches[example.pack] = Normalizer(book, Routes((Policy(packs=(example.pack,)),)), Scrubber())
        head = Head(asking_for(example.head.request, ACCEPT), example.head.response)
        verdict = judge(benches[example.pack], head, example.body, now=NOW).verdict
        yield _look_alike(example, verdict) if example.look_alike else _example(example, verdict)


def _answered(verdict: Verdict | None) -> set[str]:
    """Every rule that answered or, in shadow mode, would have."""
    if verdict is None:
        return set()
    return {*verdict.shadow_rules, *([verdict.rule] if verdict.rule else [])}


def _look_alike(example: Example, verdict: Verdict | None) -> Proof:
    wrong = _answered(verdict) & {example.rule} if example.rule else _answered(verdict)
    return Proof(example, f"is answered by {', '.join(sorted(wrong))}, and must not be" if wrong else "")


def _example(example: Example, verdict: Verdict | None) -> Proof:
    answered = _answered(verdict)
    if example.rule not in answered:
        instead = f"{', '.join(sorted(answered))} answers" if answered else "no rule does"
        return Proof(example, f"must be answered by {example.rule}, and {instead}")
    got = verdict.envelope.as_dict() if verdict is not None and verdict.envelope is not None else None
    if got is None:
        return Proof(example, "")
    if example.expected is None:
        return Proof(example, "has no expected envelope yet; --update writes it", got, fixable=True)
    return Proof(example, "" if got == example.expected else "gives another envelope", got, fixable=True)
