"""The raw battery against a real `saywhy serve`: nothing that it calls a failure. Run it by hand, and through other
proxies, with `python -m tests.conformance`.
"""

from __future__ import annotations

from collections import Counter
from typing import Literal

import pytest
from battery.case import Case, Note, Seen, head
from battery.cases import CASES
from battery.run import Result
from battery.site import OK


@pytest.mark.parametrize("name", [case.name for case in CASES])
def test_case(results: dict[str, Result], name: str) -> None:
    assert results[name].word != "fail", str(results[name])


def test_nothing_strays(results: dict[str, Result]) -> None:
    """While cases ran in their lanes, nothing reached the site to which everything else leads."""
    assert results["nothing_strays"].word == "pass", str(results["nothing_strays"])


def test_names_are_unique() -> None:
    assert [name for name, count in Counter(case.name for case in CASES).items() if count > 1] == []


NONSENSE = (
    b"GET /smuggled HTTP/1.1\r\n\0: a\r\nHost: evil\r\nHost: evil\r\nContent-Length: 0\r\nContent-Length: 0\r\n"
    b"X-Hop: 1\r\nX-A: 1\r\nX-B: 1\r\nKeep-Alive: 1\r\nProxy-Connection: 1\r\nTE: gzip\r\nUpgrade: h2c\r\n\r\n"
)
SPOILT = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-A: \r\r\nX-B: \0\n\r\n\r\n"


def wrongs(case: Case) -> list[Seen]:
    """What proxies would show who do what none may."""
    sent = (case.send,) if isinstance(case.send, bytes) else case.send
    request = b"".join(step for step in sent if isinstance(step, bytes))
    played = b"".join(step for step in case.site.steps if isinstance(step, bytes))
    closed: Literal["", "eof"] = "" if case.site.end == "keep" else "eof"
    return [
        Seen(played, closed, (request,), case.methods),  # bytes through, as they came
        Seen(played, closed, (request * 2,), case.methods),  # twice
        Seen(OK, "", (), case.methods),  # a success of its own
        Seen(b"", "", (NONSENSE,), case.methods),  # nothing
        Seen(OK + b"bad", "eof", (NONSENSE,), case.methods),
        Seen(SPOILT, "eof", (NONSENSE,), case.methods),
        Seen(OK + OK, "", (), case.methods),
        Seen(head("Content-Length: 5") + b"hello", "", (), case.methods),
        Seen(head(f"Content-Length: {len(request)}") + request, "", (request,), case.methods),  # an echo
    ]


def judged_wrong(case: Case, seen: Seen) -> bool:
    """Whether the verdict on `seen` is no pass; to stumble over it is none either."""
    try:
        verdict = case.right(seen)
    except IndexError:
        return True
    return isinstance(verdict, Note) or not verdict


def test_every_verdict_can_fail() -> None:
    """Each case fails at least one of the proxies that do what none may."""
    toothless = [case.name for case in CASES if not any(judged_wrong(case, seen) for seen in wrongs(case))]
    assert toothless == []
