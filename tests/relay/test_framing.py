"""Where a message ends: the same answer however the bytes are cut into segments, and never beyond the end."""

from __future__ import annotations

import itertools

import httptools
import pytest
from hypothesis import given
from hypothesis import strategies as st

from saywhy.edge.settings import Limits
from saywhy.relay.chunks import Chunks
from saywhy.relay.framing import Dechunk, Framing, request_framing, response_framing
from saywhy.relay.lines import BadHead
from saywhy.relay.reply import read_response, tidied

SIZED = b"HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

BODIES = {
    "a length": (SIZED, b"hello\r\n\r\nwo"),
    "no length": (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", b""),
    "one chunk": (CHUNKED, b"5\r\nhello\r\n0\r\n\r\n"),
    "no chunk": (CHUNKED, b"0\r\n\r\n"),
    "empty lines in chunks": (CHUNKED, b"8\r\n\r\n\r\n\r\n\r\n\r\n4\r\n\r\n\r\n\r\n0\r\n\r\n"),
    "the end in a chunk": (CHUNKED, b"a\r\n\r\n0\r\n\r\n0\r\n\r\n0\r\n\r\n"),
    "trailers": (CHUNKED, b"1\r\nx\r\n0\r\nA: b\r\nC: d\r\n\r\n"),
    "extensions": (CHUNKED, b'5;a=b;c="d"\r\nhello\r\n0;x\r\n\r\n'),
    "leading zeros": (CHUNKED, b"0005\r\nhello\r\n000\r\n\r\n"),
    "upper-case digits": (CHUNKED, b"A\r\n0123456789\r\n0\r\n\r\n"),
}
NEXT = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"


def _run(framing: Framing, head: bytes, body: bytes, cuts: list[int], extra: bytes) -> bytes:
    """Feed head and body in segments; what was taken as this message's body."""
    reply = read_response(head, Limits(), bodyless=False)
    wire = body + extra
    edges = sorted({0, len(wire), *(cut % (len(wire) + 1) for cut in cuts)})
    first, *rest = [wire[a:b] for a, b in itertools.pairwise(edges)] or [b""]
    segment = head + first
    stop = framing.begin(segment, len(head), reply.kind, reply.length)
    taken = segment[len(head) : stop]
    for piece in rest:
        if framing.done:
            break
        stop = framing.take(piece)
        taken += piece[:stop]
        assert framing.done or stop == len(piece)
    return taken


@pytest.mark.parametrize("name", BODIES)
@given(
    cuts=st.lists(st.integers(0, 200), max_size=12),
    extra=st.sampled_from([b"", b"\r\n", b"\r\n\r\n", b"0\r\n\r\n", NEXT]),
)
def test_a_message_ends_where_it_ends_however_it_is_cut(name: str, cuts: list[int], extra: bytes) -> None:
    head, body = BODIES[name]
    framing = response_framing()
    for _ in range(2):  # the second message on the same connection
        assert _run(framing, head, body, cuts, extra) == body
        assert framing.done


@pytest.mark.parametrize("name", BODIES)
def test_byte_by_byte(name: str) -> None:
    head, body = BODIES[name]
    framing = response_framing()
    assert _run(framing, head, body, list(range(len(body) + 1)), NEXT) == body


BAD_CHUNKS = [
    b"5\nhello\r\n0\r\n\r\n", b"0x5\r\nhello\r\n0\r\n\r\n", b"+5\r\nhello\r\n0\r\n\r\n", b"-5\r\nhello\r\n0\r\n\r\n",
    b"5\r\nhelloXX\r\n0\r\n\r\n", b"10000000000000005\r\nhello\r\n", b"5;a\nb\r\nhello\r\n0\r\n\r\n", b"5\r\nhello0\r\n\r\n",
    b"1000000000000000\r\nx", b"00000000000000001\r\nx\r\n0\r\n\r\n", b"1;" + b"e" * 16400 + b"\r\nx\r\n", b"1;" + b"e" * 16400,
    b"1;a\rb\r\nx\r\n0\r\n\r\n", b"\r\n", b"5\r\nhello\r\r\n",
    b"0\r\n" + b"X: 1\r\n" * 12000,
    b"\r\n5\r\nhello\r\n0\r\n\r\n", b"5 \r\nhello\r\n0\r\n\r\n", b"g\r\n", b"5\r\nhello\r\n0\r\nA b\r\n\r\n",
]  # fmt: skip


@pytest.mark.parametrize("body", BAD_CHUNKS)
def test_chunks_that_are_none_are_refused(body: bytes) -> None:
    framing = response_framing()
    with pytest.raises(BadHead):
        framing.begin(CHUNKED + body, len(CHUNKED), 2, 0)
    framing = response_framing()
    framing.begin(CHUNKED, len(CHUNKED), 2, 0)
    with pytest.raises(BadHead):  # noqa: PT012
        for at in range(len(body)):
            framing.take(body[at : at + 1])


class Counting:
    """httptools' parser, asked how often it is called."""

    calls = 0

    def __init__(self, protocol: object) -> None:
        self._parser = httptools.HttpRequestParser(protocol)

    def feed_data(self, data: bytes) -> None:
        Counting.calls += 1
        self._parser.feed_data(data)


def test_what_a_chunk_holds_costs_nothing_more_than_its_bytes() -> None:
    head = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    framing = Framing(Counting, Chunks())
    framing.begin(head, len(head), 2, 0)
    chunk = b"fa00\r\n" + b"\r\n" * 32000 + b"\r\n"
    Counting.calls = 0
    for _ in range(50):
        assert framing.take(chunk) == len(chunk)
    assert Counting.calls == 50
    assert framing.take(b"0\r\n\r\nGET") == 5
    assert framing.done


@given(
    pieces=st.lists(st.binary(min_size=1, max_size=50), max_size=20),
    cuts=st.lists(st.integers(0, 1500), max_size=10),
)
def test_dechunked_content_is_what_was_chunked(pieces: list[bytes], cuts: list[int]) -> None:
    wire = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
    edges = sorted({0, len(wire), *(cut % (len(wire) + 1) for cut in cuts)})
    dechunk = Dechunk()
    got = b"".join(dechunk.feed(wire[a:b]) for a, b in itertools.pairwise(edges))
    assert got == b"".join(pieces)


def test_a_request_that_llhttp_reads_otherwise_than_we_do_is_refused() -> None:
    head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n"
    for kind, length in [(0, 0), (1, 4), (1, 6)]:
        with pytest.raises(BadHead):
            request_framing().begin(head + b"hello", len(head), kind, length)


RESPONSES = {
    # head, bodyless -> kind, keep
    b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n": (1, True),
    b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\n": (1, False),
    b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\n": (1, False),
    b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\nConnection: Keep-Alive\r\n\r\n": (1, True),
    b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n": (2, False),
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n": (2, True),
    b"HTTP/1.1 200 OK\r\n\r\n": (3, False),
    b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n": (0, True),
    b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n": (0, True),
    b"HTTP/1.1 103 Early Hints\r\n\r\n": (0, True),
    b"HTTP/1.1 404\r\nContent-Length: 5\r\n\r\n": (1, True),
}


@pytest.mark.parametrize("head", RESPONSES)
def test_how_an_answer_ends(head: bytes) -> None:
    reply = read_response(head, Limits(), bodyless=False)
    assert (reply.kind, reply.keep) == RESPONSES[head]
    assert read_response(head, Limits(), bodyless=True).kind == 0


BAD_RESPONSES = [
    b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: foo\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
    b"HTTP/2.0 200 OK\r\n\r\n",
    b"HTTP/1.1 2x0 OK\r\n\r\n",
    b"SSH-2.0-OpenSSH_9\r\n\r\n",
]


@pytest.mark.parametrize("head", BAD_RESPONSES)
def test_answers_that_are_none(head: bytes) -> None:
    with pytest.raises(BadHead):
        read_response(head, Limits(), bodyless=False)


def test_legacy_line_ends_and_folds_become_what_a_sender_must_send() -> None:
    assert tidied(b"HTTP/1.0 200 OK\nX: a\n  b\nY: c\n\n") == b"HTTP/1.0 200 OK\r\nX: a b\r\nY: c\r\n\r\n"
    assert tidied(b"HTTP/1.1 200 OK\r\nX: a\r\n\tb\r\n\r\n") == b"HTTP/1.1 200 OK\r\nX: a b\r\n\r\n"
