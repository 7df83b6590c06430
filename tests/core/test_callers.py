"""Who is taken for what: the shared vectors, then the cases that they leave open."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saywhy.core.callers import accept, browser, identify, may_be_agent, signature, useragent
from saywhy.core.model import Fields, Request
from saywhy.core.policy import Policy

SIGNED = {
    "Signature-Input": 'sig1=("@authority");created=1735689600;keyid="k";tag="web-bot-auth"',
    "Signature": "sig1=:AAAA:",
}
CHROME = (
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36"
)
MARKS = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Dest": "empty"}


def _request(headers: Any) -> Request:
    return Request(fields=Fields.of(headers))


def _raw(headers: dict[str, str]) -> bytes:
    return (
        b"GET / HTTP/1.1\r\n"
        + b"".join(f"{name}: {value}\r\n".encode() for name, value in headers.items())
        + b"\r\n"
    )


@pytest.fixture
def vectors(shared: Path) -> Any:
    def load(name: str) -> list[dict[str, Any]]:
        return list(json.loads((shared / "vectors" / name).read_text())["vectors"])

    return load


def test_accept_decisions(vectors: Any) -> None:
    cases = vectors("accept_decisions.json")
    got = {case["accept"]: accept.agent_type(accept.parse(case["accept"])) for case in cases}
    assert got == {case["accept"]: case["expect"] for case in cases}
    assert len(cases) >= 39


def test_accept_quality(vectors: Any) -> None:
    # One vector is marked as differing: `*; q=.2` is no media range (RFC 9110 12.5.1), so nothing matches.
    cases = vectors("accept_quality.json")
    for case in cases:
        expected = 0.0 if case.get("prototype") == "differs: 0.0" else case["quality"]
        assert accept.quality(accept.parse(case["accept"]), case["media_type"], case["params"]) == expected, (
            case
        )


@pytest.mark.parametrize("name", ["browser_requests_measured.json", "http_clients_measured.json"])
def test_measured_callers(vectors: Any, name: str) -> None:
    cases = vectors(name)
    wrong = [
        case
        for case in cases
        if identify(_request(case["headers"]), Policy()).is_agent != (case["expect"] == "agent")
    ]
    assert wrong == []
    assert all(may_be_agent(_raw(case["headers"])) for case in cases if case["expect"] == "agent")


def test_no_browser_request_of_114_is_an_agent(vectors: Any) -> None:
    cases = vectors("browser_requests_measured.json")
    assert len(cases) == 114
    assert [case for case in cases if identify(_request(case["headers"]), Policy()).is_agent] == []


def test_agents_by_accept(vectors: Any) -> None:
    for case in vectors("agent_accept_headers.json"):
        caller = identify(_request(case["headers"]), Policy())
        assert caller.is_agent == (case["expect_by_accept_rule"] == "agent"), case["client"]


def test_user_agents_off_by_default_and_exact_when_on(vectors: Any) -> None:
    for case in vectors("user_agents.json"):
        request = _request({"User-Agent": case["user_agent"]})
        assert not identify(request, Policy()).is_agent
        assert identify(request, Policy(useragents=True)).is_agent == (case["truth"] == "agent"), case["why"]


def test_user_agent_is_read_in_the_first_512_bytes() -> None:
    assert useragent.listed(Fields.of({"User-Agent": "x" * 600 + " ChatGPT-User/1.0"})) is None
    assert (
        useragent.listed(Fields.of({"User-Agent": "Mozilla/5.0 (compatible; ChatGPT-User/1.0)"}))
        == "chatgpt-user"
    )


def test_signature_claims_of_the_profile_cases(vectors: Any) -> None:
    # A claim is about the shape alone: what a verifier refuses may still be one, what is malformed never is.
    malformed = {
        "Signature without Signature-Input", "label only in one of the two headers", "signature is not a byte sequence",
        "base64url in the byte sequence", "Signature-Input is not a dictionary", "Signature-Input with non-ASCII bytes",
    }  # fmt: skip
    seen = set()
    for case in vectors("wba_profile_cases.json"):
        fields = Fields.of([tuple(line) for line in case["request"]["headers"]])
        expected = case["expect"] != "none" and case["name"] not in malformed
        assert signature.claims(fields) == expected, case["name"]
        seen.add(case["name"])
    assert malformed <= seen


def test_the_real_chatgpt_agent_keeps_the_page(vectors: Any) -> None:
    (case,) = vectors("wba_real_chatgpt_agent_2025-08.json")
    caller = identify(Request(fields=Fields.of([tuple(line) for line in case["headers"]])), Policy())
    assert caller.is_agent
    assert caller.by == "signature"
    assert caller.browser_marks


@pytest.mark.parametrize(
    ("headers", "why_not"),
    [
        ({}, "no signature"),
        ({"Signature-Input": SIGNED["Signature-Input"]}, "no Signature"),
        ({"Signature": SIGNED["Signature"]}, "no Signature-Input"),
        ({**SIGNED, "Signature": "sig2=:AAAA:"}, "another label"),
        ({**SIGNED, "Signature": 'sig1="AAAA"'}, "a string is no byte sequence"),
        ({**SIGNED, "Signature": "sig1=::"}, "an empty signature"),
        ({**SIGNED, "Signature-Input": 'sig1=("@authority");tag="other"'}, "another tag"),
        ({**SIGNED, "Signature-Input": 'sig1=("@authority");tag=web-bot-auth'}, "the tag as a token"),
        ({**SIGNED, "Signature-Input": 'sig1="x";tag="web-bot-auth"'}, "no inner list"),
        ({**SIGNED, "Signature-Input": 'sig1=(1 2);tag="web-bot-auth"'}, "components that are no strings"),
        ({**SIGNED, "Signature-Input": SIGNED["Signature-Input"] + ", x=" + "a" * 9000}, "over 8 KiB"),
        ({**SIGNED, "Signature-Input": SIGNED["Signature-Input"] + ", ("}, "no dictionary"),
    ],
)
def test_no_claim(headers: dict[str, str], why_not: str) -> None:
    assert not signature.claims(Fields.of(headers)), why_not


ORDER = [
    # route, headers, agent, by, media, browser marks
    ({}, {}, False, "nothing", None, False),
    ({}, {"Accept": "*/*"}, False, "nothing", None, False),
    ({}, {"Accept": "application/json"}, True, "accept", "application/json", False),
    ({}, {"Accept": "application/json", **MARKS}, False, "browser", None, True),
    ({}, {"Accept": "application/json", "Sec-Fetch-Mode": "cors"}, True, "accept", "application/json", False),
    ({}, {"Accept": "application/json", "Sec-Fetch-Site": "none"}, True, "accept", "application/json", False),
    ({}, {"Accept": "application/json", "X-Requested-With": "XMLHttpRequest"}, False, "browser", None, True),
    (
        {},
        {"Accept": "application/json", "X-Requested-With": "com.example.app"},
        True,
        "accept",
        "application/json",
        False,
    ),
    (
        {},
        {"Accept": "application/json", "User-Agent": CHROME, "Referer": "http://a/"},
        False,
        "browser",
        None,
        True,
    ),
    ({}, {"Accept": "application/json", "User-Agent": CHROME}, True, "accept", "application/json", False),
    (
        {},
        {"Accept": "application/json", "User-Agent": "curl/8", "Referer": "http://a/"},
        True,
        "accept",
        "application/json",
        False,
    ),
    ({}, SIGNED, True, "signature", "application/json", False),
    ({}, {**SIGNED, "Accept": "*/*"}, True, "signature", "application/json", False),
    ({}, {**SIGNED, "Accept": "text/markdown"}, True, "signature", "text/markdown", False),
    ({}, {**SIGNED, "Accept": "text/*, text/html"}, True, "signature", "text/markdown", False),
    ({}, {**SIGNED, "Accept": "text/*"}, True, "signature", "text/markdown", False),
    ({}, {**SIGNED, "Accept": "application/*"}, True, "signature", "application/json", False),
    ({}, {**SIGNED, "Accept": "text/html, text/*"}, True, "signature", "application/json", True),
    ({}, {**SIGNED, "Accept": "text/html,*/*;q=0.8"}, True, "signature", "application/json", True),
    (
        {},
        {**SIGNED, "Accept": "text/html;q=0.5, application/problem+json"},
        True,
        "signature",
        "application/problem+json",
        False,
    ),
    ({}, {**SIGNED, **MARKS}, True, "signature", "application/json", True),
    ({"callers": "everyone"}, {"Accept": "text/html", **MARKS}, True, "pinned", "application/json", False),
    ({"callers": "everyone"}, {"Accept": "text/markdown"}, True, "pinned", "text/markdown", False),
    ({"callers": "nobody"}, {"Accept": "application/json", **SIGNED}, False, "pinned", None, False),
    (
        {"useragents": True},
        {"User-Agent": "ChatGPT-User/1.0", "Accept": "*/*"},
        True,
        "useragent",
        "application/json",
        False,
    ),
    ({"useragents": True}, {"User-Agent": "Googlebot/2.1"}, False, "nothing", None, False),
    ({"useragents": True}, {"User-Agent": "ChatGPT-User/1.0", **MARKS}, False, "browser", None, True),
]


@pytest.mark.parametrize(("route", "headers", "agent", "by", "media", "marks"), ORDER)
def test_order_of_evidence(
    route: dict[str, Any], headers: dict[str, str], agent: bool, by: str, media: str | None, marks: bool
) -> None:
    caller = identify(_request(headers), Policy(**route))
    assert (caller.is_agent, caller.by, caller.browser_marks) == (agent, by, marks)
    assert media is None or caller.media == media
    assert caller.reason


def test_a_claim_is_left_out_where_it_must_not_count() -> None:
    assert not identify(_request(SIGNED), Policy(), claims=False).is_agent


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("", ("application/json", False)),
        ("image/png", ("application/json", False)),
        ("*/*", ("application/json", False)),
        ("application/*;q=0.5, text/markdown;q=0.4", ("application/json", False)),
        ("application/json;q=0, */*", ("application/problem+json", False)),
        ("text/html, text/*", ("application/json", False)),
        ("text/*;q=0.9, text/html;q=0.8", ("text/markdown", False)),
        ("application/problem+json, application/json", ("application/problem+json", True)),
        ("application/json, application/problem+json", ("application/json", True)),
        ("*/*, text/markdown", ("text/markdown", True)),
    ],
)
def test_preferred_rendering(field: str, expected: tuple[str, bool]) -> None:
    assert accept.preferred(accept.parse(field)) == expected


def test_accept_in_two_lines_is_one_list() -> None:
    request = _request([("Accept", "text/html;q=0.1"), ("Accept", "application/json")])
    assert identify(request, Policy()).media == "application/json"


def test_work_on_accept_is_bounded() -> None:
    assert len(accept.parse("a/b," * 100_000)) == 64
    assert accept.parse('application/json;x="' + "\\" * 50_000) == ()


def test_browser_marks_say_what_they_saw() -> None:
    assert "Sec-Fetch-Site" in browser.marks(Fields.of(MARKS))
    assert browser.marks(Fields.of({"Accept": "application/json"})) == ""


@pytest.mark.parametrize(
    "head", [b"ACCEPT: APPLICATION/JSON", b"accept: text/MARKDOWN", b"x\r\nsignature-INPUT: a"]
)
def test_may_be_agent_ignores_case(head: bytes) -> None:
    assert may_be_agent(b"GET / HTTP/1.1\r\n" + head + b"\r\n\r\n")


@pytest.mark.parametrize(
    "accepted", ["text/html,*/*;q=0.8", "*/*", "application/xml", "application/ld+json", "text/plain"]
)
def test_may_be_agent_spares_the_others(accepted: str) -> None:
    assert not may_be_agent(_raw({"Host": "a.example", "Accept": accepted, "User-Agent": CHROME}))


@given(
    st.text(alphabet=st.characters(codec="latin-1", exclude_characters="\r\n"), max_size=300), st.booleans()
)
def test_no_header_makes_identify_raise_and_may_be_agent_never_misses(value: str, signed: bool) -> None:
    headers = {
        "Accept": value,
        "User-Agent": value,
        **({"Signature": value, "Signature-Input": value + "web-bot-auth"} if signed else {}),
    }
    request = Request(
        fields=Fields((name.encode(), text.encode("latin-1")) for name, text in headers.items())
    )
    caller = identify(request, Policy())
    raw = b"".join(name + b": " + text + b"\r\n" for name, text in request.fields.lines)
    assert may_be_agent(raw) or not caller.is_agent
