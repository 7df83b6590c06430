"""The shared cases: planted secrets gone, harmless texts as they were."""

import gzip
import json
from pathlib import Path
from typing import Any

from saywhy.core.scrub import Scrubber

SCRUB = Scrubber()


def _rows(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt") as lines:
        return [json.loads(line) for line in lines]


def test_planted_secrets_are_gone(shared: Path) -> None:
    planted = [row for row in _rows(shared / "cases" / "error_secrets.jsonl.gz") if row["kind"] == "positive"]
    leaks = [
        row["id"]
        for row in planted
        if any(secret in SCRUB.clean(row["text"], limit=4000) for secret in row["secrets"])
    ]
    assert len(leaks) <= len(planted) * 0.03, leaks


def test_harmless_texts_are_kept(shared: Path) -> None:
    harmless = [
        row for row in _rows(shared / "cases" / "error_secrets.jsonl.gz") if row["kind"] == "negative"
    ]
    changed = [row["id"] for row in harmless if SCRUB.findings(row["text"])]
    assert len(changed) <= len(harmless) * 0.03, changed
