"""What a loop may wait for: `hurry` says what `normalize` says, or nothing where that would take long."""

import json

import pytest

from saywhy.core.model import Fields, Head, Request, Response
from saywhy.core.normalize import Normalizer
from saywhy.core.policy import Policy, Routes
from saywhy.edge.packs import load_rulebook, shipped_rules

NOW = 1_767_225_600.0
PROBLEM, JSON = "application/problem+json", "application/json"
FORM = "<form action='/login'><input type=password name=password></form>"
SMALL = "<html><title>Not found</title><body><h1>Not found</h1><p>captcha login</p></body></html>"
REPORT = {"errors": [{"field": f"f{number}", "message": "is not a number"} for number in range(400)]}
TRACED = {"error": "x", "stack": ["at a.b(c.java:12) "] * 800}

CASES = {
    # status, media, body, Accept, whether it is answered at once
    "a small page": (404, "text/html", SMALL, PROBLEM, True),
    "a large page without a question for its tree": (500, "text/html", SMALL + "<p>text</p>" * 5000, PROBLEM, True),
    "a large tree that rules ask about": (403, "text/html", SMALL + FORM * 600, PROBLEM, False),
    "a small tree that rules ask about": (403, "text/html", SMALL + FORM * 30, PROBLEM, True),
    "a success that rules ask about": (200, "text/html", SMALL + FORM * 600, PROBLEM, False),
    "a small report": (422, JSON, json.dumps({"message": "The name is missing."}), PROBLEM, True),
    "a report of hundreds of faults": (422, JSON, json.dumps(REPORT), PROBLEM, False),
    "a large body that is kept": (500, JSON, json.dumps(TRACED), JSON, False),
    "no body": (404, "text/html", "", PROBLEM, True),
}  # fmt: skip


@pytest.fixture(scope="module")
def normalizer() -> Normalizer:
    rulebook = load_rulebook([shipped_rules()])
    packs = tuple(dict.fromkeys(rule.pack for rule in rulebook.rules))
    return Normalizer(rulebook, Routes((Policy(packs=packs),)))


@pytest.mark.parametrize("name", CASES)
def test_it_says_the_same_or_nothing(normalizer: Normalizer, name: str) -> None:
    status, media, body, accept, at_once = CASES[name]
    head = Head(
        Request("GET", b"/", Fields.of({"accept": accept})),
        Response(status, Fields.of({"content-type": media})),
    )
    plan = normalizer.triage(head)
    assert plan.action != "pass"
    for _ in range(3):  # the third time the page is a familiar one
        quick = normalizer.hurry(head, plan, body.encode(), complete=True, now=NOW)
        whole = normalizer.normalize(head, plan, body.encode(), complete=True, now=NOW)
        assert quick == (whole if at_once else None)


def test_scrub_for_everyone_takes_its_time_too(normalizer: Normalizer) -> None:
    scrubbing = Normalizer(normalizer.rulebook, Routes((Policy(scrub="everyone"),)))
    head = Head(Request("GET", b"/", Fields()), Response(500, Fields.of({"content-type": "text/html"})))
    plan = scrubbing.triage(head)
    page = f"<p>{SMALL}</p><pre>at a.b(c.java:12)</pre>"
    for body, at_once in ((page, True), (page * 100, False)):
        quick = scrubbing.hurry(head, plan, body.encode(), complete=True, now=NOW)
        whole = scrubbing.normalize(head, plan, body.encode(), complete=True, now=NOW)
        assert whole.action == "redact"
        assert quick == (whole if at_once else None)


def test_what_passes_passes_at_once(normalizer: Normalizer) -> None:
    head = Head(Request("GET", b"/", Fields()), Response(500, Fields()))
    plan = normalizer.triage(head)
    verdict = normalizer.hurry(head, plan, b"", complete=True, now=NOW)
    assert verdict is not None
    assert (verdict.action, verdict.reason) == ("pass", "not_agent")
