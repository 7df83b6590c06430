"""Where a chunked message ends: our count of chunks and llhttp agree, and however it is cut they say the same."""

from __future__ import annotations

from collections.abc import Iterator

import httptools

from saywhy.relay.framing import Framing, request_framing, response_framing
from saywhy.relay.lines import CHUNKED, BadHead
from tests.fuzz.cuts import cut, seeded

_HEADS = (
    b"POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
)
_EVERY_CUT = 48
"""Bodies up to this size are cut at every place."""

Result = tuple[str, int]


class Bare:
    """llhttp alone, byte by byte."""

    def __init__(self) -> None:
        self.over = False

    def on_message_complete(self) -> None:
        """The end."""
        self.over = True

    def run(self, head: bytes, body: bytes) -> Result:
        """`done` and where, `more`, or `bad`."""
        make = httptools.HttpRequestParser if head[0] == 80 else httptools.HttpResponseParser
        parser = make(self)
        parser.feed_data(head)
        try:
            for at in range(len(body)):
                parser.feed_data(body[at : at + 1])
                if self.over:
                    return "done", at + 1
        except httptools.HttpParserError:
            return "bad", 0
        return "more", len(body)


def _ours(framing: Framing, head: bytes, segments: list[bytes]) -> Result:
    stop = framing.begin(head, len(head), CHUNKED, 0)
    assert stop == len(head)
    taken = 0
    try:
        for piece in segments:
            taken += framing.take(piece)
            if framing.done:
                return "done", taken
    except BadHead:
        return "bad", 0
    return "more", taken


def check(data: bytes) -> None:
    """Both sides' framing, whole, in the input's segments, and at every single cut of a short body."""
    body, segments = cut(data)
    if not body:
        return
    for head, make in zip(_HEADS, (request_framing, response_framing), strict=True):
        whole = _ours(make(), head, [body])
        theirs = Bare().run(head, body)
        if whole[0] != "bad":
            assert whole == theirs, (whole, theirs)
        cuts = [segments]
        if len(body) <= _EVERY_CUT:
            cuts += [[body[:at], body[at:]] for at in range(1, len(body))]
            cuts.append([body[at : at + 1] for at in range(len(body))])
        for pieces in cuts:
            found = _ours(make(), head, pieces)
            assert found == whole, (found, whole, pieces)


_BODIES = [
    b"0\r\n\r\n", b"5\r\nhello\r\n0\r\n\r\n", b"5\r\nhello\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n",
    b"8\r\n\r\n\r\n\r\n\r\n\r\n4\r\n\r\n\r\n\r\n0\r\n\r\n", b"a\r\n\r\n0\r\n\r\n0\r\n\r\n0\r\n\r\n", b"1\r\nx\r\n0\r\nA: b\r\nC: d\r\n\r\n",
    b'5;a=b;c="d"\r\nhello\r\n0;x\r\n\r\n', b"0005\r\nhello\r\n000\r\n\r\n", b"A\r\n0123456789\r\n0\r\n\r\n",
    b"5\nhello\r\n0\r\n\r\n", b"0x5\r\nhello\r\n0\r\n\r\n", b"+5\r\nhello\r\n0\r\n\r\n", b"-5\r\nhello\r\n0\r\n\r\n",
    b"5\r\nhelloXX\r\n0\r\n\r\n", b"10000000000000005\r\nhello\r\n", b"5;a\nb\r\nhello\r\n0\r\n\r\n", b"5\r\nhello0\r\n\r\n",
    b"1000000000000000\r\nx", b"00000000000000001\r\nx\r\n0\r\n\r\n", b"1;a\rb\r\nx\r\n0\r\n\r\n", b"\r\n", b"5\r\nhello\r\r\n",
    b"\r\n5\r\nhello\r\n0\r\n\r\n", b"5 \r\nhello\r\n0\r\n\r\n", b"g\r\n", b"5\r\nhello\r\n0\r\nA b\r\n\r\n",
    b"5\r\nhello\r\n0\r\nContent-Length: 3\r\n\r\n", b"5\r\nhello\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"5\r\nhello\r\n0\r\n folded\r\n\r\n", b"5\r\nhello\r\n0\r\nA: b\r\n c\r\n\r\n", b"5\r\nhello\r\n0\r\nA: b\n\n", b"5\r\nhello\r\n0\r\n: x\r\n\r\n",
    b"5;\r\nhello\r\n0\r\n\r\n", b'5;a="\\""\r\nhello\r\n0\r\n\r\n', b"5;a=\x80\r\nhello\r\n0\r\n\r\n", b"5\t\r\nhello\r\n0\r\n\r\n", b"fffffff\r\nx",
]  # fmt: skip


def seeds() -> Iterator[bytes]:
    """Bodies that are chunks, and bodies that nearly are."""
    yield from seeded(_BODIES)
