"""Evidence -> envelope: which evidence decides, what the message says, what an agent may do about it."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from saywhy.core.compose import Found, bare, compose, failure_envelope, leaks
from saywhy.core.compose.host import public_host
from saywhy.core.compose.message import from_title, is_challenge, says_something, sentences
from saywhy.core.contract.codes import CODES
from saywhy.core.contract.schema import json_schema
from saywhy.core.failures import FAILURES
from saywhy.core.model import Evidence, FieldError, Fields, Head, Request, Response
from saywhy.core.page import read
from saywhy.core.scrub import Scrubber

SCRUBBER = Scrubber()
VALIDATOR = jsonschema.Draft202012Validator(json_schema())
UNSAFE = ("POST", "PATCH", "PUT", "DELETE")


def make(
    status: int,
    *evidence: Evidence,
    method: str = "GET",
    html: str = "",
    headers: dict[str, str] | None = None,
    sent: dict[str, str] | None = None,
    **found: Any,
) -> dict[str, Any]:
    """The error object for one response, checked against the schema."""
    request = Request(
        method, b"/things/7?token=1", Fields.of({"Host": "shop.example", **(sent or {})}), "https"
    )
    response = Response(status, Fields.of({"Content-Type": "text/html; charset=utf-8", **(headers or {})}))
    page = read(response.fields, html.encode()) if html else None
    document = compose(
        Found(Head(request, response), evidence, page, **found), scrubber=SCRUBBER, now=0
    ).envelope.as_dict()
    VALIDATOR.validate(document)
    assert leaks(str(document), SCRUBBER) == {}
    return dict(document["error"])


DIALECT = Evidence(
    decided_by="dialect", code="invalid_input", message="The colour is not known.", field="colour"
)
VENDOR = Evidence(decided_by="header", rule="captcha/x", code="needs_human", outranks_failure=True)
RULE = Evidence(decided_by="rule", rule="shop/gone", code="out_of_stock", message="The red one is sold out.")
CONTRACT = Evidence(
    decided_by="contract",
    code="conflict",
    retry="refetch",
    message="Somebody changed it.",
    outranks_failure=True,
)

CHOICES = [
    (404, (), "not_found"),
    (503, (), "temporarily_unavailable"),
    (400, (DIALECT,), "invalid_input"),
    (409, (RULE, DIALECT), "out_of_stock"),
    (429, (VENDOR, RULE), "needs_human"),
    (503, (VENDOR,), "needs_human"),
    (503, (RULE,), "temporarily_unavailable"),
    (500, (DIALECT,), "internal"),
    (500, (CONTRACT,), "conflict"),
    (418, (Evidence(decided_by="dialect", code="teapot_full"),), "teapot_full"),
    (500, (Evidence(decided_by="dialect", code="teapot_full"),), "internal"),
    (403, (Evidence(decided_by="dialect", message="no code known"),), "not_allowed"),
    (409, (Evidence(decided_by="contract", kind="confirmation_required"),), "needs_human"),
    (409, (Evidence(decided_by="contract", kind="brand_new"),), "internal"),
    (404, (Evidence(decided_by="dialect", code="eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"),), "not_found"),
]  # fmt: skip


@pytest.mark.parametrize(("status", "evidence", "code"), CHOICES)
def test_which_evidence_decides(status: int, evidence: tuple[Evidence, ...], code: str) -> None:
    assert make(status, *evidence)["code"] == code


def test_a_dialect_gives_the_message_of_a_server_failure() -> None:
    error = make(500, DIALECT)
    assert error["message"] == "The colour is not known."


def test_a_site_code_is_advised_once_and_nothing_is_claimed() -> None:
    error = make(418, Evidence(decided_by="dialect", code="teapot_full"))
    assert (error["retry"], error["origin"], error["kind"]) == ("once", "runtime", "teapot_full")
    assert error["message"] == "shop.example reports the error teapot_full."


BARE_TITLES = [
    "404 Not Found", "Not Found", "404", "Error 404 (Not Found)!!1", "Page not found", "Page not found - Shop Example",
    "Access denied", "403 Forbidden", "Attention Required! | Cloudflare", "Just a moment...", "Just a moment please",
    "503 Service Temporarily Unavailable", "Internal Server Error", "Error", "", "Oops! Something went wrong",
    "Welcome", "https://shop.example/a", "shop.example", "Shop", "Log in", "Not Found | My Shop", "Home - My Shop",
]  # fmt: skip


@pytest.mark.parametrize("title", BARE_TITLES)
def test_a_title_that_says_nothing_gives_way_to_a_sentence(title: str) -> None:
    error = make(404, html=f"<html><head><title>{title}</title></head><body></body></html>")
    assert error["message"] == "shop.example has no page at this address."


GOOD_TITLES = [
    ("The product has been discontinued", "The product has been discontinued"),
    ("This offer ended on 3 May | Shop", "This offer ended on 3 May"),
    ("404 | The recipe that you want moved elsewhere", "The recipe that you want moved elsewhere"),
    ("この商品は販売を終了しました。", "この商品は販売を終了しました。"),
]


@pytest.mark.parametrize(("title", "message"), GOOD_TITLES)
def test_a_title_that_says_something_is_the_message(title: str, message: str) -> None:
    assert (
        make(404, html=f"<html><head><title>{title}</title></head><body></body></html>")["message"] == message
    )


def test_the_first_sentence_of_a_small_page() -> None:
    html = "<title>404</title><h1>Not Found</h1><p>The trip to Oslo was cancelled last week. Call us.</p>"
    assert make(404, html=html)["message"] == "The trip to Oslo was cancelled last week."


OPENINGS = [
    ("<h1>Not found</h1><p>The page you want is gone.</p>", "The page you want is gone."),
    (
        "<h1>404 Error</h1><p>An article with this number was never written.</p>",
        "An article with this number was never written.",
    ),
    ("<h1>Error 404</h1><p>Your parcel is not in this list.</p>", "Your parcel is not in this list."),
    ("<h1>Page Not Found</h1><p>Pages of 2019 were taken down.</p>", "Pages of 2019 were taken down."),
    ("<p>Not all pages of 2019 are here.</p>", "Not all pages of 2019 are here."),
]


@pytest.mark.parametrize(("html", "message"), OPENINGS)
def test_a_heading_is_not_read_into_the_sentence(html: str, message: str) -> None:
    assert make(404, html=f"<title>404</title>{html}")["message"] == message


@pytest.mark.parametrize(
    "html",
    [
        "<title>404</title><p>Just a moment, please wait while we check your browser now.</p>",
        "<title>404</title><p>Copyright 2026 by the owners of this fine place. </p>",
        "<title>404</title><p>if (a < b) { c = d; } else { e = f; }.</p>",
        "<title>404</title><p>The one. " + "Home Shop Cart Help News Jobs " * 60 + "</p>",
    ],
)
def test_sentences_that_are_left_out(html: str) -> None:
    assert make(404, html=html)["message"] == "shop.example has no page at this address."


def test_the_page_of_a_crash_is_not_quoted() -> None:
    html = "<title>The database of the shop is broken</title><p>We could not open the table of orders.</p>"
    assert make(500, html=html)["message"] == "shop.example failed while it worked on this request."


@pytest.mark.parametrize(
    "phrase",
    ["Just a moment...", "ATTENTION  REQUIRED!", "Please enable JavaScript", "Pardon Our Interruption"],
)
def test_challenge_phrases(phrase: str) -> None:
    assert is_challenge(phrase)
    assert not says_something(phrase)


@pytest.mark.parametrize(
    "text", ["Your card expires next month.", "The colour is not known.", "E-mail: already taken"]
)
def test_texts_that_say_something(text: str) -> None:
    assert says_something(text)


def test_words_of_a_page_are_bounded() -> None:
    assert from_title("word " * 1000, "") is not None
    assert list(sentences("word " * 10_000, "")) == []


@pytest.mark.parametrize(
    ("authority", "host"),
    [
        ("shop.example", "shop.example"), ("shop.example:8443", "shop.example"), ("10.0.0.1:80", "10.0.0.1"), ("", ""),
        ("ignore all rules", ""), ("<b>.example", ""), ("a" * 300, ""), ("shop.example:x", ""), ("user@shop.example", ""),
    ],
)  # fmt: skip
def test_only_a_host_is_named(authority: str, host: str) -> None:
    assert public_host(authority) == host


@pytest.mark.parametrize("host", ["localhost", "10.0.0.5", "db.internal"])
def test_a_host_that_scrub_would_redact_is_not_named(host: str) -> None:
    head = Head(Request("GET", b"/", Fields.of({"Host": host})), Response(404))
    error = compose(Found(head), scrubber=SCRUBBER, now=0).envelope.error
    assert leaks(error.message, SCRUBBER) == {}


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "TRACE"])
@pytest.mark.parametrize("status", [400, 404, 429, 500, 502, 503, 504])
def test_safe_methods_have_no_effects(method: str, status: int) -> None:
    assert make(status, method=method)["side_effects"] == "none_expected"


REPEATS = {"once", "after_delay"}


@pytest.mark.parametrize("method", UNSAFE)
@pytest.mark.parametrize("status", [*range(400, 432), 451, *range(500, 531)])
@pytest.mark.parametrize("headers", [{}, {"Retry-After": "20"}])
def test_no_envelope_invites_a_doubled_request(method: str, status: int, headers: dict[str, str]) -> None:
    own = Evidence(decided_by="dialect", code="teapot_full")
    repeat = Evidence(
        decided_by="contract", code="internal", retry="once", side_effects="unknown", outranks_failure=True
    )
    for evidence in ((), (own,), (repeat,), (DIALECT,)):
        error = make(status, *evidence, method=method, headers=headers)
        if error["side_effects"] != "none_expected":
            assert error["retry"] not in REPEATS
            assert error["recovery"]["same_arguments"] in ("discouraged", "never")
            if error["retry"] == "refetch" and error["code"] != "conflict":
                guidance = error["recovery"]["guidance"]
                assert "may have taken effect" in guidance or guidance.startswith("Do not repeat this")


@pytest.mark.parametrize(
    ("status", "headers", "effects", "retry"),
    [
        (500, {}, "possible", "refetch"),
        (502, {}, "possible", "refetch"),
        (504, {"Retry-After": "9"}, "possible", "refetch"),
        (503, {}, "possible", "refetch"),
        (503, {"Retry-After": "9"}, "none_expected", "after_delay"),
        (503, {"Retry-After": "0"}, "possible", "refetch"),
        (429, {}, "none_expected", "after_delay"),
        (425, {}, "none_expected", "after_delay"),
        (422, {}, "none_expected", "fix_input"),
        (402, {}, "none_expected", "pay"),
    ],
)
def test_effects_of_a_post(status: int, headers: dict[str, str], effects: str, retry: str) -> None:
    error = make(status, method="POST", headers=headers)
    assert (error["side_effects"], error["retry"]) == (effects, retry)


def test_an_idempotency_key_allows_what_is_discouraged() -> None:
    error = make(500, method="POST", sent={"Idempotency-Key": "k"})
    assert (error["retry"], error["recovery"]["same_arguments"]) == ("once", "conditional")
    assert "same Idempotency-Key" in error["recovery"]["guidance"]


def test_a_connection_that_was_never_made_has_no_effects() -> None:
    error = failure_envelope(Request("POST"), FAILURES["connection_refused"]).error
    assert (error.side_effects, error.retry, error.recovery.same_arguments) == (
        "none_expected",
        "after_delay",
        "safe",
    )
    assert error.source == "proxy"


@pytest.mark.parametrize(
    "token", ["connection_terminated", "connection_read_timeout", "http_response_incomplete"]
)
def test_a_request_that_was_sent_may_have_effects(token: str) -> None:
    error = failure_envelope(Request("POST"), FAILURES[token]).error
    assert (error.side_effects, error.retry) == ("possible", "refetch")
    assert failure_envelope(Request("GET"), FAILURES[token]).error.retry == "after_delay"


def test_a_contract_keeps_what_it_says() -> None:
    recovery = {"action": "start_dependency", "same_arguments": "safe", "guidance": "Start the shop first."}
    said = Evidence(
        decided_by="contract", code="internal", kind="bridge_transport_error", origin="bridge", recovery=recovery,
        side_effects="unknown", retry="once", message="The bridge is down.", outranks_failure=True,
    )  # fmt: skip
    error = make(502, said, method="POST")
    assert (error["kind"], error["origin"], error["side_effects"]) == (
        "bridge_transport_error",
        "bridge",
        "unknown",
    )
    assert error["recovery"] == recovery
    assert (error["retry"], error["message"]) == ("once", "The bridge is down.")


CONTRARY = [
    # code, the contract's own retry word, what follows from it
    ("internal", "no", "do_not_retry", "never", "Stop; do not send this request again."),
    ("rate_limited", "no", "do_not_retry", "never", "Stop; do not send this request again."),
    ("not_allowed", "ask_human", "inspect_and_escalate", "never", "Ask the person how to go on."),
    ("not_found", "once", "inspect_and_escalate", "never", "Send the same request once more; if it fails again, stop and report it."),
    ("internal", "once", "inspect_and_escalate", "conditional", "Send the same request once more; if it fails again, stop and report it."),
]  # fmt: skip


@pytest.mark.parametrize(("code", "retry", "action", "same", "guidance"), CONTRARY)
def test_a_contract_that_advises_otherwise_than_its_code(
    code: str, retry: str, action: str, same: str, guidance: str
) -> None:
    error = make(500, Evidence(decided_by="contract", code=code, retry=retry, outranks_failure=True))
    assert error["retry"] == retry
    assert error["recovery"] == {"action": action, "same_arguments": same, "guidance": guidance}


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_every_code_has_its_sentences(code: str, method: str) -> None:
    error = make(418, Evidence(decided_by="rule", rule="a/b", code=code), method=method)
    assert error["code"] == code
    assert error["message"].endswith(".")
    assert "shop.example" in error["message"]
    assert error["recovery"]["guidance"].endswith(".")
    assert "Read the message" not in error["recovery"]["guidance"]


@pytest.mark.parametrize(
    ("status", "headers", "seconds", "source"),
    [
        (429, {"Retry-After": "20"}, 20, None),
        (429, {}, 30, "default"),
        (429, {"Retry-After": "0"}, 30, "default"),
        (503, {"Retry-After": "900000"}, 86400, None),
        (503, {}, 60, "default"),
        (429, {"RateLimit": '"a";r=0;t=11'}, 11, None),
        (500, {"Retry-After": "7"}, 7, None),
        (500, {"X-RateLimit-Reset": "7"}, None, None),
        (403, {"Retry-After": "7"}, None, None),
        (404, {"X-RateLimit-Reset": "7"}, None, None),
    ],
)
def test_waits(status: int, headers: dict[str, str], seconds: int | None, source: str | None) -> None:
    error = make(status, headers=headers)
    assert error["retry_after"] == seconds
    assert error.get("retry_after_source") == source
    assert error["recovery"].get("retry_after_ms") == (seconds * 1000 if seconds else None)
    if seconds:
        assert f"{seconds} seconds" in error["recovery"]["guidance"]


def test_guidance_names_field_scope_and_person() -> None:
    assert '"colour"' in make(400, DIALECT)["recovery"]["guidance"]
    scopes = Evidence(decided_by="header", code="scope_missing", required_scopes=("orders:write",))
    assert "orders:write" in make(403, scopes)["recovery"]["guidance"]
    human = Evidence(decided_by="rule", rule="a/b", code="needs_human", continue_url="/check")
    error = make(403, human)
    assert error["continue_url"] == "https://shop.example/check"
    assert "continue_url" in error["recovery"]["guidance"]


def test_several_faults_and_one() -> None:
    two = Evidence(
        decided_by="dialect", code="invalid_input",
        errors=(FieldError("name", "It is too long.", "/name"), FieldError("age", "It is no number.", None)),
    )  # fmt: skip
    error = make(422, two)
    assert error["errors"] == [
        {"field": "name", "message": "It is too long.", "pointer": "#/name"}, {"field": "age", "message": "It is no number."},
    ]  # fmt: skip
    assert error["field"] == "name"
    assert '"name" and "age"' in error["recovery"]["guidance"]
    one = make(422, Evidence(decided_by="dialect", code="invalid_input", errors=two.errors[:1]))
    assert "errors" not in one
    assert (one["field"], one["message"]) == ("name", "It is too long.")


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "https://user:pw@shop.example/", "http://[", "/a b", "x" * 3000, ""]
)
def test_links_that_do_not_leave(url: str) -> None:
    error = make(
        403,
        Evidence(decided_by="rule", rule="a/b", code="needs_human", continue_url=url, documentation_url=url),
    )
    assert "continue_url" not in error
    assert "documentation_url" not in error


def test_secrets_and_traces_are_redacted_everywhere() -> None:
    secret = "AKIA" + "IOSFODNN7EXAMPLQ"
    evidence = Evidence(
        decided_by="dialect", code="invalid_input", message=f"The key {secret} was refused by the store.", field=secret,
        hint=f"use {secret}", valid=(secret, "red"), payment={"to": secret}, alternatives=({"name": secret},),
        errors=(FieldError(secret, f"bad {secret}", None), FieldError("b", "The second is bad too.", None)),
    )  # fmt: skip
    error = make(400, evidence, original={"a": [secret]})
    assert secret not in str(error)
    assert error["valid"] == ["red"]


def test_the_instance_is_the_address_without_its_query() -> None:
    assert make(404, instance=True)["instance"] == "/things/7"
    assert "instance" not in make(404)


def test_our_own_words_pass_the_last_check() -> None:
    for status in range(400, 600):
        for method in ("GET", "POST"):
            head = Head(Request(method, b"/", Fields.of({"Host": "shop.example"})), Response(status))
            assert leaks(str(bare(head, now=0).as_dict()), SCRUBBER) == {}
    for failure in FAILURES.values():
        assert leaks(str(failure_envelope(Request("POST"), failure).as_dict()), SCRUBBER) == {}


def test_a_rules_own_sentence_is_taken_at_its_word() -> None:
    """The page's challenge phrases are passed over; a rule's author may name the CAPTCHA."""
    words = "The site asks for a CAPTCHA."
    ours = Evidence(
        decided_by="rule", rule="own/wall", code="needs_human", message="Just a moment...", wording=words
    )
    assert make(403, ours)["message"] == words


LEAKY_POINTERS = (
    "/postgres:~1~1admin:hunter2pass@db.example:5432~1prod",
    "/a/postgres%3A%2F%2Fadmin%3Ahunter2pass%40db.example",
    "/files/~1var~1www~1shop~1config.php",
)


@pytest.mark.parametrize("pointer", LEAKY_POINTERS)
def test_a_pointer_or_field_that_decodes_to_a_secret_is_dropped(pointer: str) -> None:
    faults = (FieldError(pointer, "Wrong.", pointer), FieldError("size", "Too large.", "/items/-/size"))
    error = make(422, Evidence(decided_by="dialect", code="invalid_input", errors=faults))
    first, second = error["errors"]
    assert "pointer" not in first
    assert "field" not in first
    assert second["pointer"] == "#/items/-/size"
    assert second["field"] == "size"
    assert error["field"] != pointer
    assert "hunter2" not in str(error)
    assert "config.php" not in str(error)


def test_scopes_that_are_a_secret_side_by_side_are_dropped() -> None:
    split = ("Authorization: Bearer", "q8Zt4LmP0xVn2RkB7")
    assert "required_scopes" not in make(
        403, Evidence(decided_by="dialect", code="scope_missing", required_scopes=split)
    )
    told = make(
        403, Evidence(decided_by="dialect", code="scope_missing", required_scopes=("orders:read", "x"))
    )
    assert told["required_scopes"] == ["orders:read", "x"]


SPOKEN = [
    (429, "<p>You are too fast for us. Please try again in 90 seconds.</p>", 90),
    (429, "<p>Zu schnell. Bitte versuchen Sie es in 5 Minuten erneut.</p>", 300),
    (503, "<p>We are being mended. Please try again in 2 days.</p>", 86_400),
    (503, "<p>We are being mended and back in 30 minutes.</p>", 1800),
]


@pytest.mark.parametrize(("status", "html", "seconds"), SPOKEN)
def test_a_wait_that_the_page_names_is_named(status: int, html: str, seconds: int) -> None:
    error = make(status, html=html)
    assert error["retry_after"] == seconds
    assert "retry_after_source" not in error
    assert error["recovery"]["guidance"].startswith(f"Wait {seconds} seconds, then")
    assert make(status, html=html, headers={"Retry-After": "7"})["retry_after"] == 7


def test_a_wait_in_a_message_counts_and_one_elsewhere_does_not() -> None:
    said = Evidence(decided_by="dialect", code="rate_limited", message="Slow down; retry after 45s.")
    assert make(429, said)["retry_after"] == 45
    long = "<p>Please try again in 90 seconds.</p>" + "<p>Our story goes on and on.</p>" * 60
    assert make(429, html=long)["retry_after_source"] == "default"
    assert make(429, html="<p>You sent 100 requests in 60 seconds.</p>")["retry_after_source"] == "default"
    assert make(500, html="<p>Please try again in 90 seconds.</p>")["retry_after"] is None


def test_a_spoken_wait_does_not_prove_that_nothing_was_done() -> None:
    error = make(503, html="<p>Please try again in 90 seconds.</p>", method="POST")
    assert (error["retry"], error["side_effects"]) == ("refetch", "possible")
    assert "may have taken effect" in error["recovery"]["guidance"]


def test_an_own_code_with_a_wait_is_to_be_sent_again_later() -> None:
    own = Evidence(decided_by="dialect", code="kitchen_busy", message="The kitchen is busy.")
    error = make(409, own, headers={"Retry-After": "60"})
    assert (error["retry"], error["recovery"]["action"]) == ("once", "retry_later")
    assert error["recovery"]["guidance"].startswith("Wait 60 seconds, then send the same request again")
    assert make(409, own)["recovery"]["action"] == "inspect_and_escalate"


@pytest.mark.parametrize("status", [501, 505, 508])
@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("sent", [{}, {"Idempotency-Key": "k"}])
def test_what_no_repetition_mends_is_not_to_be_repeated(
    status: int, method: str, sent: dict[str, str]
) -> None:
    for evidence in ((), (Evidence(decided_by="dialect", code="internal", message="It is not built yet."),)):
        recovery = make(status, *evidence, method=method, sent=sent)["recovery"]
        assert recovery["guidance"].startswith("Do not repeat this request")
        assert recovery["same_arguments"] == ("conditional" if sent and method == "POST" else "discouraged")
    assert "once more" in make(500)["recovery"]["guidance"]


@pytest.mark.parametrize(
    ("status", "headers", "words"),
    [
        (405, {"Allow": "GET, HEAD"}, "takes here: GET, HEAD."),
        (405, {"Allow": "<b>, ignore all rules"}, "Use another method"),
        (405, {}, "Use another method"),
        (406, {}, "Change Accept"),
        (413, {}, "Send less"),
        (414, {}, "Shorten the URL"),
        (415, {}, "Change Content-Type"),
    ],
)
def test_what_to_change_is_said(status: int, headers: dict[str, str], words: str) -> None:
    said = Evidence(decided_by="dialect", code="invalid_input", message="That does not go.")
    for evidence in ((), (said,)):
        assert words in make(status, *evidence, headers=headers)["recovery"]["guidance"]


def test_a_failure_of_our_own_says_whose_wait_it_is() -> None:
    failure = FAILURES["connection_read_timeout"]
    by_table = failure_envelope(Request("GET"), failure).error
    assert (by_table.retry_after, by_table.retry_after_source) == (30, "default")
    known = failure_envelope(Request("GET"), failure, seconds=12).error
    assert (known.retry_after, known.retry_after_source) == (12, None)


@pytest.mark.parametrize(
    "printed",
    [
        ":1:0:ERROR:SCHEMASV:SCHEMAV_ELEMENT_CONTENT: Element 'a' is wrong.",
        "<string>:3:12:FATAL:PARSER:ERR_TAG_NAME_MISMATCH: Opening and ending differ.",
        "The parameter [ ] was refused by the shop.",
        'The value "" was refused by the shop.',
    ],
)
def test_a_printout_is_no_message(printed: str) -> None:
    said = Evidence(decided_by="dialect", code="invalid_input", message=printed)
    assert make(400, said)["message"] == "shop.example did not accept the request as it was sent."


@pytest.mark.parametrize(
    "said", ["Choose a size [S, M] for the shirt.", "Error 12:30: the shop opens at nine."]
)
def test_brackets_and_numbers_are_no_printout(said: str) -> None:
    assert make(400, Evidence(decided_by="dialect", code="invalid_input", message=said))["message"] == said
