"""What sites send: whatever comes, in whatever cut, the caller gets what another parser reads out of it, or is shown that
it is no whole answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import h11

from tests.fuzz.cuts import cut, seeded
from tests.fuzz.memory import Stage

HEAD, AGENT, OLD, RESET, POST, UPGRADE = (1 << bit for bit in range(6))
"""The first byte of an input: how the caller asks, and how the site ends."""


_FAILED = b"Proxy-Status: saywhy; error="


class Read(NamedTuple):
    """An answer as h11 reads it. `fault`: why it is not whole. `rest`: bytes behind it."""

    status: int
    body: bytes
    fault: str
    rest: bytes


def _read(wire: bytes, method: str, ended: bool) -> Read:
    side = h11.Connection(h11.CLIENT, max_incomplete_event_size=1 << 20)
    side.send(h11.Request(method=method, target="/", headers=[("Host", "t")]))
    side.send(h11.EndOfMessage())
    status, body = 0, b""
    try:
        side.receive_data(wire)
        if ended:
            side.receive_data(b"")
        while True:
            event = side.next_event()
            if isinstance(event, h11.Response):
                status = event.status_code
            elif isinstance(event, h11.Data):
                body += bytes(event.data)
            elif isinstance(event, h11.EndOfMessage):
                return Read(status, body, "", side.trailing_data[0])
            elif event in (h11.NEED_DATA, h11.PAUSED) or isinstance(event, h11.ConnectionClosed):
                return Read(status, body, "incomplete", b"")
    except h11.RemoteProtocolError as error:
        return Read(status, body, str(error), b"")


class Result(NamedTuple):
    """`said`: all that the caller got. `kept`: the site's connection waits for another exchange."""

    said: bytes
    ended: bool
    kept: bool
    tunnelled: bool


def _request(how: int) -> tuple[str, bytes]:
    method = "HEAD" if how & HEAD else "POST" if how & POST else "GET"
    lines = [b"%b / HTTP/1.%d" % (method.encode(), 0 if how & OLD else 1), b"Host: t"]
    if how & AGENT:
        lines.append(b"Accept: application/json")
    if how & UPGRADE:
        lines += [b"Connection: Upgrade", b"Upgrade: x"]
    if method == "POST":
        lines.append(b"Content-Length: 2")
    return method, b"\r\n".join(lines) + b"\r\n\r\n" + (b"hi" if method == "POST" else b"")


def _run(request: bytes, segments: list[bytes], reset: bool) -> Result:
    stage = Stage()
    caller = stage.connect()
    caller.coming.append(request)
    caller.deliver()
    stage.pool.arrive()
    stage.loop.settle()
    site = stage.sites[0]
    for segment in segments:
        site.coming.append(segment)
        while site.deliver():
            stage.loop.settle()
    kept = stage.pool.counts()["idle"] > 0
    tunnelled = bool(stage.relay.tunnels)
    if reset:
        site.reset()
    else:
        site.coming.append(b"")
        site.deliver()
    stage.loop.settle()
    result = Result(bytes(caller.said), caller.closed and not caller.aborted, kept, tunnelled)
    stage.leave()
    return result


def check(data: bytes) -> None:
    """Whole and in segments: both must come to the same, and to what h11 makes of it."""
    how = data[0] if data else 0
    wire, segments = cut(data[1:])
    if not segments:
        return
    method, request = _request(how)
    one = _run(request, [wire], bool(how & RESET))
    two = _run(request, segments, bool(how & RESET))
    if one.tunnelled or two.tunnelled:
        assert one.said == two.said
        return
    sent = _read(wire, method, not how & RESET)
    if one.kept or two.kept:
        assert not sent.rest.strip(b"\r\n"), sent
    got, again = (_read(result.said, method, result.ended) for result in (one, two))
    ours = [_FAILED in result.said for result in (one, two)]
    if how & AGENT and (sent.fault or got.status >= 400):
        if not sent.fault and not any(ours):  # h11 lets bare LF pass where we do not
            assert one.said == two.said
        return
    whole = [not read.fault and not failed for read, failed in zip((got, again), ours, strict=True)]
    assert whole[0] == whole[1], (one, two)
    if whole[0]:
        assert one.said == two.said
        if sent.fault in ("", "incomplete") or sent.fault.startswith("peer closed"):
            assert (got.status, got.body, got.fault) == (sent.status, sent.body, sent.fault), (got, sent)


_ANSWERS = [
    b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello",
    b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\nConnection: Keep-Alive\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: y\r\n\r\n",
    b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    b"HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    b"HTTP/1.1 500 Oops\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\nhello",
    b"HTTP/1.1 500 Oops\r\nContent-Type: text/html\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\n\r\nhello",
    b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n",
    b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n",
    b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nbytes",
    b"HTTP/1.1 404\r\nContent-Length: 5\r\n\r\nhello",
    b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
    b"HTTP/1.0 200 OK\nX: a\n  b\nY: c\n\nok",
    b"HTTP/1.1 200 OK\r\nX: a\r\n\tb\r\nContent-Length: 2\r\n\r\nok",
    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\nok",
    b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nConnection: X-Mine, close\r\nX-Mine: 1\r\nKeep-Alive: timeout=5\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nX: \xe4\r\nSet-Cookie: a=b\r\nSet-Cookie: c=d\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/2.0 200 OK\r\n\r\n", b"SSH-2.0-OpenSSH_9\r\n", b"\x16\x03\x01\x00garbage\r\n\r\n", b"HTTP/1.1 2x0 OK\r\n\r\n",
    b"HTTP/1.1 99 \r\n\r\n", b"HTTP/1.1 999 \r\n\r\n", b"ICY 200 OK\r\n\r\n",
]  # fmt: skip


def seeds() -> Iterator[bytes]:
    """Each answer to each way of asking, also cut short, and with another answer behind it."""
    ways = (0, HEAD, AGENT, OLD, RESET, POST | AGENT, UPGRADE, OLD | RESET, AGENT | RESET)
    for number, answer in enumerate(_ANSWERS):
        for wire in (answer, answer[:-3], answer + _ANSWERS[0]):
            for one in seeded([wire]):
                yield bytes([ways[number % len(ways)]]) + one
                yield bytes([ways[(number + 4) % len(ways)]]) + one
                yield b"\0" + one
    for way in ways[1:]:
        yield from (bytes([way]) + one for one in seeded(_ANSWERS))
