"""A head that is read by what the last one of its connection said means what it means when it is read anew."""

from __future__ import annotations

import itertools

import pytest
from loopback import OK, both_loops, get, relaying, serving

from saywhy.edge.settings import Forwarding, Limits
from saywhy.relay.facts import facts_of, read_again
from saywhy.relay.forwarded import Onward, Peer
from saywhy.relay.framing import request_framing
from saywhy.relay.head import RequestHead, read_request, request_names
from saywhy.relay.lines import NONE, BadHead

NAMES = request_names("X-Request-Id")
FIRST_LINES = [
    b"GET / HTTP/1.1", b"GET /a?b=c HTTP/1.1", b"HEAD /a HTTP/1.1", b"POST /%2F//../ HTTP/1.1", b"GET /\xc3\xa9 HTTP/1.1",
    b"OPTIONS /a HTTP/1.1", b"OPTIONS * HTTP/1.1", b"TRACE / HTTP/1.1", b"CONNECT a:1 HTTP/1.1", b"GET / HTTP/1.0",
    b"GET http://other.example/a HTTP/1.1", b"GET a HTTP/1.1", b"GET /a b HTTP/1.1", b"GET /# HTTP/1.1", b"GET / HTTP/2.0",
    # A line more than the last time, made to look like the end of a request line.
    b"GET / HTTP/1.1\r\nX: a HTTP/1.1", b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked", b"GET / HTTP/1.1\r\nHost: evil",
    b"GET /" + b"a" * 20_000 + b" HTTP/1.1",
]  # fmt: skip
SECTIONS = [
    b"Host: t.example",
    b"Host: t.example\r\nConnection: keep-alive\r\nUpgrade-Insecure-Requests: 1\r\nCookie: a=b",
    b"Host: t.example\r\nConnection: close\r\nAccept: */*",
    b"Host: t.example\r\nConnection: X-Gone\r\nX-Gone: 1\r\nX-Kept: 1",
    b"Host: t.example\r\nX-Forwarded-For: 10.0.0.1\r\nX-Request-Id: abc\r\nTraceparent: 00-a-b-01",
    b"Host: t.example\r\nContent-Length: 5",
    b"Host: t.example\r\nTransfer-Encoding: chunked",
    b"Host: t.example\r\nMax-Forwards: 3",
    b"Host: t.example\r\nTE: trailers\r\nConnection: TE",
    b"Host: t.example\r\nConnection: Upgrade\r\nUpgrade: websocket",
    b"Host: t.example\r\nCDN-Loop: other",
    b"Host: t.example\r\nCookie: " + b"c" * 3000,
]

FORWARDINGS = [Forwarding(), Forwarding(style="forwarded", via=True)]


def raw(first: bytes, section: bytes) -> bytes:
    return first + b"\r\n" + section + b"\r\n\r\n"


def anew(data: bytes, *, trusted: bool) -> RequestHead | str:
    try:
        return read_request(data, NAMES, Limits(), trusted=trusted)
    except BadHead as bad:
        return bad.token


def meaning(head: RequestHead | str, forwarding: Forwarding) -> dict[str, object] | str:
    """Everything that the relay goes by, and what the site gets; `named` and its like are steps on the way there."""
    if isinstance(head, str):
        return head
    members = "raw method target host kind length hosts keep old upgrade trailers discarded hops loops forwarded shown request_id trace"
    said: dict[str, object] = {name: getattr(head, name) for name in members.split()}
    sent = Onward(forwarding, "here").compose(head, Peer("192.0.2.1", False, head.trusted), b"site.example")
    return said | {
        "sent": sent.replace(head.request_id, b"ID"),
        "path": head.path,
        "to the core": head.request("http"),
    }


@pytest.mark.parametrize("trusted", [False, True])
@pytest.mark.parametrize("section", SECTIONS)
def test_what_is_read_again_is_what_is_read_anew(section: bytes, trusted: bool) -> None:
    used = 0
    for before, after in itertools.product(FIRST_LINES, FIRST_LINES):
        last = anew(raw(before, section), trusted=trusted)
        facts = facts_of(last) if isinstance(last, RequestHead) else None
        if facts is None:
            continue
        assert isinstance(last, RequestHead)
        last.facts = facts
        last.request("http")  # the core's fields are kept from here on
        data = raw(after, section)
        again = read_again(data, facts, Limits(), trusted=trusted)
        if again is not None:
            used += 1
            for forwarding in FORWARDINGS:
                facts.rest = None
                again = read_again(data, facts, Limits(), trusted=trusted)
                assert again is not None
                assert meaning(again, forwarding) == meaning(anew(data, trusted=trusted), forwarding)
            request_framing().begin(data, len(data), NONE, 0)  # llhttp is not asked again: here it is
    forgotten = (b"Transfer-Encoding", b"Content-Length", b"TE:", b"Upgrade:", b"CDN-Loop", b"c" * 3000)
    rare = any(mark in section for mark in forgotten) or (trusted and b"X-Forwarded" in section)
    assert bool(used) is not rare


@pytest.mark.parametrize("other", SECTIONS[1:])
def test_other_fields_are_read_anew(other: bytes) -> None:
    last = read_request(raw(FIRST_LINES[0], SECTIONS[0]), NAMES, Limits(), trusted=False)
    facts = facts_of(last)
    assert facts is not None
    assert read_again(raw(FIRST_LINES[0], other), facts, Limits(), trusted=False) is None


@both_loops
async def test_each_request_of_a_connection_gets_an_id_and_a_target_of_its_own() -> None:
    async with serving(OK) as site, relaying(site.port) as running:
        reader, writer = await running.open()
        for number in range(5):
            writer.write(get(f"/{number}", "Connection: keep-alive", "X-Kept: 1"))
            assert await reader.readexactly(len(OK)) == OK
        writer.write(get("/5", "X-Kept: 2"))
        assert await reader.readexactly(len(OK)) == OK
        writer.close()
    assert [got.target for got in site.got] == [b"/%d" % number for number in range(6)]
    assert len({got.all(b"x-request-id")[0] for got in site.got}) == 6
    assert [got.all(b"x-kept") for got in site.got] == [[b"1"]] * 5 + [[b"2"]]
    assert not any(got.all(b"connection") for got in site.got)


@both_loops
async def test_a_site_that_closes_by_an_old_name_is_read_again() -> None:
    """llhttp takes Proxy-Connection for Connection, and nothing after its "close"."""
    answers = iter((OK.replace(b"OK\r\n", b"OK\r\nProxy-Connection: close\r\n"), OK))
    async with serving(lambda got: next(answers)) as site, relaying(site.port) as running:
        assert [(await running.ask(get())).body for _ in range(2)] == [b"ok", b"ok"]
        assert site.connections == 2
