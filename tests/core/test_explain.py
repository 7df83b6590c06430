"""A trace tells the whole road, for every way in which it can end."""

from __future__ import annotations

import json
from typing import Any

import pytest

from saywhy.core.explain import Trace, explain
from saywhy.core.model import Evidence, Fields, Head, Request, Response
from saywhy.core.normalize import Normalizer
from saywhy.core.policy import Policy, Routes
from saywhy.core.rules import Match, Rulebook, Step

HTML = {"Content-Type": "text/html"}
PAGE = b"<title>All gone for today</title><p>Hello</p>"


class Marked(Rulebook):
    """A rulebook that tries two rules and lets the second win."""

    def match(
        self, head: Head, page: Any, *, packs: Any = None, origin: Any = None, note: Any = None
    ) -> Match:
        if origin != "shipped":
            return Match()
        if note:
            note(Step("shop/first", "stopped", "title holds none of the words"))
            note(Step("shop/second", "matched", ""))
        said = Evidence(decided_by="rule", rule="shop/second", code="out_of_stock", signals=("select",))
        return Match(said, ("shop/shadowed",))


def trace(
    status: int, body: bytes, sent: dict[str, str], by: Normalizer | None = None, headers: Any = HTML
) -> Trace:
    request = Request("GET", b"/", Fields.of({"Host": "shop.example", **sent}))
    return explain(
        by or Normalizer(Rulebook()), Head(request, Response(status, Fields.of(headers))), body, now=0
    )


def test_the_road_of_a_rewritten_page() -> None:
    found = trace(409, PAGE, {"Accept": "application/json"}, Normalizer(Marked()))
    lines = "\n".join(found.lines())
    assert "caller: an agent (accept): Accept names application/json" in lines
    assert "page: html, sent as text/html, titled 'All gone for today'" in lines
    assert "rule shop/first: stopped, title holds none of the words" in lines
    assert "rule shop/second: matched" in lines
    assert "evidence: rule shop/second; says out_of_stock; saw select" in lines
    assert "shadow: shop/shadowed would have matched" in lines
    assert found.lines()[-1] == "verdict: rewrite, out_of_stock by shop/second, status 409 -> 409"
    assert found.before.text == PAGE.decode()
    assert json.loads(found.after.text)["error"]["code"] == "out_of_stock"


def test_the_trace_as_data_is_json() -> None:
    document = json.loads(
        json.dumps(trace(409, PAGE, {"Accept": "application/json"}, Normalizer(Marked())).as_dict())
    )
    assert document["caller"]["by"] == "accept"
    assert document["rule"] == "shop/second"
    assert [step["outcome"] for step in document["rules"]] == ["stopped", "matched"]
    assert document["before"]["status"] == document["after"]["status"] == 409


ENDS = [
    (404, {}, {}, HTML, "verdict: pass, the caller is not an agent"),
    (200, {"Accept": "application/json"}, {}, HTML, "verdict: pass, a success that no rule wants to look at"),
    (404, {"Accept": "application/json"}, {"mode": "off"}, HTML, "verdict: pass, the route says so"),
    (404, {"Accept": "application/json"}, {"mode": "shadow"}, HTML, "verdict: pass, the route is in shadow mode; else rewrite, not_found by status"),
    (404, {"Accept": "application/json"}, {}, {"Content-Type": "text/event-stream"}, "verdict: pass, an event stream or a part of something is never held"),
]  # fmt: skip


@pytest.mark.parametrize(("status", "sent", "route", "headers", "end"), ENDS)
def test_how_it_ends(
    status: int, sent: dict[str, str], route: dict[str, Any], headers: Any, end: str
) -> None:
    found = trace(status, PAGE, sent, Normalizer(Rulebook(), Routes((Policy(**route),))), headers)
    assert found.lines()[-1] == end
    assert found.before.text == found.after.text == PAGE.decode()


def test_a_kept_body_says_why() -> None:
    found = trace(
        422,
        b'{"message": "No such colour here."}',
        {"Accept": "application/json"},
        headers={"Content-Type": "application/json"},
    )
    assert found.lines()[-1].endswith(
        "the body stays: the body is structured already, and an app may be reading it"
    )


def test_no_more_is_read_than_a_relay_would_hold() -> None:
    small = Normalizer(Rulebook(), hold_bytes=64)
    found = trace(404, PAGE + b"<p>late</p>" * 50, {"Accept": "application/json"}, small)
    assert found.before.text.count("late") < 5
    assert "cut" in found.page
