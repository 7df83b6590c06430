"""The shared corpus: how many JSON and XML errors get the right code from the dialect, else from the status."""

import base64
import gzip
import json
from pathlib import Path

from saywhy.core import dialects, page
from saywhy.core.contract.statuses import code_for_status
from saywhy.core.model import Fields, Head, Request, Response

_FRAMING = ("content-encoding", "transfer-encoding", "content-length")


def test_structured_errors_of_the_corpus(shared: Path) -> None:
    right = named = fields = 0
    misses = []
    with gzip.open(shared / "corpus" / "corpus.jsonl.gz", "rt") as lines:
        rows = [json.loads(line) for line in lines]
    total = 0
    for row in rows:
        body = base64.b64decode(row["body_base64"]) if "body_base64" in row else row["body"].encode()
        section = Fields.of(
            {name: value for name, value in row["headers"].items() if name.lower() not in _FRAMING}
        )
        read = page.read(section, body)
        if read.kind not in ("json", "xml"):
            continue
        evidence = dialects.read(
            Head(Request(row.get("method", "GET")), Response(row["status"], section)), read
        )
        said = evidence.code if evidence else None
        code = said or (code_for_status(row["status"]) if row["status"] >= 400 else None)
        total += 1
        if code == row["expected_code"] or code in (row.get("also_acceptable") or []):
            right += 1
        else:
            misses.append(row["id"])
        if row["look_alike"] and row["expected_code"] is None:
            assert said is None, row["id"]
        if row.get("expected_field"):
            fields += 1
            named += evidence is not None and evidence.field == row["expected_field"]
    assert right >= total * 0.97, misses
    assert named >= fields * 0.9
