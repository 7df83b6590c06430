"""Short cuts give what the long way gives: literals, offsets, the written envelope; and hostile input stays cheap."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from saywhy.core import dialects
from saywhy.core.contract.envelope import Envelope, Error, Evidence, FieldFault, Recovery
from saywhy.core.model import Fields, Head, Request, Response
from saywhy.core.normalize import Normalizer
from saywhy.core.page import read
from saywhy.core.rules.fold import fold, fold_literal
from saywhy.core.rules.prefilter import Finder, Prefilter
from saywhy.core.scrub import Scrubber
from saywhy.core.scrub.clean import Clean, Own
from saywhy.core.scrub.patterns import Pattern, Table
from saywhy.edge.packs import load_rulebook, shipped_rules

SCRUBBER = Scrubber()
HTML = Fields.of({"content-type": "text/html; charset=utf-8"})

# Literals


@given(
    st.lists(st.text("aboİ é日", min_size=1, max_size=4), min_size=1, max_size=6),
    st.text("aboİ é日xO", max_size=60),
)
def test_the_finder_sees_what_a_search_one_by_one_sees(literals: list[str], text: str) -> None:
    wanted = frozenset(fold_literal(one) for one in literals) - {""}
    assert Finder(wanted).found(fold(text)) == {one for one in wanted if one in fold(text)}


def test_only_the_literals_of_the_rules_in_the_mask_are_looked_for() -> None:
    book = Prefilter([[("text", "sold")], [("source", "cart")], [("anywhere", "gone")]], [None, None, None])
    page = read(HTML, b"<title>gone</title><p class=cart>sold, gone</p>")
    assert book.look(page, 0b001) == ({"sold"}, frozenset(), frozenset())
    assert book.look(page, 0b010) == (frozenset(), {"cart"}, frozenset())
    assert book.look(page, 0b111) == ({"sold", "gone"}, {"cart", "gone"}, frozenset())


def test_a_place_that_no_rule_asks_about_is_not_read() -> None:
    page = read(HTML, b"<title>x</title><p class=cart>y</p>")
    Prefilter([[("source", "cart")]], [None]).look(page, 1)
    assert page._text is not page.text


# Dialects of successes


SPOKEN = [
    {"contract_version": 1, "code": "not_found", "kind": "not_found"},
    {"error": {"code": "conflict", "message": "x", "retry": "no"}},
    {"data": {}, "errors": [{"message": "Nope", "path": ["a"]}]},
    {"data": {"cartCreate": {"userErrors": [{"field": ["a"], "message": "Is sold out"}]}}},
    {"ok": False, "error": "missing_scope"},
    {"error": {"code": "badtoken", "info": "Invalid CSRF token."}},
    {"resultCode": "Refused", "pspReference": "1"},
    {"status": "DECLINED", "card": "1"},
    {"retref": "1", "respstat": "C"},
    {"result": "failure", "messages": "<ul><li>Name is required</li></ul>"},
]


@pytest.mark.parametrize("value", SPOKEN)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_success_is_heard_in_every_dialect_that_speaks_there(value: dict[str, Any], method: str) -> None:
    """As the long way hears it; and with every letter escaped too (RFC 8259 7)."""
    head = Head(Request(method, b"/"), Response(200, Fields.of({"content-type": "application/json"})))
    plain = json.dumps(value)
    escaped = re.sub(
        r'"[^"]*"', lambda text: '"' + "".join(f"\\u{ord(sign):04x}" for sign in text[0][1:-1]) + '"', plain
    )
    assert json.loads(escaped) == value
    for text in (plain, escaped):
        page = read(head.response.fields, text.encode())
        longer = next(
            (found for name, dialect in dialects.DIALECTS if name in dialects._ON_SUCCESS and (found := dialect(head, page))), None
        )  # fmt: skip
        assert (dialects.read(head, page) is None) is (longer is None)
    if method == "POST" or "data" not in value:
        assert longer is not None


# Offsets


@pytest.mark.parametrize("before", ["", "é", "日本 ", "\U0001d400", "a" * 50 + "ü"])
def test_findings_have_the_offsets_of_characters(before: str) -> None:
    text = f"{before}key-000: välue1, ключ {before}key-111: välue2"
    expression = r"key-\d+: (\S+\d)"
    table = Table(
        [
            Pattern(
                "k", ("key-",), expression, (1,), lambda hit, whole: hit.start(1) == whole.index(hit.group(1))
            )
        ]
    )
    want = [match.span(1) for match in re2.finditer(expression, text)]
    assert [(span.start, span.end) for span in table.scan(text)] == want
    assert len(want) == 2


def test_what_follows_too_many_matches_is_one_finding() -> None:
    table = Table([Pattern("k", ("a",), "a")])
    assert [(span.start, span.end) for span in table.scan("é" + "a" * 9, most=3)] == [
        (1, 2),
        (2, 3),
        (3, 4),
        (4, 10),
    ]


# The envelope as written


def envelope(**members: Any) -> Envelope:
    recovery = Recovery(action=Own("do_not_retry"), same_arguments=Own("never"), guidance=Own("Stop."))
    always: dict[str, Any] = {
        "code": Own("not_found"), "message": Own("Nothing here."), "retry": Own("no"), "kind": Own("not_found"),
        "origin": Own("discovery"), "recovery": recovery, "side_effects": Own("none_expected"), "source": "site",
    }  # fmt: skip
    return Envelope(error=Error(**{**always, **members}))


@pytest.mark.parametrize(
    ("members", "written"),
    [
        ({}, {}),
        (
            {"retry_after": 30, "retry_after_source": "default"},
            {"retry_after": 30, "retry_after_source": "default"},
        ),
        ({"valid": (Clean("a"), Clean("b"))}, {"valid": ["a", "b"]}),
        ({"errors": (FieldFault(message=Clean("no")),)}, {"errors": [{"message": "no"}]}),
        ({"evidence": Evidence(rule=Clean("a/b"))}, {"evidence": {"rule": "a/b", "signals": []}}),
        ({"payment": {"a": (1, None, {"b": True})}}, {"payment": {"a": [1, None, {"b": True}]}}),
        (
            {"original": [{"x": None}], "alternatives": ({"y": "z"},)},
            {"original": [{"x": None}], "alternatives": [{"y": "z"}]},
        ),
    ],
)
def test_the_envelope_is_written_as_pydantic_would(members: dict[str, Any], written: dict[str, Any]) -> None:
    made = envelope(**members)
    error = made.as_dict()["error"]
    assert made.as_dict() == made.model_dump(mode="json")
    assert {name: error[name] for name in written} == written
    assert None not in [value for name, value in error.items() if name not in ("field", "retry_after")]


@pytest.mark.parametrize(
    ("members", "strange"),
    [
        ({}, {}),
        ({"retry_after": 30}, {}),
        ({"message": Clean("theirs")}, {"message": "theirs"}),
        ({"code": Clean("their_code"), "field": Clean("f")}, {"code": "their_code", "field": "f"}),
        ({"original": {"password": "x"}}, {"original": {"password": "x"}}),
        (
            {
                "recovery": Recovery(
                    action=Own("confirm"), same_arguments=Own("never"), guidance=Clean("theirs")
                )
            },
            {"recovery": {"guidance": "theirs"}},
        ),
    ],
)
def test_the_last_check_reads_all_that_is_not_constant(
    members: dict[str, Any], strange: dict[str, Any]
) -> None:
    assert envelope(**members).strange() == strange


def test_a_raw_text_is_refused_as_ever() -> None:
    with pytest.raises(ValidationError, match="must have passed scrub"):
        envelope(message="raw")


def test_what_is_known_clean_is_told_from_what_is_not() -> None:
    scrubber = Scrubber()
    for _ in range(2):
        assert scrubber.is_clean("shop.example has no page at this address.")
        assert not scrubber.is_clean("db.prod.internal has no page at this address.")
    for number in range(2000):
        scrubber.is_clean(f"host{number}.example")
    assert len(scrubber._known) <= 1000


# Pages made to cost: the bound is ten times what they take on an idle core

HOSTILE = {
    "nested": b"<div>" * 100_000,
    "nested inline": b"<b>x" * 60_000,
    "attribute": b'<a href="' + b"x" * 1_000_000 + b'">here</a>',
    "attributes": b"<a " + b"".join(b"a%d=1 " % number for number in range(20_000)) + b">here</a>",
    "dense": b"<p>a</p>" * 7600,
    "hidden": b"<p hidden>a</p>" * 4300,
    "styled": b'<p style="display:none">a</p>b' * 2100,
    "entities": b"&#1;<p>a" * 8000,
    "angles": b"<" * 65_000,
    "zero-width": b"<p>" + "\u200b".encode() * 21_800,
    "cookies": b"cookie: a=b;" * 5400,
    "literals": b"access denied captcha sold out maintenance " * 1500,
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("status", [403, 404, 503])
def test_a_hostile_page_is_bounded(name: str, status: int) -> None:
    by = Normalizer(load_rulebook([shipped_rules()]))
    head = Head(
        Request("GET", b"/", Fields.of({"accept": "application/json", "host": "a.example"})),
        Response(status, HTML),
    )
    started = time.thread_time()
    verdict = by.normalize(head, by.triage(head), HOSTILE[name][:262_144], complete=False, now=0)
    assert time.thread_time() - started < 0.5
    assert (verdict.action, verdict.fault) == ("rewrite", "")


@pytest.mark.parametrize(
    "text",
    ["\u200b" * 65_536, "cookie: a=b;" * 5461, "password=x " * 6000, "x.py:1 " * 9000, "A::B " * 13_000, "é\u200b " * 20_000,
     "authorization: bearer " * 3000, 'token "abcd1234" ' * 3800, "http://a:b@c " * 5000, "at a (b:1:1)\n" * 5000],
    ids=lambda text: text[:12],
)  # fmt: skip
def test_a_text_made_of_matches_is_bounded(text: str) -> None:
    started = time.thread_time()
    SCRUBBER.clean(text)
    SCRUBBER.findings(text)
    assert time.thread_time() - started < 0.5
