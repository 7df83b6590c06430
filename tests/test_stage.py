"""The stage itself: an answer is read exactly, a wire records exactly. Otherwise its tests would prove nothing."""

from __future__ import annotations

import socket

import pytest
from stage.callers import CURL, request
from stage.forwarder import Forwarder
from stage.scripted import ScriptedSite, garbage, page
from stage.wire import Torn, ask, parse, receive

LENGTH = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
CHUNKED = (
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=1\r\nhi\r\n3\r\n\r\n!\r\n0\r\nX-Sum: 1\r\n\r\n"
)
BARE = b"HTTP/1.1 204 No Content\r\nX-A: 1\r\n\r\n"
CLOSE = b"HTTP/1.0 200 OK\r\nServer: x\r\n\r\nhi"

WHOLE = [
    pytest.param(LENGTH, False, b"hi", "length", id="length"),
    pytest.param(CHUNKED, False, b"hi\r\n!", "chunked", id="chunked"),
    pytest.param(BARE, False, b"", "none", id="no-content"),
    pytest.param(CLOSE, True, b"hi", "close", id="close"),
]


@pytest.mark.parametrize(("raw", "ended", "content", "framing"), WHOLE)
def test_a_whole_answer(raw: bytes, ended: bool, content: bytes, framing: str) -> None:
    following = b"" if framing == "close" else LENGTH
    message = parse(raw + following, ended=ended)
    assert message is not None
    assert (message.raw, message.content, message.framing) == (raw, content, framing)


@pytest.mark.parametrize(("raw", "ended", "content", "framing"), WHOLE)
def test_less_than_an_answer_is_none(raw: bytes, ended: bool, content: bytes, framing: str) -> None:
    cuts = range(raw.index(b"\r\n\r\n") + 4) if framing == "close" else range(len(raw))
    assert [cut for cut in cuts if parse(raw[:cut]) is not None] == []


def test_fields_of_one_connection_are_no_part_of_the_message() -> None:
    message = parse(
        b"HTTP/1.1 200 OK\r\nA: 1\r\nConnection: close, X-Hop\r\nx-hop: 2\r\nB:  3 \r\nContent-Length: 0\r\n\r\n"
    )
    assert message is not None
    assert message.end_to_end() == [b"A: 1", b"B:  3 ", b"Content-Length: 0"]


def test_the_wire_records_what_crosses_it() -> None:
    answer = page("404 Not Found", b"<h1>Gone</h1>", "Date: today")
    with ScriptedSite({"/gone": answer, "/torn": garbage(LENGTH[:-1])}) as site, Forwarder(site.port) as wire:
        asked = request(wire.port, "/gone", CURL)
        with wire.record() as first:
            got = ask(wire.port, asked)
        assert (bytes(first.asked), bytes(first.answered)) == (asked, got.raw)
        assert (got.raw,) == answer.pieces
        with wire.record() as second, pytest.raises(Torn) as torn:
            ask(wire.port, request(wire.port, "/torn", CURL))
        assert bytes(second.answered) == torn.value.got == LENGTH[:-1]


def test_interim_answers_are_dropped_and_the_next_message_is_left_alone() -> None:
    near, far = socket.socketpair()
    with near, far:
        far.sendall(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + LENGTH)
        far.shutdown(socket.SHUT_WR)
        assert receive(near).raw == LENGTH
