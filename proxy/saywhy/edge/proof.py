"""The examples of an operator's packs, tried before a set goes into force: each must be answered by the rule that it is
named after, and no look-alike by its.

Only the choice of the rule is tried here, which is what a new set may break; `saywhy test` compares whole envelopes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from saywhy.core import page
from saywhy.core.rules import Rulebook
from saywhy.edge.examples import Example, ExampleError, examples
from saywhy.edge.rulefaults import RuleError, whole


def disproved(rulebook: Rulebook, folders: Iterable[Path]) -> Iterator[RuleError]:
    """A row for each example in `folders` that `rulebook` answers otherwise than its name says."""
    loaded = {rule.name for rule in rulebook.rules}
    for folder in folders:
        try:
            found = examples(folder)
        except ExampleError as unreadable:
            yield RuleError(str(folder), 0, "", "examples", str(unreadable), "mend it, or remove it")
            continue
        for example in found:
            if not example.rule or example.rule in loaded:
                yield from _tried(rulebook, example)


def _tried(rulebook: Rulebook, example: Example) -> Iterator[RuleError]:
    read = page.read(example.head.response.fields, example.body)
    # The pack alone: what another pack would have said first is a question of order and not of this rule.
    match = rulebook.match(example.head, read, packs=(example.pack,))
    answered = {*match.shadowed, *([match.evidence.rule] if match.evidence and match.evidence.rule else [])}
    if not example.look_alike and example.rule not in answered:
        got = f"{', '.join(sorted(answered))} answers" if answered else "no rule answers"
        remedy = "widen the rule, or correct the example; `saywhy explain` on the file says why"
        yield whole(example.path, f"is an example of {example.rule}, and {got}", remedy)
    wrong = answered & {example.rule} if example.rule else answered
    if example.look_alike and wrong:
        yield whole(
            example.path, f"is a look-alike, and {', '.join(sorted(wrong))} answers", "narrow the rule"
        )
