"""The shared corpus through the whole core: how many errors of real software and real sites get the right code, and
that no page which only looks like an error is touched.
"""

import base64
import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from saywhy.core.model import Fields, Head, Request, Response, Verdict
from saywhy.core.normalize import Normalizer
from saywhy.core.policy import Policy, Routes
from saywhy.core.scrub import Scrubber
from saywhy.edge.packs import load_rulebook, shipped_rules

NOW = 1_767_225_600.0
_FRAMING = frozenset({"content-encoding", "transfer-encoding", "content-length"})

Judged = list[tuple[dict[str, Any], Verdict | None]]


def head_and_body(row: dict[str, Any]) -> tuple[Head, bytes]:
    """A record as the exchange it came from; a body that was stored as text is UTF-8 whatever its charset was."""
    is_text = "body_base64" not in row
    body = row["body"].encode() if is_text else base64.b64decode(row["body_base64"])
    pairs: list[tuple[str, str]] = []
    for field, values in row["headers"].items():
        for value in values if isinstance(values, list) else [values]:
            if field.lower() == "content-type" and is_text:
                value = f"{value.partition(';')[0]}; charset=utf-8"
            if field.lower() not in _FRAMING:
                pairs.append((field, str(value)))
    asked = Fields.of({"accept": "application/problem+json"})
    return Head(
        Request(row.get("method") or "GET", b"/", asked), Response(row["status"], Fields.of(pairs))
    ), body


@pytest.fixture(scope="module")
def judged(shared: Path) -> Judged:
    rulebook = load_rulebook([shipped_rules()])
    packs = tuple(dict.fromkeys(rule.pack for rule in rulebook.rules))
    normalizer = Normalizer(rulebook, Routes((Policy(packs=packs),)), Scrubber())
    found: Judged = []
    with gzip.open(shared / "corpus" / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            head, body = head_and_body(row)
            plan = normalizer.triage(head)
            verdict = (
                None
                if plan.action == "pass"
                else normalizer.normalize(head, plan, body, complete=True, now=NOW)
            )
            found.append((row, verdict))
    return found


def is_right(row: dict[str, Any], verdict: Verdict | None) -> bool:
    """A code counts where it reached the agent: in a rewritten answer, or in the fields of an annotated one."""
    if verdict is None or verdict.action == "pass":
        return False
    return verdict.code in {row["expected_code"], *(row.get("also_acceptable") or ())}


def test_the_right_code(judged: Judged) -> None:
    expected = [(row, verdict) for row, verdict in judged if row["expected_code"] is not None]
    misses = [row["id"] for row, verdict in expected if not is_right(row, verdict)]
    assert len(expected) > 500
    assert len(misses) <= 0.02 * len(expected), misses


def test_the_right_code_in_every_category(judged: Judged) -> None:
    total: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for row, verdict in judged:
        if row["expected_code"] is not None:
            total[row["category"]] += 1
            right[row["category"]] += is_right(row, verdict)
    shares = {category: right[category] / total[category] for category in total}
    assert {category: share for category, share in shares.items() if share < 0.95} == {}


def test_look_alikes_are_left_alone(judged: Judged) -> None:
    untouched = [(row, verdict) for row, verdict in judged if row["expected_code"] is None]
    touched = [
        (row["id"], verdict.rule)
        for row, verdict in untouched
        if verdict is not None and verdict.action != "pass"
    ]
    assert len(untouched) > 50
    assert touched == []


def test_a_look_alike_with_an_error_status_keeps_the_code_of_its_status(judged: Judged, shared: Path) -> None:
    """The pages of the look-alikes once more, as the pages of errors: their scripts, tables and forms say nothing."""
    rulebook = load_rulebook([shipped_rules()])
    packs = tuple(dict.fromkeys(rule.pack for rule in rulebook.rules))
    normalizer = Normalizer(rulebook, Routes((Policy(packs=packs),)), Scrubber())
    wrong = []
    for row, _ in judged:
        if row["expected_code"] is not None or not row["look_alike"]:
            continue
        head, body = head_and_body(row)
        for status in (401, 403, 404, 429, 503):
            failed = Head(head.request, Response(status, head.response.fields))
            verdict = normalizer.normalize(failed, normalizer.triage(failed), body, complete=True, now=NOW)
            if verdict.decided_by == "rule":
                wrong.append((row["id"], status, verdict.rule))
    assert wrong == []


def test_every_answer_has_a_message(judged: Judged) -> None:
    silent = [
        row["id"]
        for row, verdict in judged
        if verdict is not None and verdict.envelope is not None and len(verdict.envelope.error.message) < 4
    ]
    assert silent == []
