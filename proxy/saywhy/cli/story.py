"""A trace as a page to read: before, why, after."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator

from saywhy.cli.output import Styled, lined
from saywhy.core.explain import Side, Trace
from saywhy.core.rules import Step

BODY_LINES = 16
LINE_LENGTH = 150

_OUTCOMES = {"matched": "bold green", "shadowed": "yellow", "stopped": "dim", "skipped": "dim"}
_DOORS = ("status", "method", "host", "path", "media", "size", "header", "cookie", "contains: none", "title")
"""How the cheap conditions begin that stop most rules. Those rules are counted by what stopped them; a rule that came
further is worth its line.
"""


def tell(trace: Trace, *, every: bool) -> None:
    """Print the trace; `every` names each rule that was tried, also those that a cheap condition stopped."""
    lined(_before(trace))
    lined(_why(trace, every=every))
    lined(_after(trace))


def _heading(word: str, note: str) -> Iterator[str]:
    yield Styled(f"{word}  {note}", "bold")


def _before(trace: Trace) -> Iterator[str]:
    yield from _heading("BEFORE", "what the site sent")
    yield from _side(trace.before, "red" if trace.verdict.action != "pass" else "")
    yield ""


def _after(trace: Trace) -> Iterator[str]:
    yield ""
    verdict = trace.verdict
    if verdict.action == "pass":
        yield from _heading("AFTER", "the same, byte for byte")
        return
    yield from _heading("AFTER", "what the caller gets")
    yield from _side(trace.after, "green", same_body=verdict.body is None)


def _side(side: Side, style: str, *, same_body: bool = False) -> Iterator[str]:
    yield Styled(f"  HTTP {side.status}", style)
    for name, value in side.fields:
        yield Styled(f"  {name}: {_cut(value)}", "dim")
    yield ""
    if same_body:
        yield Styled("  (the body as it was)", style)
        return
    lines = [line for line in _pretty(side.text).splitlines() if line.strip()]
    shown = lines if style == "green" else lines[:BODY_LINES]
    for line in shown:
        yield Styled(f"  {_cut(line)}", style)
    if len(lines) > len(shown):
        yield Styled(f"  ... {len(lines) - len(shown)} more lines", "dim")
    if not lines:
        yield Styled("  (no body)", "dim")


def _pretty(text: str) -> str:
    if text[:1] not in "{[":
        return text
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text


def _cut(line: str) -> str:
    return line if len(line) <= LINE_LENGTH else line[:LINE_LENGTH] + " ..."


def _why(trace: Trace, *, every: bool) -> Iterator[str]:
    yield from _heading("WHY", "step by step")
    steps_told = False
    for line in trace.lines():
        kind, _, rest = line.partition(": ")
        if kind.startswith("rule "):
            if not steps_told:
                yield from _rules(trace.steps, every=every)
                steps_told = True
            continue
        yield Styled(f"  {kind:<9} {rest}", _kind_style(kind, trace))


def _kind_style(kind: str, trace: Trace) -> str:
    if kind == "verdict":
        return "bold green" if trace.verdict.action != "pass" else "bold"
    return {"fault": "bold red", "shadow": "yellow", "redacted": "magenta"}.get(kind, "")


def _rules(steps: Iterable[Step], *, every: bool) -> Iterator[str]:
    doors: Counter[str] = Counter()
    for step in steps:
        stopped = step.outcome in ("stopped", "skipped")
        door = next((door for door in _DOORS if step.condition.startswith(door)), None)
        if stopped and door is not None and not every:
            doors[door.partition(":")[0]] += 1
            continue
        mark = {"matched": "+", "shadowed": "~"}.get(step.outcome, "-")
        because = f": {step.condition}" if step.condition else ""
        yield Styled(
            f"  rule      {mark} {step.rule} {step.outcome}{_cut(because)}", _OUTCOMES.get(step.outcome, "")
        )
    if doors:
        told = ", ".join(f"{door} {count}" for door, count in doors.most_common())
        yield Styled(
            f"  rule      - {doors.total()} more stopped at the door ({told}); --all names them", "dim"
        )
