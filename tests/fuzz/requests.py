"""What callers send: whatever comes, in whatever cut, the site sees whole requests that another parser reads alike, and
the caller gets one answer for each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from tests.fuzz.cuts import cut, seeded
from tests.fuzz.memory import Stage, Wire
from tests.fuzz.sight import Seen, Sight

_OUR_ID = re.compile(rb"[0-9a-f]{32}")
_ANSWER = b"HTTP/1.1 200 OK\r\nX-Id: %d\r\nContent-Length: 2\r\n\r\n"


class Result(NamedTuple):
    """`seen`: what the site saw, whole; `ids`: the answers that the caller got, in order; `refused`: by us, at its end."""

    seen: list[Seen]
    ids: list[int]
    refused: bool
    odd: bool


def _run(segments: list[bytes]) -> Result:
    stage = Stage()
    caller = stage.connect()
    seen: list[Seen] = []
    odd = False
    sights: list[tuple[Wire, Sight]] = []
    for segment in segments:
        caller.coming.append(segment)
        more = True
        while more:
            more = caller.deliver()
            stage.loop.settle()
            while stage.pool.arrive():
                more = True
            sights += [(wire, Sight()) for wire in stage.sites[len(sights) :]]
            for wire, sight in sights:
                said = bytes(wire.said)
                wire.said.clear()
                for one in sight.see(said):
                    seen.append(one)
                    wire.coming.append(_ANSWER % len(seen) + (b"" if one.method == b"HEAD" else b"ok"))
                assert not sight.broken, (sight.broken, said)
                odd = odd or sight.odd
                while wire.deliver():
                    more = True
                    stage.loop.settle()
                if not wire.closed:
                    for one in sight.answered():
                        raise AssertionError(f"a request before the last one's answer: {one}")
    stage.loop.settle()
    answers = bytes(caller.said)
    heads = [int(found) for found in re.findall(rb"X-Id: (\d+)\r\n", answers)]
    refused = caller.closed
    stage.leave()
    return Result(seen, heads, refused, odd)


def check(data: bytes) -> None:
    """Whole and in segments: both must come to the same."""
    wire, segments = cut(data)
    if not segments:
        return
    one = _run([wire])
    two = _run(segments)
    if one.odd or two.odd:
        return
    assert [_plain(seen) for seen in one.seen] == [_plain(seen) for seen in two.seen]
    assert one.ids == two.ids
    assert one.ids == list(range(1, len(one.seen) + 1))
    for seen in one.seen:
        names = [name for name, _ in seen.fields]
        assert names.count(b"host") == 1, seen
        assert (
            not {b"connection", b"keep-alive", b"proxy-authorization"} & set(names)
            or b"upgrade" in names
            or b"te" in names
        ), seen


def _plain(seen: Seen) -> tuple[object, ...]:
    """Without the ids that we made."""
    fields = tuple((name, value) for name, value in seen.fields if not _OUR_ID.fullmatch(value))
    return seen.method, seen.target, fields, seen.body


_HEADS = [
    b"GET / HTTP/1.1\r\nHost: t\r\n\r\n",
    b"GET /a?b=%2F#c HTTP/1.1\r\nHost: t:80\r\nConnection: keep-alive\r\nX-Forwarded-For: 1.2.3.4\r\n\r\n",
    b"HEAD // HTTP/1.1\r\nHost: [::1]:80\r\nConnection: close\r\n\r\n",
    b"GET / HTTP/1.0\r\n\r\n",
    b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    b"GET http://other/x HTTP/1.1\r\nHost: t\r\nMax-Forwards: 1\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\nHost: t\r\nMax-Forwards: 0\r\n\r\n",
    b"OPTIONS http://t HTTP/1.1\r\nHost: t\r\n\r\n",
    b"GET /ws HTTP/1.1\r\nHost: t\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: t\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: t\r\nTE: trailers\r\nConnection: TE, X-Mine\r\nX-Mine: 1\r\n\r\n",
    b"CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n",
    b"TRACE / HTTP/1.1\r\nHost: t\r\n\r\n",
    b"GET /\xc3\xa4 HTTP/1.1\r\nHost: t\r\nX: \xff\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: t\r\nAuthorization: NTLM abc\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: t\r\nCDN-Loop: x\r\nVia: 1.1 y\r\nForwarded: for=x\r\n\r\n",
    b"GET / HTTP/2.0\r\nHost: t\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00",
    b"GET / HTTP/1.1\nHost: t\n\n",
    b"GET / HTTP/1.1\r\nHost : t\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: t\r\n folded\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: t\r\nHost: u\r\n\r\n",
]
_BODIES = [
    b"POST /p HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\n\r\nhello",
    b"POST /p HTTP/1.1\r\nHost: t\r\nContent-Length: 0\r\n\r\n",
    b"PUT /p HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3;x=\"y\"\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n",
    b"POST /p HTTP/1.1\r\nHost: t\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nhi",
    b"POST /p HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    b"POST /p HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST /p HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 3\r\n\r\n",
    b"POST /p HTTP/1.1\r\nHost: t\r\nContent-Length: 10\r\n\r\nGET / HTTP",
]  # fmt: skip


def seeds() -> Iterator[bytes]:
    """Tables of heads and bodies, alone, after one another, and behind a good one."""
    everything = _HEADS + _BODIES
    yield from seeded(everything)
    yield from seeded([first + second for first in _BODIES[:3] for second in everything])
    yield from seeded([b"\r\n" + _HEADS[0] * 3 + one + _HEADS[0] for one in everything])
