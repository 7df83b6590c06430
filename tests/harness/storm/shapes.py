"""How the storm's site answers: one row a shape; the number at the end of a request's tag chooses the row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

Step = bytes | str
NEXT, CLOSE, RESET = "next", "close", "reset"
"""In another segment; the connection ends here, politely; or with a reset."""

POISON: Final = b"HTTP/1.1 200 OK\r\nX-Id: poison\r\nContent-Length: 6\r\n\r\npoison"
"""A whole answer that nobody asked for."""


class Shape(NamedTuple):
    """`weight` of a thousand answers are so. `steps` makes the wire's bytes from tag and content.

    `whole`: the caller must get it, whoever asks. `early`: the site answers before it has read an upload's body.
    `content`: the answer's body, from the tag; b"" where the status allows none. `named`: the head tells the tag too,
    else the head is the same for all.
    """

    name: str
    weight: int
    steps: Callable[[bytes, bytes], list[Step]]
    whole: bool = True
    early: bool = False
    content: Callable[[bytes], bytes] = lambda tag: b"<" + tag + b">" * (1 + tag[-1] % 7)
    named: bool = True

    def id_of(self, tag: bytes) -> bytes:
        """The X-Id of its head."""
        return tag if self.named else b"in the body"


def _sized(tag: bytes, body: bytes, status: bytes = b"200 OK", field: bytes = b"") -> bytes:
    return b"HTTP/1.1 %b\r\nX-Id: %b\r\n%bContent-Length: %d\r\n\r\n%b" % (
        status,
        tag,
        field,
        len(body),
        body,
    )


def _chunked(tag: bytes, body: bytes, trailers: bytes = b"") -> bytes:
    return (
        b"HTTP/1.1 200 OK\r\nX-Id: %b\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n1\r\n%b\r\n0\r\n%b\r\n"
        % (tag, len(body) - 1, body[:-1], body[-1:], trailers)
    )


def _page(tag: bytes, body: bytes) -> bytes:
    return _sized(tag, body, b"409 Conflict", b"Content-Type: text/html\r\n")


def _html(tag: bytes) -> bytes:
    return b"<html><head><title>Order %b was changed</title></head><body>%b</body></html>" % (tag, b"." * 300)


def _problem(tag: bytes) -> bytes:
    return b'{"title":"Conflict","detail":"Order %b was changed."}' % tag


def _nothing(tag: bytes) -> bytes:
    return b""


def _padded(tag: bytes) -> bytes:
    return (b"<" + tag).ljust(64, b">")


def _alike(tag: bytes, body: bytes) -> bytes:
    return _sized(b"in the body", body)


# A fault in sixteen: each costs a connection, and a machine has only so many ports for new ones.
SHAPES: Final = (
    Shape("a length", 300, lambda tag, body: [_sized(tag, body)]),
    Shape("one head for all", 141, lambda tag, body: [_alike(tag, body)], content=_padded, named=False),
    Shape("one head for all, the end apart", 6, lambda tag, body: [_alike(tag, body)[:-9], NEXT, body[-9:]], content=_padded, named=False),
    Shape("one head for all, bytes past it", 4, lambda tag, body: [_alike(tag, body) + POISON], content=_padded, named=False),
    Shape("chunks", 200, lambda tag, body: [_chunked(tag, body)]),
    Shape("chunks, the end apart", 20, lambda tag, body: [_chunked(tag, body)[:-3], NEXT, b"\n\r\n"]),
    Shape("trailers", 40, lambda tag, body: [_chunked(tag, body, b"X-Sum: 1\r\n")]),
    Shape("in three", 20, lambda tag, body: [(one := _sized(tag, body))[:20], NEXT, one[20:-2], NEXT, one[-2:]]),
    Shape("hints", 20, lambda tag, body: [b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + _sized(tag, body)]),
    Shape(
        "two interim answers", 10,
        lambda tag, body: [b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n", NEXT, _sized(tag, body)],
    ),
    Shape("large", 5, lambda tag, body: [_sized(tag, body)], content=lambda tag: (tag + b"\r\n\r\n") * 1500),
    Shape("no content", 30, lambda tag, body: [b"HTTP/1.1 204 No Content\r\nX-Id: %b\r\n\r\n" % tag], content=_nothing),
    Shape(
        "not modified", 30,
        lambda tag, body: [b"HTTP/1.1 304 Not Modified\r\nX-Id: %b\r\nContent-Length: 9\r\n\r\n" % tag],
        content=_nothing,
    ),
    Shape("a page", 60, lambda tag, body: [_page(tag, body)], content=_html),
    Shape("a page, its end apart", 10, lambda tag, body: [_page(tag, body)[:-9], NEXT, body[-9:]], content=_html),
    Shape(
        "a problem", 30,
        lambda tag, body: [_sized(tag, body, b"409 Conflict", b"Content-Type: application/problem+json\r\n")],
        content=_problem,
    ),
    Shape("bytes past the length", 5, lambda tag, body: [_sized(tag, body) + POISON]),
    Shape("bytes past the last chunk", 4, lambda tag, body: [_chunked(tag, body) + POISON]),
    Shape("bytes past a page", 4, lambda tag, body: [_page(tag, body) + POISON], content=_html),
    Shape("bytes past a length that came apart", 4, lambda tag, body: [(one := _sized(tag, body))[:-2], NEXT, one[-2:] + POISON]),
    Shape("bytes past chunks that came apart", 4, lambda tag, body: [(one := _chunked(tag, body))[:-9], NEXT, one[-9:] + POISON]),
    Shape("an empty line past the length", 4, lambda tag, body: [_sized(tag, body) + b"\r\n\r\n"]),
    Shape("no length", 5, lambda tag, body: [b"HTTP/1.1 200 OK\r\nX-Id: %b\r\n\r\n%b" % (tag, body), CLOSE]),
    Shape("says close", 4, lambda tag, body: [_sized(tag, body, field=b"Connection: close\r\n"), CLOSE]),
    Shape("dies when nobody looks", 5, lambda tag, body: [_sized(tag, body), NEXT, CLOSE]),
    Shape("early", 5, lambda tag, body: [_sized(tag, body)], early=True),
    Shape("early, and leaves", 4, lambda tag, body: [_sized(tag, body), CLOSE], early=True),
    Shape("too short", 4, lambda tag, body: [_sized(tag, body)[:-3], CLOSE], whole=False),
    Shape("too few chunks", 3, lambda tag, body: [_chunked(tag, body)[:-5], CLOSE], whole=False),
    Shape("a page too short", 3, lambda tag, body: [_page(tag, body)[:-9], CLOSE], whole=False, content=_html),
    Shape("a reset", 3, lambda tag, body: [RESET], whole=False),
    Shape("a reset in the middle", 4, lambda tag, body: [_sized(tag, body)[:-3], NEXT, RESET], whole=False),
    Shape("nothing", 3, lambda tag, body: [CLOSE], whole=False),
    Shape("garbage", 3, lambda tag, body: [b"\x16\x03\x01 no HTTP\r\n\r\n", CLOSE], whole=False),
    Shape("half a head", 3, lambda tag, body: [b"HTTP/1.1 200 OK\r\nX-Id: ", CLOSE], whole=False),
)  # fmt: skip
ROWS: Final = tuple(shape for shape in SHAPES for _ in range(shape.weight))


def shape_of(tag: bytes) -> Shape:
    """The row that `tag` chooses."""
    return ROWS[int(tag.rpartition(b"-")[2])]


def answer(tag: bytes, method: bytes) -> list[Step]:
    """What the site says to a request for `tag`; to HEAD it says heads alone (RFC 9110 9.3.2)."""
    shape = shape_of(tag)
    steps = shape.steps(tag, shape.content(tag))
    said = b"".join(step for step in steps if isinstance(step, bytes))
    at = said.find(b"X-Id: " + shape.id_of(tag) + b"\r\n") if method == b"HEAD" else -1
    if at < 0:
        return steps
    head = said[: said.index(b"\r\n\r\n", at) + 4]
    return [head + POISON if said.endswith(POISON) else head, *([CLOSE] if steps[-1] == CLOSE else [])]
