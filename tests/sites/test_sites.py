"""Real sites behind saywhy: bystanders get what the site sent, agents get an envelope that helps and tells nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from stage.callers import BYSTANDERS, Caller, Lines, agent, signed
from stage.stand import Exchange, OpenStand, Stand

FORM = (("Content-Type", "application/x-www-form-urlencoded"),)
JSON = (("Content-Type", "application/json"),)


class Failing(NamedTuple):
    """One way in which a site fails, and what an agent must be told.

    `leaks` is a piece of what the site's own page gives away to everyone: proof that there was something to hide.
    `own_json`: the site answers with JSON of its own, which apps may be reading. `says`: a word of the message.
    """

    site: str
    path: str
    status: int
    code: str
    method: str = "GET"
    fields: Lines = ()
    body: bytes = b""
    leaks: bytes = b""
    own_json: bool = False
    says: str = ""
    field: str | None = None
    wait: int | None = None


FAILURES = (
    Failing("django", "/item/7", 404, "not_found"),
    Failing("django", "/nothing", 404, "not_found"),
    Failing("django", "/boom", 500, "internal"),
    Failing("django", "/order", 403, "missing_field", "POST", FORM, b"item=7", says="CSRF"),
    Failing("django-debug", "/item/7", 404, "not_found", leaks=b"__main__.item"),
    Failing("django-debug", "/nothing", 404, "not_found", leaks=b"DEBUG = True"),
    Failing("django-debug", "/boom", 500, "internal", leaks=b"planted-pw"),
    Failing("django-debug", "/order", 403, "missing_field", "POST", FORM, b"item=7", leaks=b"Reason given", says="CSRF"),
    Failing("flask", "/nothing", 404, "not_found"),
    Failing("flask", "/boom", 500, "internal"),
    Failing("flask", "/order", 400, "invalid_input", "POST", FORM, b"item=7"),
    Failing("flask", "/order", 422, "invalid_input", "POST", FORM, b"quantity=0", says="quantity"),
    Failing("flask-debug", "/boom", 500, "internal", leaks=b"planted-pw"),
    Failing("flask-debug", "/order", 500, "internal", "POST", FORM, b"item=7", leaks=b"Traceback"),
    Failing("fastapi", "/nothing", 404, "not_found", own_json=True),
    Failing("fastapi", "/orders", 422, "invalid_input", "POST", JSON, b'{"item": "x", "quantity": "lots"}', own_json=True,
            says="integer", field="quantity"),
    Failing("fastapi", "/orders/7/payment", 409, "conflict", "POST", own_json=True, says="already paid"),
    Failing("fastapi", "/boom", 500, "internal"),
    Failing("nginx", "/missing", 404, "not_found"),
    Failing("nginx", "/private", 403, "not_allowed"),
    Failing("nginx", "/dead", 502, "temporarily_unavailable", wait=60),
    Failing("nginx", "/down", 503, "temporarily_unavailable", wait=60),
    Failing("nginx", "/wait", 503, "temporarily_unavailable", wait=17),
    Failing("express", "/missing", 404, "not_found"),
    Failing("express", "/boom", 500, "internal", leaks=b"planted-pw"),
    Failing("express", "/orders", 422, "invalid_input", "POST", JSON, b'{"quantity": 0}', own_json=True, says="quantity"),
    Failing("express", "/orders", 400, "invalid_input", "POST", JSON, b'{"quantity":', leaks=b"node_modules"),
    Failing("php", "/missing.png", 404, "not_found"),
    Failing("php", "/boom.php", 500, "internal", leaks=b"planted-pw"),
)  # fmt: skip

MEDIA = ("application/json", "application/problem+json", "text/markdown")
VARY = {"accept", "sec-fetch-site", "sec-fetch-dest", "signature", "signature-input", "signature-agent"}
TRACE_MARKS = (
    "planted", "Traceback", 'File "', "File &quot;", ".py", ".php", ".js:", "node_modules", "site-packages", "#0 ", "{main}",
    "    at ", "at Layer", "on line", "Stack trace", "SyntaxError", "ConnectionError", "RuntimeException", "KeyError",
    "postgres:", "mysql:", "db.internal", "DSN", "DEBUG", "ROOT_URLCONF", "__main__", "__debugger__", "/tmp", "/usr",
    str(Path(__file__).parent),
)  # fmt: skip
"""Nothing of these may be in any byte that an agent gets in place of a page."""


def name(failing: Failing) -> str:
    """The test id."""
    return f"{failing.site}{failing.path}-{failing.status}"


each_failure = pytest.mark.parametrize("failing", FAILURES, ids=name)


def provoke(stand: Stand, failing: Failing, caller: Caller) -> Exchange:
    """The exchange of this failure, checked to be the one that the table means."""
    seen = stand.exchange(
        failing.path, caller, method=failing.method, fields=failing.fields, body=failing.body
    )
    assert seen.site.status == failing.status
    return seen


@each_failure
@pytest.mark.parametrize("caller", BYSTANDERS, ids=lambda caller: caller.name)
def test_bystanders_get_what_the_site_sent(stand: OpenStand, failing: Failing, caller: Caller) -> None:
    seen = provoke(stand(failing.site), failing, caller)
    assert seen.got.status_line == seen.site.status_line
    assert seen.got.end_to_end() == seen.site.end_to_end()
    assert seen.got.content == seen.site.content
    if seen.site.framing != "close":  # a length stays a length, chunked stays chunked
        assert seen.got.framing == seen.site.framing
    assert failing.leaks in seen.got.decoded()


def field_name(line: bytes) -> bytes:
    """A request's field name, lower case."""
    return line.partition(b":")[0].lower()


@each_failure
def test_the_site_sees_the_request_as_it_was_sent(stand: OpenStand, failing: Failing) -> None:
    """Beside the hop-by-hop fields nothing is lost or reordered, and only the documented fields are added."""
    place = stand(failing.site)
    caller = BYSTANDERS[0]
    seen = provoke(place, failing, caller)
    head, _, body = seen.asked.partition(b"\r\n\r\n")
    line, *fields = head.split(b"\r\n")
    assert line == f"{failing.method} {failing.path} HTTP/1.1".encode()
    assert body == failing.body
    sent = [
        f"{one}: {value}".encode() for one, value in (*caller.fields, *failing.fields) if one != "Connection"
    ]
    assert [one for one in fields if one in sent] == sent
    added = {field_name(one) for one in fields} - {field_name(one) for one in sent}
    assert added <= {b"host", b"content-length", b"connection", b"x-forwarded-for", b"x-forwarded-proto",
                     b"x-forwarded-host", b"x-request-id", b"cdn-loop"}  # fmt: skip


def read_envelope(media: str, content: bytes) -> dict[str, Any]:
    """The members of an error in any rendering, Markdown's front matter included."""
    if media == "text/markdown":
        mark, front, text = content.decode().split("---\n", 2)
        assert not mark
        return {**yaml.safe_load(front), "message": text}
    value = json.loads(content)
    if media == "application/problem+json":
        assert value["detail"] == value["error"]["message"]
    error = value["error"]
    assert isinstance(error, dict)
    return {**error, "status": value.get("status")}


def assert_nothing_tells(text: str) -> None:
    """No line of a trace, no secret, no path of the machine."""
    found = [mark for mark in TRACE_MARKS if mark in text]
    assert not found, f"{found} in {text}"


def assert_fields(seen: Exchange, failing: Failing, media: str) -> None:
    """The header section of a rewritten error (ENVELOPE, Headers)."""
    got = seen.got
    assert got.status == failing.status
    assert got.field("content-type").partition(";")[0] == media
    assert got.field("cache-control") == "no-store"
    assert got.field("x-content-type-options") == "nosniff"
    assert {one.strip().lower() for value in got.all("vary") for one in value.split(",")} >= VARY
    assert got.field("agent-error").partition(";")[0] == failing.code
    assert f"received-status={failing.status}" in got.field("proxy-status")
    assert not got.field("content-encoding")
    assert not got.field("x-powered-by")
    assert not got.field("etag")
    assert got.framing == "length"
    if failing.wait is not None:
        assert got.field("retry-after") == str(failing.wait)


ENVELOPED = [
    pytest.param(failing, media, id=f"{name(failing)}-{media}")
    for failing in FAILURES
    for media in MEDIA
    if not (
        failing.own_json and media == "application/json"
    )  # a site's own JSON stays for its apps: see below
]


@pytest.mark.parametrize(("failing", "media"), ENVELOPED)
def test_agents_get_an_envelope(stand: OpenStand, failing: Failing, media: str) -> None:
    seen = provoke(stand(failing.site), failing, agent(media))
    assert_fields(seen, failing, media)
    error = read_envelope(media, seen.got.content)
    assert error["code"] == failing.code
    assert error["kind"]
    message = error["message"]
    assert len(message.split()) >= 3, f"{message!r} says nothing"
    assert "<" not in message
    assert failing.says in message
    if failing.field and media != "text/markdown":
        assert error["field"] == failing.field
    unsafe = failing.method == "POST"
    if unsafe and failing.status >= 500:  # no envelope invites a doubled POST
        assert error["retry"] == "refetch"
        assert error["side_effects"] == "possible"
    elif not unsafe:
        assert error["side_effects"] == "none_expected"
    assert_nothing_tells(seen.got.raw.decode())


OWN_JSON = [failing for failing in FAILURES if failing.own_json]


@pytest.mark.parametrize("failing", OWN_JSON, ids=name)
def test_a_sites_own_json_stays_for_its_apps(stand: OpenStand, failing: Failing) -> None:
    seen = provoke(stand(failing.site), failing, agent("application/json"))
    assert seen.got.status_line == seen.site.status_line
    assert seen.got.content == seen.site.content
    assert set(seen.site.end_to_end()) <= set(seen.got.end_to_end())
    assert seen.got.framing == seen.site.framing
    assert seen.got.field("agent-error").partition(";")[0] == failing.code


@pytest.mark.parametrize("failing", OWN_JSON, ids=name)
def test_the_original_json_comes_along(stand: OpenStand, failing: Failing) -> None:
    seen = provoke(stand(failing.site), failing, agent("application/problem+json"))
    assert json.loads(seen.got.content)["error"]["original"] == json.loads(seen.site.content)


@pytest.mark.parametrize("failing", OWN_JSON, ids=name)
@pytest.mark.parametrize("media", ["application/json", "*/*"])
def test_callers_who_sign_get_the_envelope_of_json_too(
    stand: OpenStand, failing: Failing, media: str
) -> None:
    seen = provoke(stand(failing.site), failing, signed(media))
    assert_fields(seen, failing, "application/json")
    error = json.loads(seen.got.content)["error"]
    assert error["code"] == failing.code
    assert error["original"] == json.loads(seen.site.content)


# FastAPI answers HEAD with 405 where only GET is routed.
ANSWER_HEAD = [failing for failing in FAILURES if failing.method == "GET" and failing.site != "fastapi"]


@pytest.mark.parametrize("failing", ANSWER_HEAD, ids=name)
def test_head_is_decided_by_the_head_alone(stand: OpenStand, failing: Failing) -> None:
    seen = stand(failing.site).exchange(failing.path, agent("application/problem+json"), method="HEAD")
    assert seen.got.status == seen.site.status == failing.status
    assert seen.got.content == b""
    assert not seen.got.field("content-length")
    assert seen.got.field("agent-error").partition(";")[0] == failing.code


@pytest.mark.parametrize("failing", ANSWER_HEAD, ids=name)
@pytest.mark.parametrize("caller", BYSTANDERS, ids=lambda caller: caller.name)
def test_head_passes_bystanders_as_it_came(stand: OpenStand, failing: Failing, caller: Caller) -> None:
    seen = stand(failing.site).exchange(failing.path, caller, method="HEAD")
    assert seen.got.status_line == seen.site.status_line
    assert seen.got.end_to_end() == seen.site.end_to_end()


FATAL = Failing("php", "/fatal.php", 200, "internal", leaks=b"planted-pw")


@pytest.mark.parametrize("caller", [*BYSTANDERS, *map(agent, MEDIA)], ids=lambda caller: caller.name)
def test_a_crash_sent_as_success_passes_by_default(stand: OpenStand, caller: Caller) -> None:
    """With display_errors on, PHP sends its fatal errors with 200: a success, as long as nobody asks for more."""
    seen = provoke(stand("php"), FATAL, caller)
    assert seen.got.end_to_end() == seen.site.end_to_end()
    assert seen.got.content == seen.site.content


@pytest.mark.parametrize("media", MEDIA)
def test_a_crash_sent_as_success_is_an_error_where_the_pack_is_on(stand: OpenStand, media: str) -> None:
    place = stand("php", SAYWHY_RULES__PACKS="crashes")
    seen = provoke(place, FATAL, agent(media))
    assert seen.got.status == 500
    assert read_envelope(media, seen.got.content)["code"] == "internal"
    assert_nothing_tells(seen.got.raw.decode())
    untouched = provoke(place, FATAL, BYSTANDERS[0])
    assert untouched.got.end_to_end() == untouched.site.end_to_end()
    assert untouched.got.content == untouched.site.content


GOOD = [("django", "/"), ("flask", "/"), ("fastapi", "/"), ("nginx", "/"), ("express", "/"), ("php", "/")]


@pytest.mark.parametrize(("site", "path"), GOOD)
@pytest.mark.parametrize("caller", [*BYSTANDERS, *map(agent, MEDIA)], ids=lambda caller: caller.name)
def test_good_pages_are_everybodys(stand: OpenStand, site: str, path: str, caller: Caller) -> None:
    seen = stand(site).exchange(path, caller)
    assert seen.got.status == seen.site.status == 200
    assert seen.got.end_to_end() == seen.site.end_to_end()
    assert seen.got.content == seen.site.content


def test_what_the_sites_logged_away_is_in_no_log(stand: OpenStand) -> None:
    place = stand("flask-debug")
    before = len(place.proxy.exchanges())
    place.exchange("/boom?token=planted-query", agent("application/json"))
    lines = place.proxy.exchanges(at_least=before + 1)
    assert len(lines) == before + 1
    assert lines[-1]["path"] == "/boom"
    assert_nothing_tells(json.dumps(lines))
