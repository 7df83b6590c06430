"""The three verbs on whole exchanges: what is held, what leaves, and that nothing ever raises."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saywhy.core import failures
from saywhy.core.compose import leaks
from saywhy.core.contract.schema import json_schema
from saywhy.core.model import Evidence, Fields, Head, Plan, Request, Response, Verdict
from saywhy.core.normalize import Normalizer
from saywhy.core.policy import Policy, Routes
from saywhy.core.rules import Match, Rulebook
from saywhy.core.scrub import Scrubber
from saywhy.edge.packs import load_rulebook, shipped_rules

VALIDATOR = jsonschema.Draft202012Validator(json_schema())
JSON = {"Accept": "application/json"}
PROBLEM = {"Accept": "application/problem+json"}
MARKDOWN = {"Accept": "text/markdown"}
SIGNED = {"Signature-Input": 'a=("@authority");tag="web-bot-auth"', "Signature": "a=:AAAA:"}
BROWSER = {"Accept": "text/html,*/*;q=0.8", "Sec-Fetch-Site": "none", "Sec-Fetch-Dest": "document"}
HTML = {"Content-Type": "text/html; charset=utf-8"}
PAGE = b"<!doctype html><title>Not Found</title><h1>Not Found</h1>"


def normalizer(rulebook: Any = None, **route: Any) -> Normalizer:
    return Normalizer(rulebook or Rulebook(), Routes((Policy(**route),)))


PLAIN = normalizer()


def head(status: int, headers: Any, sent: Any, method: str = "GET", target: bytes = b"/a/b") -> Head:
    request = Request(method, target, Fields.of({"Host": "shop.example", **sent}), "https")
    return Head(request, Response(status, Fields.of(headers)))


def run(
    status: int,
    headers: Any,
    body: bytes,
    sent: Any,
    *,
    method: str = "GET",
    complete: bool = True,
    by: Normalizer = PLAIN,
) -> Verdict:
    """One exchange as a relay runs it; a rewritten one is checked on the way."""
    heads = head(status, headers, sent, method)
    plan = by.triage(heads)
    held = body if plan.action == "pass" else body[: plan.limit]
    verdict = by.normalize(heads, plan, held, complete=complete and len(held) == len(body), now=0)
    check(verdict, method)
    return verdict


def check(verdict: Verdict, method: str = "GET") -> None:
    """What holds for every verdict."""
    assert verdict.fault == ""
    if verdict.envelope is not None:
        VALIDATOR.validate(verdict.envelope.as_dict())
    if verdict.action == "rewrite":
        assert verdict.body is not None
        if method == "HEAD":
            assert verdict.body == b""
            assert "content-length" not in verdict.fields or verdict.source == "proxy"
        else:
            assert verdict.fields.all("content-length") == [str(len(verdict.body))]
        assert verdict.fields.all("content-type")
    elif verdict.action == "pass":
        assert verdict.body is None


PLANS = [
    # status, response, request, method, route -> action, reason
    (404, HTML, BROWSER, "GET", {}, "pass", "not_agent"),
    (404, HTML, {"Accept": "*/*"}, "GET", {}, "pass", "not_agent"),
    (404, HTML, JSON, "GET", {}, "hold", ""),
    (500, HTML, JSON, "POST", {}, "hold", ""),
    (404, HTML, SIGNED, "GET", {}, "hold", ""),
    (200, HTML, JSON, "GET", {}, "pass", ""),
    (302, HTML, JSON, "GET", {}, "pass", ""),
    (304, {}, JSON, "GET", {}, "pass", ""),
    (404, {"Content-Type": "text/event-stream"}, JSON, "GET", {}, "pass", "streaming"),
    (500, {"Content-Type": "application/grpc+proto"}, JSON, "POST", {}, "pass", "grpc"),
    (404, HTML, {**JSON, "Content-Type": "application/grpc"}, "POST", {}, "pass", "grpc"),
    (101, {"Upgrade": "websocket"}, JSON, "GET", {}, "pass", ""),
    (400, HTML, {**JSON, "Upgrade": "websocket", "Connection": "Upgrade"}, "GET", {}, "pass", "upgrade"),
    (404, HTML, {**JSON, "Upgrade": "h2c", "Connection": "Upgrade"}, "GET", {}, "hold", ""),
    (404, HTML, JSON, "GET", {"mode": "off"}, "pass", "opted_out"),
    (404, HTML, JSON, "GET", {"passthrough_paths": ("/a/*",)}, "pass", "opted_out"),
    (404, HTML, JSON, "GET", {"passthrough_paths": ("/x/*",)}, "hold", ""),
    (404, HTML, JSON, "GET", {"mode": "shadow"}, "hold", ""),
    (404, HTML, JSON, "GET", {"callers": "nobody"}, "pass", "not_agent"),
    (404, HTML, BROWSER, "GET", {"callers": "everyone"}, "hold", ""),
    (404, HTML, BROWSER, "GET", {"scrub": "everyone"}, "hold", ""),
]


@pytest.mark.parametrize(("status", "headers", "sent", "method", "route", "action", "reason"), PLANS)
def test_triage(
    status: int, headers: Any, sent: Any, method: str, route: dict[str, Any], action: str, reason: str
) -> None:
    plan = normalizer(**route).triage(head(status, headers, sent, method))
    assert (plan.action, plan.reason) == (action, reason)
    assert (plan.limit > 0) == (action == "hold")


def test_a_head_holds_nothing() -> None:
    plan = PLAIN.triage(head(404, HTML, JSON, "HEAD"))
    assert (plan.action, plan.limit) == ("hold", 0)


@pytest.mark.parametrize(
    ("media", "sent"),
    [
        ("application/json", JSON),
        ("application/problem+json", PROBLEM),
        ("text/markdown; charset=utf-8", MARKDOWN),
    ],
)
def test_an_html_error_becomes_the_envelope(media: str, sent: dict[str, str]) -> None:
    verdict = run(404, {**HTML, "Set-Cookie": "a=b", "ETag": '"1"'}, PAGE, sent)
    assert (verdict.action, verdict.status, verdict.code) == ("rewrite", 404, "not_found")
    assert verdict.fields.get("content-type") == media
    assert verdict.fields.get("set-cookie") == "a=b"
    assert "etag" not in verdict.fields
    assert verdict.original_status == 404
    assert verdict.original_bytes == len(PAGE)
    assert b"shop.example has no page at this address." in (verdict.body or b"").replace(b"\\", b"")


@pytest.mark.parametrize("status", [400, 401, 404, 429, 451, 500, 502, 503, 504, 530, 599])
def test_the_sites_status_is_kept(status: int) -> None:
    assert run(status, HTML, PAGE, JSON).status == status


def test_others_get_the_sites_own() -> None:
    verdict = run(404, {**HTML, "X-Odd": "a\xe9"}, PAGE, BROWSER)
    assert (verdict.action, verdict.body) == ("pass", None)
    assert verdict.fields == Fields.of({**HTML, "X-Odd": "a\xe9"})


API = b'{"error": "color_unknown", "message": "The colour is not known.", "swatch": [1, 2]}'
API_TYPE = {"Content-Type": "application/json", "Cache-Control": "max-age=3", "ETag": '"7"'}


def test_a_structured_body_stays_for_accept_json() -> None:
    verdict = run(422, API_TYPE, API, JSON)
    assert (verdict.action, verdict.reason, verdict.body) == ("annotate", "structured", None)
    assert verdict.fields.lines[:3] == Fields.of(API_TYPE).lines
    assert [name for name, _ in verdict.fields.lines[3:]] == [b"Agent-Error"]


@pytest.mark.parametrize(
    ("sent", "route"),
    [(PROBLEM, {}), (MARKDOWN, {}), (SIGNED, {}), (JSON, {"structured_errors": "envelope"})],
)
def test_a_structured_body_becomes_the_envelope(sent: dict[str, str], route: dict[str, Any]) -> None:
    verdict = run(422, API_TYPE, API, sent, by=normalizer(**route))
    assert verdict.action == "rewrite"
    assert verdict.envelope is not None
    error = verdict.envelope.as_dict()["error"]
    assert error["original"] == json.loads(API)
    assert error["message"] == "The colour is not known."


@pytest.mark.parametrize(
    ("media", "body"),
    [
        ("application/json", b"<html><title>Bad</title></html>"),
        ("application/json", b"{broken"),
        ("application/json", b""),
        ("application/xml", b"<a><b></a>"),
    ],
)
def test_what_only_claims_to_be_structured_is_replaced(media: str, body: bytes) -> None:
    assert run(500, {"Content-Type": media}, body, JSON).action == "rewrite"


def test_xml_is_structured_too() -> None:
    body = b'<?xml version="1.0"?><Error><Code>NoSuchKey</Code><Message>There is no such key here.</Message></Error>'
    assert run(404, {"Content-Type": "application/xml"}, body, JSON).action == "annotate"
    verdict = run(404, {"Content-Type": "application/xml"}, body, PROBLEM)
    assert verdict.action == "rewrite"
    assert verdict.envelope is not None
    assert "There is no such key here." in str(verdict.envelope.error.original)


PROTOCOLS = [
    (
        {"Content-Type": "application/json"},
        b'{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}',
    ),
    (
        {"Content-Type": "application/json"},
        b'{"error":"invalid_grant","error_description":"The code has expired."}',
    ),
]


@pytest.mark.parametrize(("headers", "body"), PROTOCOLS)
@pytest.mark.parametrize("sent", [JSON, PROBLEM, MARKDOWN, SIGNED])
def test_protocol_bodies_are_never_replaced(
    headers: dict[str, str], body: bytes, sent: dict[str, str]
) -> None:
    verdict = run(400, headers, body, sent, method="POST", by=normalizer(structured_errors="envelope"))
    assert (verdict.action, verdict.body, verdict.reason) == ("annotate", None, "structured")


TRACE = json.dumps(
    {
        "message": "It broke.",
        "trace": 'Traceback (most recent call last):\n  File "/srv/app/shop.py", line 3, in buy\n    pay()\nValueError: no',
    }
).encode()


@pytest.mark.parametrize("coding", ["", "gzip"])
def test_the_floor_of_a_kept_body_is_redacted_in_place(coding: str) -> None:
    body = gzip.compress(TRACE) if coding else TRACE
    headers = {
        "Content-Type": "application/json",
        "ETag": '"1"',
        **({"Content-Encoding": coding} if coding else {}),
    }
    verdict = run(500, headers, body, JSON)
    assert verdict.action == "redact"
    assert verdict.body is not None
    assert b"Traceback" not in verdict.body
    assert b"shop.py" not in verdict.body
    assert json.loads(verdict.body)["message"] == "It broke."
    assert verdict.fields.all("content-length") == [str(len(verdict.body))]
    assert "content-encoding" not in verdict.fields
    assert "agent-error" in verdict.fields
    assert sum(verdict.redactions.values()) > 0


def test_a_route_can_switch_the_floor_off_and_extend_it_to_everyone() -> None:
    headers = {"Content-Type": "application/json"}
    assert run(500, headers, TRACE, JSON, by=normalizer(scrub="off")).action == "annotate"
    verdict = run(500, headers, TRACE, BROWSER, by=normalizer(scrub="everyone"))
    assert verdict.action == "redact"
    assert "agent-error" not in verdict.fields
    assert run(500, headers, API, BROWSER, by=normalizer(scrub="everyone")).action == "pass"


def test_a_signed_browser_keeps_the_page_and_gets_the_headers() -> None:
    verdict = run(429, HTML, PAGE, {**SIGNED, **BROWSER})
    assert (verdict.action, verdict.body, verdict.code) == ("annotate", None, "rate_limited")
    assert verdict.fields.get("retry-after") == "30"
    assert "Signature-Agent" in (verdict.fields.get("vary") or "")
    asked = run(429, HTML, PAGE, {**SIGNED, **BROWSER}, by=normalizer(signed_browsers="envelope"))
    assert asked.action == "rewrite"


def test_a_head_is_decided_by_status_and_fields() -> None:
    verdict = run(404, {**HTML, "Content-Length": "900"}, b"", JSON, method="HEAD")
    assert (verdict.action, verdict.body, verdict.code) == ("rewrite", b"", "not_found")
    assert "agent-error" in verdict.fields
    kept = run(404, API_TYPE, b"", JSON, method="HEAD")
    assert (kept.action, kept.body) == ("annotate", None)


def test_a_large_page_is_decided_by_its_beginning() -> None:
    page = b"<title>The trip to Oslo is over</title>" + b"<p>x</p>" * 100_000
    verdict = run(404, HTML, page, JSON)
    assert verdict.action == "rewrite"
    assert verdict.envelope is not None
    assert verdict.envelope.error.message == "The trip to Oslo is over"


def test_a_large_structured_body_is_not_cut() -> None:
    body = json.dumps({"message": "Too much.", "list": list(range(200_000))}).encode()
    verdict = run(422, API_TYPE, body, JSON)
    assert (verdict.action, verdict.reason, verdict.body) == ("annotate", "too_large", None)
    asked = run(422, API_TYPE, body, PROBLEM)
    assert asked.action == "rewrite"
    assert asked.envelope is not None
    assert asked.envelope.error.original is None


def test_without_budget_the_status_decides() -> None:
    assert run(404, HTML, b"", JSON, complete=False).action == "rewrite"
    assert run(422, API_TYPE, b"", JSON, complete=False).reason == "too_large"


@pytest.mark.parametrize(
    "coding", ["compress, x-strange", "gzip", "br", "zstd", "gzip, gzip, gzip, gzip, gzip, gzip"]
)
def test_an_unreadable_coding_leaves_the_status(coding: str) -> None:
    verdict = run(404, {**HTML, "Content-Encoding": coding}, b"\x01\x02 not of that coding", JSON)
    assert (verdict.action, verdict.code) == ("rewrite", "not_found")
    assert "content-encoding" not in verdict.fields


def test_shadow_sends_the_original_and_remembers_the_code() -> None:
    verdict = run(404, HTML, PAGE, JSON, by=normalizer(mode="shadow"))
    assert (verdict.action, verdict.body, verdict.code) == ("pass", None, "not_found")
    assert verdict.fields == Fields.of(HTML)


class Broken(Scrubber):
    """A scrubber that fails, as a scanner from outside might."""

    def clean_counted(self, text: str, *, limit: int = 500) -> Any:
        raise RuntimeError("broken")

    def is_clean(self, text: str) -> bool:
        raise RuntimeError("broken")


def test_a_fault_leaves_the_bare_envelope_or_the_sites_bytes() -> None:
    broken = Normalizer(Rulebook(), Routes(), Broken())
    heads = head(404, HTML, JSON)
    verdict = broken.normalize(heads, broken.triage(heads), PAGE, complete=True, now=0)
    assert (verdict.action, verdict.fault, verdict.code) == ("rewrite", "RuntimeError", "not_found")
    assert verdict.envelope is not None
    assert verdict.envelope.error.message == "The site has no page at this address."
    signed = head(404, HTML, {**SIGNED, **BROWSER})
    verdict = broken.normalize(signed, broken.triage(signed), PAGE, complete=True, now=0)
    assert (verdict.action, verdict.fault, verdict.body) == ("pass", "RuntimeError", None)


class Leaky(Scrubber):
    """A scrubber that lets something through, so that only the last check is left."""

    def clean_counted(self, text: str, *, limit: int = 500) -> Any:
        clean, _ = super().clean_counted("x", limit=limit)
        return type(clean)(text), {}


def test_the_last_check_catches_what_slipped_through() -> None:
    key = "AKIA" + "IOSFODNN7EXAMPLQ"
    body = json.dumps({"message": f"The key {key} is not allowed to do this."}).encode()
    verdict = run(
        403, {"Content-Type": "application/json"}, body, PROBLEM, by=Normalizer(Rulebook(), Routes(), Leaky())
    )
    assert verdict.action == "rewrite"
    assert key.encode() not in (verdict.body or b"")
    assert verdict.code == "not_allowed"
    assert sum(verdict.redactions.values()) >= 1


CONTRACT = {
    "error": {
        "code": "conflict", "message": "Somebody changed the cart.", "field": "cart", "retry": "refetch", "retry_after": None,
        "contract_version": 1, "kind": "stale_suggestion", "origin": "code_mode",
        "recovery": {"action": "rediscover", "same_arguments": "never", "guidance": "Load the cart first."},
        "side_effects": "unknown", "tool": "cart.add", "cause": "The version is old.", "original": {"was": 1},
    }
}  # fmt: skip


def test_a_body_in_the_contract_is_read_as_it_is_and_does_not_grow() -> None:
    body = json.dumps(CONTRACT).encode()
    for _ in range(3):
        verdict = run(500, {"Content-Type": "application/json"}, body, SIGNED, method="POST")
        assert (verdict.action, verdict.decided_by, verdict.status) == ("rewrite", "contract", 500)
        body = verdict.body or b""
        error = json.loads(body)["error"]
        assert {name: error.get(name) for name in CONTRACT["error"]} == CONTRACT["error"]


class Successes(Rulebook):
    """A rulebook whose one rule reads a success as a failure."""

    def __init__(self, on_success: Any) -> None:
        super().__init__()
        self.has_success_rules = True
        self._says = Evidence(
            decided_by="rule",
            rule="shop/wall",
            code="out_of_stock",
            message="The mug is sold out.",
            on_success=on_success,
        )

    def wants_success(self, head: Head, packs: Any = None) -> bool:
        return True

    def match(
        self, head: Head, page: Any, *, packs: Any = None, origin: Any = None, note: Any = None
    ) -> Match:
        return Match(self._says) if origin == "shipped" and page.title == "Wall" else Match()


WALL = b"<title>Wall</title>"


@pytest.mark.parametrize(("status", "sent_status"), [(200, 409), (302, 409), (201, 409)])
def test_a_success_that_a_rule_rewrites_takes_the_codes_status(status: int, sent_status: int) -> None:
    verdict = run(status, {**HTML, "Set-Cookie": "a=b"}, WALL, JSON, by=Normalizer(Successes("rewrite")))
    assert (verdict.action, verdict.status, verdict.rule) == ("rewrite", sent_status, "shop/wall")
    assert verdict.original_status == status
    assert verdict.fields.get("proxy-status") == f"saywhy; received-status={status}"
    assert verdict.fields.get("set-cookie") == "a=b"


def test_a_success_that_a_rule_annotates_stays_and_is_kept_from_shared_caches() -> None:
    site = {**HTML, "Cache-Control": "public, max-age=60"}
    verdict = run(200, site, WALL, JSON, by=Normalizer(Successes("annotate")))
    assert (verdict.action, verdict.status, verdict.body, verdict.code) == (
        "annotate",
        200,
        None,
        "out_of_stock",
    )
    assert verdict.fields.all("cache-control") == ["private"]
    assert verdict.fields.get("agent-error") == "out_of_stock;retry=no;side_effects=none_expected"
    assert "Accept" in (verdict.fields.get("vary") or "")


@pytest.mark.parametrize(
    ("status", "body", "sent"),
    [
        (200, b"<title>A shop</title>", JSON), (200, WALL, SIGNED), (200, WALL, BROWSER), (200, WALL, {"Accept": "*/*"}),
        (204, b"", JSON), (206, WALL, JSON), (304, b"", JSON),
    ],
)  # fmt: skip
def test_other_successes_pass(status: int, body: bytes, sent: dict[str, str]) -> None:
    verdict = run(status, HTML, body, sent, by=Normalizer(Successes("rewrite")))
    assert (verdict.action, verdict.reason, verdict.fields) == ("pass", "", Fields.of(HTML))


def test_a_glance_at_a_success_asks_for_rules_and_for_traces_of_an_agent() -> None:
    by = Normalizer(Successes("rewrite"))
    assert by.glance(200, b"GET / HTTP/1.1\r\nAccept: application/json\r\n\r\n")
    assert not by.glance(200, b"GET / HTTP/1.1\r\nAccept: text/html\r\n\r\n")
    pinned = Normalizer(Successes("rewrite"), Routes((Policy(callers="everyone"),)))
    assert pinned.glance(200, b"GET / HTTP/1.1\r\nAccept: text/html\r\n\r\n")


@pytest.mark.parametrize("token", failures.FAILURES)
@pytest.mark.parametrize("sent", [JSON, PROBLEM, MARKDOWN, SIGNED, BROWSER, {}])
def test_fail(token: str, sent: dict[str, str]) -> None:
    request = Request(
        "POST", b"/secret-path?q=secret", Fields.of({"Host": "secret.example", "Cookie": "secret", **sent})
    )
    verdict = PLAIN.fail(request, token, now=0)
    check(verdict)
    row = failures.look_up(token)
    assert (verdict.status, verdict.source, verdict.code) == (row.status, "proxy", row.code)
    assert verdict.fields.all("proxy-status") == [f"saywhy; error={row.token}"]
    assert b"secret" not in (verdict.body or b"")
    assert verdict.caller.is_agent == (sent not in (BROWSER, {}))
    if row.wait:
        assert verdict.fields.all("retry-after") == [str(row.wait)]


def test_fail_for_others_is_a_short_plain_page() -> None:
    verdict = PLAIN.fail(Request("GET", b"/", Fields.of(BROWSER)), "connection_read_timeout", now=0)
    assert verdict.body == b"504 Gateway Timeout\n\nThe site did not answer in time.\n"
    assert verdict.fields.get("content-type") == "text/plain; charset=utf-8"


@pytest.mark.parametrize("token", failures.FAILURES)
@pytest.mark.parametrize("sent", [JSON, PROBLEM, MARKDOWN, SIGNED, BROWSER, {}])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
def test_fail_behind_an_edge(token: str, sent: dict[str, str], method: str) -> None:
    """Only 502 and 504 leave as 503, and are told from others; all that is said of them stays."""
    request = Request(method, b"/", Fields.of({"Host": "t.example", **sent}))
    edge = Normalizer(Rulebook(), Routes((Policy(edge_safe_status=True),)))
    verdict, plain = edge.fail(request, token, now=0), PLAIN.fail(request, token, now=0)
    if plain.status not in (502, 504):
        assert verdict == plain
        return
    assert (verdict.status, verdict.original_status) == (503, plain.status)
    assert (verdict.code, verdict.source) == (plain.code, "proxy")
    for name in ("proxy-status", "retry-after", "agent-error", "vary"):
        assert verdict.fields.all(name) == plain.fields.all(name)
    assert verdict.envelope is not None
    assert verdict.envelope.error.original_status == plain.status
    body = verdict.body or b""
    if method == "HEAD":
        assert body == b""
    elif not verdict.caller.is_agent:
        assert body.startswith(b"503 Service Unavailable\n")
    else:
        assert re.search(rb'"?original_status"?: ?%d\b' % plain.status, body)
        if sent is not JSON and sent is not SIGNED:
            assert re.search(rb'"?status"?: ?503\b', body)


def test_fail_takes_a_better_wait_and_an_unknown_token() -> None:
    verdict = PLAIN.fail(Request(fields=Fields.of(JSON)), "destination_unavailable", now=0, wait=3)
    assert verdict.fields.get("retry-after") == "3"
    assert PLAIN.fail(Request(fields=Fields.of(JSON)), "no_such_token", now=0).status == 500


@pytest.mark.parametrize(
    ("status", "raw", "route", "looks"),
    [
        (404, b"GET / HTTP/1.1\r\n\r\n", {}, False),
        (500, b"", {}, False),
        (404, b"GET / HTTP/1.1\r\nAccept: text/html, */*\r\n\r\n", {}, False),
        (404, b"GET / HTTP/1.1\r\nACCEPT: Application/JSON\r\n\r\n", {}, True),
        (503, b"GET / HTTP/1.1\r\naccept: text/markdown\r\n\r\n", {}, True),
        (403, b"GET / HTTP/1.1\r\nSignature-Input: s=()\r\n\r\n", {}, True),
        (404, b"GET / HTTP/1.1\r\n\r\n", {"callers": "everyone"}, True),
        (404, b"GET / HTTP/1.1\r\n\r\n", {"useragents": True}, True),
        (404, b"GET / HTTP/1.1\r\n\r\n", {"scrub": "everyone"}, True),
        (101, b"accept: application/json", {}, False),
        (200, b"accept: application/json", {}, False),
        (302, b"", {}, False),
    ],
)
def test_glance(status: int, raw: bytes, route: dict[str, Any], looks: bool) -> None:
    assert normalizer(**route).glance(status, raw) is looks


FIELD = st.tuples(
    st.sampled_from(
        [
            b"Content-Type",
            b"Content-Encoding",
            b"Retry-After",
            b"WWW-Authenticate",
            b"Vary",
            b"RateLimit",
            b"Date",
            b"X-A",
            b"Link",
        ]
    ),
    st.one_of(
        st.binary(max_size=40),
        st.sampled_from(
            [
                b"text/html",
                b"application/json",
                b"application/xml",
                b"gzip",
                b"br",
                b"text/html; charset=utf-16",
                b"zstd",
            ]
        ),
    ),
)
BODY = st.one_of(
    st.binary(max_size=400),
    st.text(max_size=200).map(lambda text: f"<title>{text}</title><p>{text}</p>".encode("utf-8", "replace")),
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=20),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["error", "code", "message", "errors", "retry", "kind", "detail", "status", "contract_version", "recovery", "field"]), inner, max_size=4),
        max_leaves=12,
    ).map(lambda value: json.dumps(value).encode()),
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(
    status=st.integers(100, 999),
    method=st.sampled_from(["GET", "HEAD", "POST", "PUT", "OPTIONS", "DELETE"]),
    lines=st.lists(FIELD, max_size=5),
    body=BODY,
    sent=st.sampled_from([JSON, PROBLEM, MARKDOWN, SIGNED, BROWSER, {**SIGNED, **BROWSER}, {}]),
    complete=st.booleans(),
    target=st.binary(max_size=30),
)
def test_normalize_is_total(
    status: int, method: str, lines: Any, body: bytes, sent: dict[str, str], complete: bool, target: bytes
) -> None:
    heads = head(status, {}, sent, method, b"/" + target)
    heads = replace(heads, response=Response(status, Fields(lines)))
    plan = PLAIN.triage(heads)
    verdict = PLAIN.normalize(heads, plan, body, complete=complete, now=0)
    check(verdict, method)
    if plan.action == "pass":
        assert verdict.action == "pass"
    if verdict.envelope is not None and method in ("POST", "PUT", "DELETE"):
        error = verdict.envelope.error
        own = error.recovery.same_arguments == "safe"
        assert own or error.side_effects == "none_expected" or error.retry not in ("once", "after_delay")
    for media in ("application/json", "application/problem+json", "text/markdown"):
        again = Plan("hold", "", plan.caller._replace(is_agent=True, media=media), plan.policy, 1000)
        check(PLAIN.normalize(heads, again, body, complete=complete, now=0), method)


def test_every_response_of_the_corpus_in_every_rendering(shared: Path) -> None:
    by = Normalizer(load_rulebook([shipped_rules()]))
    scrubber = Scrubber()
    with gzip.open(shared / "corpus" / "corpus.jsonl.gz", "rt") as lines:
        rows = [json.loads(line) for line in lines]
    assert len(rows) > 500
    for row in rows:
        # The bodies were saved decoded.
        headers = {
            name: value for name, value in row["headers"].items() if name.lower() != "content-encoding"
        }
        for sent in (JSON, PROBLEM, MARKDOWN, {**SIGNED, **BROWSER}):
            verdict = run(
                row["status"],
                headers,
                row["body"].encode("utf-8", "replace"),
                sent,
                method=row["method"],
                by=by,
            )
            if verdict.action == "rewrite" and verdict.media != "text/markdown":
                assert leaks((verdict.body or b"").decode(), scrubber) == {}, row["id"]
            assert not any(secret.encode() in (verdict.body or b"") for secret in row["contains_secret"]), (
                row["id"]
            )


LEAKY_JSON = b'{"message": "The store is away.", "dsn": "postgres://admin:hunter2pass@db.example/prod"}'


def test_a_kept_body_that_was_redacted_for_an_agent_is_not_shared() -> None:
    site = {"Content-Type": "application/json", "ETag": '"x"', "Cache-Control": "max-age=60"}
    verdict = run(409, site, LEAKY_JSON, JSON)
    assert verdict.action == "redact"
    assert b"hunter2pass" not in (verdict.body or b"")
    assert verdict.fields.all("cache-control") == ["private"]
    assert "Accept" in (verdict.fields.joined("vary") or "")
    assert "etag" not in verdict.fields
    untouched = run(409, site, b'{"message": "The store is away."}', JSON)
    assert untouched.action == "annotate"
    assert untouched.fields.get("etag") == '"x"'
    assert untouched.fields.get("cache-control") == "max-age=60"
    assert "vary" not in untouched.fields
    for_all = run(409, site, LEAKY_JSON, JSON, by=normalizer(scrub="everyone"))
    assert for_all.action == "redact"
    assert for_all.fields.all("cache-control") == ["max-age=60"]


def test_a_shadowed_route_keeps_what_would_have_been() -> None:
    verdict = run(404, HTML, PAGE, JSON, by=normalizer(mode="shadow"))
    assert (verdict.action, verdict.would) == ("pass", "rewrite")
    assert (verdict.code, verdict.decided_by) == ("not_found", "status")
    by_rule = run(
        503, {**HTML, "cf-mitigated": "challenge"}, PAGE, JSON, by=normalizer(SHIPPED, mode="shadow")
    )
    assert (by_rule.would, by_rule.code, by_rule.decided_by) == ("rewrite", "needs_human", "header")
    assert by_rule.rule
    assert by_rule.rule.startswith("captcha/")
    assert run(404, HTML, PAGE, JSON, by=normalizer(mode="off")).would == ""
    assert run(404, HTML, PAGE, JSON).would == ""


SHIPPED = load_rulebook([shipped_rules()])


@pytest.mark.parametrize(
    ("media", "action"),
    [
        ("text/html; charset=utf-8", "peek"),
        ("application/xhtml+xml", "peek"),
        ("application/json", "peek"),
        ("application/octet-stream", "pass"),
        ("image/png", "pass"),
        ("image/svg+xml", "pass"),
        ("application/zip", "pass"),
        ("video/mp4", "pass"),
        ("", "pass"),
    ],
)
def test_which_successes_are_peeked_at_with_the_shipped_packs(media: str, action: str) -> None:
    by = normalizer(SHIPPED)
    headers = {"Content-Type": media} if media else {}
    assert by.triage(head(200, headers, JSON)).action == action
    wall = {**headers, "cf-mitigated": "challenge"}
    assert by.triage(head(200, wall, JSON)).action == "peek"


@pytest.mark.parametrize("media", ["text/plain", "application/xml"])
def test_a_large_text_or_feed_is_never_peeked_at(media: str) -> None:
    large = {"Content-Type": media, "Content-Length": "5000000"}
    assert normalizer(SHIPPED).triage(head(200, large, JSON)).action == "pass"
