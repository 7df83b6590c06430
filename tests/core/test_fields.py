"""What the header section of an answer keeps, sets and drops."""

from __future__ import annotations

import http_sf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from saywhy.core.compose import Found, bare, compose
from saywhy.core.fields import agent_error, annotated_fields, plain_fields, redacted_fields, rewritten_fields
from saywhy.core.model import Evidence, Fields, Head, Request, Response
from saywhy.core.scrub import Scrubber


def _error(status: int, headers: dict[str, str] | None = None, **said: object) -> object:
    head = Head(Request("GET"), Response(status, Fields.of(headers or {})))
    if not said:
        return bare(head, now=0).error
    return compose(
        Found(head, [Evidence(decided_by="dialect", **said)]), scrubber=Scrubber(), now=0
    ).envelope.error  # type: ignore[arg-type]


def _rewritten(site: Fields, status: int = 404, received: int | None = None, **wishes: object) -> Fields:
    settings = {"content_type": "application/json", "length": 5, "useragents": False, "now": 0.0, **wishes}
    error = bare(Head(Request("GET"), Response(status, site)), now=0).error
    return rewritten_fields(
        site, error, status=status, received=status if received is None else received, **settings
    )  # type: ignore[arg-type]


KEPT = [
    "Set-Cookie", "WWW-Authenticate", "Proxy-Authenticate", "Allow", "RateLimit", "RateLimit-Policy",
    "X-RateLimit-Remaining", "Link", "Location", "Access-Control-Allow-Origin", "Strict-Transport-Security",
    "Content-Security-Policy", "Content-Signal", "PAYMENT-REQUIRED", "crawler-price", "Deprecation", "Sunset",
    "X-Request-Id", "traceparent", "Server-Timing", "Server", "Date", "Retry-After", "Referrer-Policy", "CF-Ray",
]  # fmt: skip

DROPPED = [
    "Content-Encoding", "Content-Language", "ETag", "Last-Modified", "Accept-Ranges", "Content-Range", "Content-MD5",
    "Digest", "Content-Digest", "Repr-Digest", "Signature", "Signature-Input", "Transfer-Encoding", "Expires", "Age",
    "Surrogate-Control", "CDN-Cache-Control", "Cloudflare-CDN-Cache-Control", "X-Powered-By", "X-AspNet-Version",
    "X-AspNetMvc-Version", "X-Debug-Token", "X-Debug-Token-Link", "Content-Disposition",
]  # fmt: skip


@pytest.mark.parametrize("name", KEPT)
def test_kept(name: str) -> None:
    line = (name.encode(), b"30")
    assert line in _rewritten(Fields([line])).lines


@pytest.mark.parametrize(
    "name", [*DROPPED, *(name.lower() for name in DROPPED), *(name.upper() for name in DROPPED)]
)
def test_dropped(name: str) -> None:
    assert name.lower() not in _rewritten(Fields([(name.encode(), b"x")]))


def test_a_416_keeps_content_range() -> None:
    assert (
        _rewritten(Fields.of({"Content-Range": "bytes */9"}), status=416).get("content-range") == "bytes */9"
    )


def test_what_is_set() -> None:
    fields = _rewritten(
        Fields.of({"Content-Type": "text/html", "Content-Length": "900", "Cache-Control": "max-age=60"})
    )
    assert dict(fields.lines) == {
        b"Content-Type": b"application/json",
        b"Content-Length": b"5",
        b"Cache-Control": b"no-store",
        b"Vary": b"Accept, Sec-Fetch-Site, Sec-Fetch-Dest, Signature, Signature-Input, Signature-Agent",
        b"X-Content-Type-Options": b"nosniff",
        b"Agent-Error": b"not_found;retry=no;side_effects=none_expected",
        b"Proxy-Status": b"saywhy; received-status=404",
    }


def test_kept_lines_keep_bytes_order_case_and_repetition() -> None:
    lines = [(b"sEt-CoOkIe", b"a=\xe9"), (b"X-One", b""), (b"sEt-CoOkIe", b"b=2"), (b"Server", b"x  y")]
    assert list(_rewritten(Fields(lines)).lines[: len(lines)]) == lines


@pytest.mark.parametrize(
    ("site", "useragents", "merged"),
    [
        ([], True, "Accept, Sec-Fetch-Site, Sec-Fetch-Dest, Signature, Signature-Input, Signature-Agent, User-Agent"),
        (["Cookie"], False, "Cookie, Accept, Sec-Fetch-Site, Sec-Fetch-Dest, Signature, Signature-Input, Signature-Agent"),
        (["accept, Cookie", "SIGNATURE"], False, "accept, Cookie, SIGNATURE, Sec-Fetch-Site, Sec-Fetch-Dest, Signature-Input, Signature-Agent"),
        (["*"], False, "*"),
        (["Cookie, b\u00e4d name"], False, "Cookie, Accept, Sec-Fetch-Site, Sec-Fetch-Dest, Signature, Signature-Input, Signature-Agent"),
    ],
)  # fmt: skip
def test_vary_is_merged(site: list[str], useragents: bool, merged: str) -> None:
    fields = _rewritten(Fields.of({"Vary": site}), useragents=useragents)
    assert fields.all("vary") == [merged]


def test_head_has_no_length() -> None:
    assert "content-length" not in _rewritten(Fields.of({"Content-Length": "9"}), length=None)


def test_an_existing_proxy_status_is_added_to() -> None:
    fields = _rewritten(Fields.of({"Proxy-Status": "cdn; error=dns_error"}))
    assert fields.all("proxy-status") == ["cdn; error=dns_error", "saywhy; received-status=404"]


def test_our_own_failure_names_its_token() -> None:
    assert (
        _rewritten(Fields(), status=502, received=0, token="dns_error").get("proxy-status")
        == "saywhy; error=dns_error"
    )


@pytest.mark.parametrize(
    ("status", "site", "expected"),
    [
        (429, {}, ["30"]),
        (503, {}, ["60"]),
        (429, {"Retry-After": "17"}, ["17"]),
        (429, {"Retry-After": "Thu, 01 Jan 1970 00:00:20 GMT"}, ["Thu, 01 Jan 1970 00:00:20 GMT"]),
        (429, {"Retry-After": "0"}, ["30"]),
        (429, {"Retry-After": "never"}, ["30"]),
        (503, {"Retry-After": "900000"}, ["86400"]),
        (429, {"RateLimit": '"a";r=0;t=8'}, ["8"]),
        (404, {}, []),
        (403, {"Retry-After": "9"}, ["9"]),
    ],
)
def test_retry_after(status: int, site: dict[str, str], expected: list[str]) -> None:
    assert _rewritten(Fields.of(site), status=status).all("retry-after") == expected


def test_agent_error_is_a_structured_field() -> None:
    for status in range(400, 600):
        value = agent_error(bare(Head(Request("POST"), Response(status)), now=0).error)
        item, params = http_sf.parse(value, tltype="item")
        assert isinstance(item, http_sf.Token)
        assert set(params) == {"retry", "side_effects"}


@given(st.text(max_size=80))
def test_agent_error_of_any_site_code_is_one_structured_line(code: str) -> None:
    value = agent_error(_error(400, code=code))  # type: ignore[arg-type]
    assert b"\n" not in value
    assert b"\r" not in value
    item, _ = http_sf.parse(value, tltype="item")
    assert len(str(item)) <= 64


@given(st.lists(st.tuples(st.binary(max_size=12), st.binary(max_size=30)), max_size=8))
def test_no_line_opens_another(lines: list[tuple[bytes, bytes]]) -> None:
    fields = _rewritten(Fields(lines))
    for name, value in fields.lines:
        assert not {b"\r", b"\n", b"\0"} & {bytes([sign]) for sign in name + value}


def test_an_annotated_error_keeps_every_line() -> None:
    site = Fields.of(
        {"Content-Type": "application/json", "Cache-Control": "max-age=5", "ETag": '"x"', "Retry-After": "0"}
    )
    error = bare(Head(Request("GET"), Response(429, site)), now=0).error
    fields = annotated_fields(site, error, vary=False, private=False, now=0)
    assert fields.lines == (
        *site.lines,
        (b"Agent-Error", b"rate_limited;retry=after_delay;side_effects=none_expected"),
    )


def test_an_annotated_success_is_private_and_varies() -> None:
    site = Fields.of({"Cache-Control": "public, max-age=60", "Vary": "Accept"})
    error = bare(Head(Request("GET"), Response(409)), now=0).error
    fields = annotated_fields(site, error, vary=True, private=True, now=0)
    assert fields.all("cache-control") == ["private"]
    assert fields.all("vary")[0] == "Accept"
    assert "Signature" in fields.all("vary")[1]


def test_an_annotated_page_says_when_to_come_back() -> None:
    error = bare(Head(Request("GET"), Response(429)), now=0).error
    assert annotated_fields(Fields(), error, vary=True, private=False, now=0).get("retry-after") == "30"
    assert annotated_fields(Fields.of({"Retry-After": "5"}), error, vary=True, private=False, now=0).all(
        "retry-after"
    ) == ["5"]


def test_a_sites_own_agent_error_stays_when_annotated_and_goes_when_rewritten() -> None:
    site = Fields.of({"Agent-Error": "conflict"})
    error = bare(Head(Request("GET"), Response(404)), now=0).error
    assert annotated_fields(site, error, vary=False, private=False, now=0).all("agent-error") == ["conflict"]
    assert _rewritten(site).all("agent-error") == ["not_found;retry=no;side_effects=none_expected"]


def test_a_redacted_body_loses_what_described_the_old_bytes() -> None:
    site = Fields.of({"Content-Type": "application/json", "Content-Encoding": "gzip", "ETag": '"x"', "Content-Length": "9", "Cache-Control": "max-age=5", "Content-Language": "de"})  # fmt: skip
    fields = redacted_fields(site, 4, differs=False)
    assert fields.all("content-length") == ["4"]
    assert "content-encoding" not in fields
    assert "etag" not in fields
    assert fields.get("cache-control") == "max-age=5"
    assert fields.get("content-language") == "de"


def test_the_plain_page_of_a_failure() -> None:
    fields = plain_fields(length=10, token="dns_error", wait=0)
    assert fields.get("content-type") == "text/plain; charset=utf-8"
    assert fields.get("cache-control") == "no-store"
    assert "retry-after" not in fields
    assert plain_fields(length=10, token="dns_error", wait=7).get("retry-after") == "7"


OLD_BYTES = {"ETag": '"x"', "Content-MD5": "a", "Digest": "b", "Content-Digest": "c", "Repr-Digest": "d"}


@pytest.mark.parametrize(
    ("caching", "kept"),
    [
        ({}, ["private"]),
        ({"Cache-Control": "public, max-age=60, s-maxage=600"}, ["private"]),
        ({"Cache-Control": "max-age=60", "CDN-Cache-Control": "max-age=600"}, ["private"]),
        ({"Cache-Control": "no-store"}, ["no-store"]),
        ({"Cache-Control": "private, max-age=60"}, ["private, max-age=60"]),
        ({"Cache-Control": 'private="set-cookie", max-age=60'}, ["private"]),
    ],
)
def test_a_redacted_copy_for_an_agent_is_his_alone(caching: dict[str, str], kept: list[str]) -> None:
    site = Fields.of({"Content-Type": "application/json", "Vary": "Origin", **OLD_BYTES, **caching})
    fields = redacted_fields(site, 4, differs=True)
    assert fields.all("cache-control") == kept
    vary = ", ".join(fields.all("vary"))
    assert vary.startswith("Origin, ")
    assert "Accept" in vary
    assert "Signature-Agent" in vary
    assert not {name.lower() for name in OLD_BYTES} & fields.names()
    assert "cdn-cache-control" not in fields
