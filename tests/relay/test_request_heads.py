"""Which requests are refused, and with which status; what goes on to the site, byte for byte."""

from __future__ import annotations

import pytest
from loopback import OK, Got, both_loops, get, relaying, serving

G = b"GET / HTTP/1.1\r\n"
H = b"Host: t.example\r\n"
END = b"\r\n"

REFUSED = {
    "no host": (G + END, 400),
    "two hosts": (G + H + b"Host: evil\r\n" + END, 400),
    "two hosts, spelt differently": (G + H + b"hOST: t.example\r\n" + END, 400),
    "space in host": (G + b"Host: a b\r\n" + END, 400),
    "slash in host": (G + b"Host: a/b\r\n" + END, 400),
    "user-info in host": (G + b"Host: me@a\r\n" + END, 400),
    "empty host": (G + b"Host:\r\n" + END, 400),
    "letters for a port": (G + b"Host: a:b\r\n" + END, 400),
    "half a bracket": (G + b"Host: [::1\r\n" + END, 400),
    "length and coding": (b"POST / HTTP/1.1\r\n" + H + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    "two lengths": (b"POST / HTTP/1.1\r\n" + H + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", 400),
    "a signed length": (b"POST / HTTP/1.1\r\n" + H + b"Content-Length: +5\r\n\r\nhello", 400),
    "a hexadecimal length": (b"POST / HTTP/1.1\r\n" + H + b"Content-Length: 0x5\r\n\r\nhello", 400),
    "a list of lengths": (b"POST / HTTP/1.1\r\n" + H + b"Content-Length: 5, 5\r\n\r\nhello", 400),
    "twenty digits": (b"POST / HTTP/1.1\r\n" + H + b"Content-Length: " + b"1" * 20 + b"\r\n\r\n", 400),
    "no length at all": (b"POST / HTTP/1.1\r\n" + H + b"Content-Length:\r\n\r\n", 400),
    "a coding before chunked": (b"POST / HTTP/1.1\r\n" + H + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501),
    "chunked not last": (b"POST / HTTP/1.1\r\n" + H + b"Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n", 400),
    "chunked twice": (b"POST / HTTP/1.1\r\n" + H + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    "another coding": (b"POST / HTTP/1.1\r\n" + H + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 400),
    "a coding in HTTP/1.0": (b"POST / HTTP/1.0\r\n" + H + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    "bare CR": (G + H + b"X: a\rY: b\r\n" + END, 400),
    "NUL": (G + H + b"X: a\0b\r\n" + END, 400),
    "folded line": (G + H + b"X: a\r\n b\r\n" + END, 400),
    "space before the colon": (G + H + b"X : a\r\n" + END, 400),
    "no name": (G + H + b": a\r\n" + END, 400),
    "no colon": (G + H + b"nonsense\r\n" + END, 400),
    "bare LF": (G + H + b"X: a\n" + END, 400),
    "bare LF in an upgrade": (G + H + b"Connection: Upgrade\r\nUpgrade: x\nTransfer-Encoding: chunked\r\n" + END, 400),
    "bare CR in an upgrade": (G + H + b"Connection: Upgrade\r\nUpgrade: x\rX: y\r\n" + END, 400),
    "NUL in an upgrade nobody asked for": (G + H + b"Upgrade: \0\r\n" + END, 400),
    "space first": (b"GET / HTTP/1.1\r\n Host: t.example\r\n" + H + END, 400),
    "space in the target": (b"GET /a b HTTP/1.1\r\n" + H + END, 400),
    "tab in the target": (b"GET /a\tb HTTP/1.1\r\n" + H + END, 400),
    "tab for a space": (b"GET\t/ HTTP/1.1\r\n" + H + END, 400),
    "space behind the target": (b"GET /  HTTP/1.1\r\n" + H + END, 400),
    "space behind the version": (b"GET / HTTP/1.1 \r\n" + H + END, 400),
    "two spaces": (b"GET  / HTTP/1.1\r\n" + H + END, 400),
    "a fragment": (b"GET /a#b HTTP/1.1\r\n" + H + END, 400),
    "authority form": (b"GET t.example:80 HTTP/1.1\r\n" + H + END, 400),
    "another scheme": (b"GET ftp://t.example/ HTTP/1.1\r\n" + H + END, 400),
    "user-info in an absolute target": (b"GET http://me:pw@t.example/ HTTP/1.1\r\n" + H + END, 400),
    "star without OPTIONS": (b"GET * HTTP/1.1\r\n" + H + END, 400),
    "HTTP/0.9": (b"GET /\r\n\r\n", 400),
    "HTTP/1.2": (b"GET / HTTP/1.2\r\n" + H + END, 505),
    "HTTP/2.0": (b"GET / HTTP/2.0\r\n" + H + END, 505),
    "another protocol": (b"GET / SMTP/1.1\r\n" + H + END, 400),
    "CONNECT": (b"CONNECT t.example:443 HTTP/1.1\r\n" + H + END, 501),
    "TRACE": (b"TRACE / HTTP/1.1\r\n" + H + END, 405),
    "an unknown method": (b"ABC / HTTP/1.1\r\n" + H + END, 501),
    "a lower-case method": (b"get / HTTP/1.1\r\n" + H + END, 501),
    "TLS to a plain port": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc", 400),
    "a long target": (b"GET /" + b"a" * 17000 + b" HTTP/1.1\r\n" + H + END, 414),
    "a long line": (G + H + b"X: " + b"a" * 17000 + b"\r\n" + END, 431),
    "a large head": (G + H + b"".join(b"X%d: %b\r\n" % (n, b"a" * 1000) for n in range(70)) + END, 431),
    "an endless head": (G + H + b"X: " + b"a" * 70000, 431),
    "many fields": (G + H + b"".join(b"X%d: 1\r\n" % n for n in range(200)) + END, 431),
}  # fmt: skip


@both_loops
async def test_refusals_say_so_echo_nothing_and_reach_no_site() -> None:
    async with serving(OK) as site, relaying(site.port) as running:
        wrong = {}
        for name, (data, status) in REFUSED.items():
            answer = await running.ask(data)
            if (
                answer.status != status
                or answer.body != b"failed\n"
                or answer.all(b"connection") != [b"close"]
            ):
                wrong[name] = answer
        assert wrong == {}
        assert site.got == []
        assert {outcome.sent_status for outcome in running.outcomes} == {400, 405, 414, 431, 501, 505}
        assert {outcome.failure for outcome in running.outcomes} == {"http_request_error"}
        assert await running.ask(REFUSED["TRACE"][0])
        assert (await running.ask(REFUSED["TRACE"][0])).all(b"allow")


TARGETS = {
    "escapes": rb"/a%2Fb/%41%7e/%2e%2E/c?q=%21+%2B%20&x=a;b&u=%e9%C3%A9",
    "dots": b"/a/./b/../c",
    "two slashes": b"//evil.example/x",
    "bad escapes": b"/x%zz?y=%",
    "odd bytes": b'/x?a=|{}^`"<>\\',
    "a bare question mark": b"/x?",
    "eight bits": "/caf\xe9/日本?ü=\xff".encode() + b"\xe9\xff",
    "long": b"/" + b"a" * 7000,
}


@both_loops
async def test_targets_pass_byte_for_byte() -> None:
    async with serving(OK) as site, relaying(site.port) as running:
        for target in TARGETS.values():
            assert (await running.ask(b"GET " + target + b" HTTP/1.1\r\n" + H + END)).status == 200
        assert [got.target for got in site.got] == list(TARGETS.values())


ABSOLUTE = {
    b"http://abs.example/p?q=1": (b"/p?q=1", b"abs.example"),
    b"HTTP://abs.example:8080?q": (b"/?q", b"abs.example:8080"),
    b"https://abs.example": (b"/", b"abs.example"),
    b"http://[::1]:80/x//y": (b"/x//y", b"[::1]:80"),
}


@both_loops
async def test_absolute_form_becomes_origin_form_and_its_authority_the_host() -> None:
    async with serving(OK) as site, relaying(site.port) as running:
        for target in ABSOLUTE:
            await running.ask(b"GET " + target + b" HTTP/1.1\r\nX: 1\r\nConnection: close\r\n" + H + END)
            await running.ask(
                b"GET " + target + b" HTTP/1.0\r\nConnection: x-gone\r\nX-Gone: 1\r\nX: 1\r\n" + END
            )
        seen = [(got.target, *got.all(b"host")) for got in site.got]
        assert seen == [pair for pair in ABSOLUTE.values() for _ in (1, 2)]
        assert all(
            got.all(b"x") == [b"1"] and not got.all(b"x-gone") and not got.all(b"connection")
            for got in site.got
        )
        await running.ask(b"OPTIONS http://abs.example HTTP/1.1\r\n" + H + END, "OPTIONS")
        assert site.got[-1].target == b"*"


GONE = [
    "Connection: close, X-Hop, Keep-Alive", "X-Hop: 1", "Keep-Alive: timeout=5", "Proxy-Connection: keep-alive",
    "Proxy-Authorization: Basic eDp5", "TE: gzip", "HTTP2-Settings: AAMAAABkAAQAAP__", "Upgrade: h2c",
    "Agent-Identity: someone", "agent_identity: someone", "X-Forwarded-For: 6.6.6.6", "X_Forwarded-For: 6.6.6.6",
    "x_forwarded_proto: https", "X-Forwarded-Host: evil", "X-Forwarded-Port: 1", "Forwarded: for=6.6.6.6",
]  # fmt: skip
STAYS = [
    "X-Keep: 1", "x-CaSe:  2 ", "X-Empty:", "X-Twice: a", "X-Twice: b", "Cookie: a=1", "Cookie: b=\xe9",
    "Authorization: Bearer x", "X-Hopper: 1", "Range: bytes=0-1,5-", "If-None-Match: W/\"a\", \"b\"",
    "Agent-Identities: 1", "Via: 1.1 before", "Max-Forwards: 3",
]  # fmt: skip


@both_loops
async def test_fields_of_one_hop_go_and_every_other_line_passes_as_it_came() -> None:
    async with serving(OK) as site, relaying(site.port) as running:
        mixed = [line for pair in zip(GONE, [*STAYS, "", ""], strict=True) for line in pair if line]
        assert (await running.ask(get("/", *mixed))).status == 200
        lines = site.got[0].lines
        ours = [b"X-Forwarded-For: 127.0.0.1", b"X-Forwarded-Proto: http", b"X-Forwarded-Host: t.example"]
        assert list(lines[: 1 + len(STAYS)]) == [
            b"Host: t.example",
            *(line.encode("latin-1") for line in STAYS),
        ]
        assert list(lines[1 + len(STAYS) : 4 + len(STAYS)]) == ours
        assert len(lines) == len(STAYS) + 6  # and a request id, and CDN-Loop


@both_loops
async def test_connection_takes_nothing_away_that_others_rely_on() -> None:
    protected = [
        "Host",
        "Authorization",
        "Cookie",
        "Content-Length",
        "Content-Type",
        "Via",
        "X-Forwarded-For",
        "Signature-Input",
    ]
    async with serving(OK) as site, relaying(site.port) as running:
        fields = [
            "Connection: " + ", ".join(protected),
            "Authorization: a", "Cookie: b=1", "Content-Length: 2", "Content-Type: text/plain", "Via: 1.0 x", "Signature-Input: s=()",
        ]  # fmt: skip
        await running.ask(get("/", *fields, method="POST", body=b"hi"))
        got = site.got[0]
        assert got.body == b"hi"
        assert all(got.all(name.lower().encode()) for name in protected)


FORWARDED_TABLE = [
    # forwarding settings, caller's fields, fields of the site
    ({}, ["X-Forwarded-For: 6.6.6.6"], {b"x-forwarded-for": [b"127.0.0.1"], b"x-forwarded-proto": [b"http"]}),
    ({}, ["Forwarded: for=6.6.6.6"], {b"forwarded": []}),
    (
        {"trusted_proxies": ["127.0.0.0/8"]},
        ["X-Forwarded-For: 6.6.6.6", "X-Forwarded-Proto: https", "X-Forwarded-Host: public.example"],
        {
            b"x-forwarded-for": [b"6.6.6.6, 127.0.0.1"],
            b"x-forwarded-proto": [b"https"],
            b"x-forwarded-host": [b"public.example"],
        },
    ),
    (
        {"trusted_proxies": ["127.0.0.1"]},
        ["Forwarded: for=6.6.6.6"],
        {
            b"forwarded": [b"for=6.6.6.6"],
            b"x-forwarded-for": [b"127.0.0.1"],
            b"x-forwarded-host": [b"t.example"],
        },
    ),
    ({"trusted_proxies": ["10.0.0.0/8"]}, ["X-Forwarded-For: 6.6.6.6"], {b"x-forwarded-for": [b"127.0.0.1"]}),
    (
        {"style": "forwarded"},
        ["X-Forwarded-For: 6.6.6.6"],
        {b"forwarded": [b'for=127.0.0.1;host="t.example";proto=http'], b"x-forwarded-for": []},
    ),
    ({"via": True}, ["Via: 1.0 a"], {b"via": [b"1.0 a", b"1.1 saywhy"]}),
    ({}, ["Via: 1.0 a"], {b"via": [b"1.0 a"]}),
    ({}, ["X-Request-Id: mine"], {b"x-request-id": [b"mine"]}),
    ({"request_id_field": "x-trace"}, ["X-Request-Id: mine"], {b"x-request-id": [b"mine"]}),
]


@pytest.mark.parametrize("case", range(len(FORWARDED_TABLE)))
@both_loops
async def test_what_the_site_is_told_of_the_caller(case: int) -> None:
    forwarding, fields, expected = FORWARDED_TABLE[case]
    async with serving(OK) as site, relaying(site.port, forwarding=forwarding) as running:
        await running.ask(get("/", *fields))
        assert {name: site.got[0].all(name) for name in expected} == expected
        field = str(forwarding.get("request_id_field", "x-request-id")).encode()
        assert site.got[0].all(field) == [running.outcomes[0].request_id.encode()]


@both_loops
async def test_the_first_discarded_field_is_a_warning_and_only_the_first(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with serving(OK) as site, relaying(site.port) as running:
        for _ in range(3):
            await running.ask(get("/", "X-Forwarded-Proto: https"))
        assert [
            record.message.count("trusted_proxies")
            for record in caplog.records
            if record.name == "saywhy.relay"
        ] == [1]


@both_loops
async def test_a_request_that_comes_back_is_a_loop_and_others_loops_are_not() -> None:
    async with serving(OK) as site, relaying(site.port) as running:
        await running.ask(get("/", "CDN-Loop: other, another; v=1"))
        first = site.got[0].all(b"cdn-loop")
        assert first[0] == b"other, another; v=1"
        assert first[1].startswith(b"saywhy-")
        answer = await running.ask(get("/", f"CDN-Loop: other, {first[1].decode()}; x=1"))
        assert answer.status == 508
        assert len(site.got) == 1


@both_loops
async def test_max_forwards_counts_down_for_options_and_ends_here_at_zero() -> None:
    async with serving(OK) as site, relaying(site.port) as running:
        answer = await running.ask(get("/", "Max-Forwards: 0", method="OPTIONS"))
        assert (answer.status, site.got) == (200, [])
        await running.ask(get("/", "Max-Forwards: 3", method="OPTIONS"))
        await running.ask(get("*", "Max-Forwards: 3", method="OPTIONS"))
        await running.ask(get("/", "Max-Forwards: 0"))
        assert [got.all(b"max-forwards") for got in site.got] == [[b"2"], [b"2"], [b"0"]]


@both_loops
async def test_http_1_0_may_leave_host_out_and_is_answered_in_kind() -> None:
    async with serving(OK) as site, relaying(site.port) as running:
        answer = await running.ask(b"GET /health HTTP/1.0\r\n\r\n")
        assert (answer.status, answer.all(b"connection")) == (200, [b"close"])
        assert site.got[0].first == b"GET /health HTTP/1.1"
        assert site.got[0].all(b"host") == [b"127.0.0.1:%d" % site.port]
        answer = await running.ask(b"GET /health HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        assert answer.all(b"connection") == [b"keep-alive"]


@both_loops
async def test_te_trailers_is_said_again_for_our_own_hop() -> None:
    async with serving(OK) as site, relaying(site.port) as running:
        await running.ask(get("/", "TE: trailers, deflate", "Connection: TE"))
        await running.ask(get("/", "TE: gzip", "Connection: TE"))
        assert [(got.all(b"te"), got.all(b"connection")) for got in site.got] == [
            ([b"trailers"], [b"TE"]),
            ([], []),
        ]


@both_loops
async def test_methods_of_the_registry_pass() -> None:
    async with serving(OK) as site, relaying(site.port) as running:
        methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "REPORT", "PURGE", "QUERY"]
        for method in methods:
            await running.ask(get("/", method=method))
        assert [got.first.split(b" ")[0].decode() for got in site.got] == methods


@both_loops
async def test_traceparent_is_recorded_when_it_is_one_line_of_sane_length() -> None:
    trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    async with serving(OK) as site, relaying(site.port) as running:
        await running.ask(get("/p?secret=1", f"traceparent: {trace}"))
        await running.ask(get("/", "traceparent: " + "x" * 200))
        await running.ask(get("/", "x-request-id: " + "i" * 500))
        first, second, third = running.outcomes
        assert (first.traceparent, second.traceparent, len(third.request_id)) == (trace, "", 128)
        assert (first.method, first.host, first.path, first.upstream) == ("GET", "t.example", "/p", "default")
        assert (first.original_status, first.sent_status, first.verdict, first.failure) == (
            200,
            200,
            None,
            "",
        )


def test_a_got_request_is_what_the_tests_think() -> None:
    got = Got(b"GET /x HTTP/1.1", (b"A: 1", b"a:2"), b"", 1)
    assert (got.target, got.all(b"a")) == (b"/x", [b"1", b"2"])
