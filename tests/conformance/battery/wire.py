"""Both sides' bytes, read strictly: which requests reached the site, which answers reached the caller."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

CRLF = b"\r\n"
HEAD_END = b"\r\n\r\n"


class Asked(NamedTuple):
    """One request as the site read it. `whole`: its end was reached; `sound`: its framing could be read at all."""

    first: bytes
    lines: tuple[bytes, ...]
    body: bytes = b""
    trailers: bytes = b""
    whole: bool = True
    sound: bool = True

    @property
    def method(self) -> bytes:
        return self.first.partition(b" ")[0]

    @property
    def target(self) -> bytes:
        return self.first.partition(b" ")[2].rpartition(b" ")[0]

    @property
    def head(self) -> bytes:
        return CRLF.join([self.first, *self.lines])

    def all(self, name: bytes) -> list[bytes]:
        """The values of every line of field `name`."""
        return values(self.lines, name)


class Answer(NamedTuple):
    """One answer as the caller read it. `complete`: it reached the end that its framing announced."""

    first: bytes
    lines: tuple[bytes, ...]
    body: bytes
    trailers: bytes
    complete: bool

    @property
    def status(self) -> int:
        word = self.first[9:12]
        return int(word) if word.isdigit() else 0

    @property
    def head(self) -> bytes:
        return CRLF.join([self.first, *self.lines])

    def all(self, name: bytes) -> list[bytes]:
        """The values of every line of field `name`."""
        return values(self.lines, name)


class Chunked(NamedTuple):
    """A chunked body: its content, its trailers, where it stops. `end` -1: not whole; -2: not chunks at all."""

    content: bytes
    trailers: bytes
    end: int


def values(lines: Sequence[bytes], name: bytes) -> list[bytes]:
    """The values of every line of field `name`, white space around them gone."""
    found = (line.partition(b":") for line in lines)
    return [value.strip() for given, _, value in found if given.strip().lower() == name]


def read_chunks(data: bytes, at: int) -> Chunked:
    """The chunked body that begins at `data[at]`."""
    content = b""
    while (stop := data.find(CRLF, at)) >= 0:
        try:
            size = int(data[at:stop].partition(b";")[0], 16)
        except ValueError:
            return Chunked(content, b"", -2)
        at = stop + 2
        if size == 0:
            if data[at : at + 2] == CRLF:
                return Chunked(content, b"", at + 2)
            end = data.find(HEAD_END, at)
            return Chunked(content, data[at:end], end + 4) if end >= 0 else Chunked(content, b"", -1)
        if len(data) < at + size + 2:
            return Chunked(content + data[at : at + size], b"", -1)
        content += data[at : at + size]
        at += size + 2
    return Chunked(content, b"", -1)


def read_requests(data: bytes) -> tuple[list[Asked], bytes]:
    """The requests in what one connection brought the site, and what is left of an unfinished one."""
    found: list[Asked] = []
    data = data.lstrip(CRLF)
    while data:
        end = data.find(HEAD_END)
        if end < 0:
            break
        first, *lines = data[:end].split(CRLF)
        asked = Asked(first, tuple(lines))
        codings, sizes = asked.all(b"transfer-encoding"), asked.all(b"content-length")
        start = stop = end + 4
        if codings and codings[-1].lower().endswith(b"chunked"):
            body = read_chunks(data, start)
            if body.end == -2:
                return [*found, asked._replace(sound=False)], b""
            if body.end < 0:
                break
            asked, stop = asked._replace(body=body.content, trailers=body.trailers), body.end
        elif sizes:
            if not sizes[-1].isdigit():
                return [*found, asked._replace(sound=False)], b""
            stop = start + int(sizes[-1])
            if len(data) < stop:
                break
            asked = asked._replace(body=data[start:stop])
        found.append(asked)
        data = data[stop:]
    return found, data


def read_answers(data: bytes, methods: Sequence[bytes], *, ended: bool) -> tuple[list[Answer], bytes]:
    """The answers in what a caller got, and what is left that is none. `methods` are those of its requests, in order;
    `ended`: the connection came to a plain end, which completes a body without a length.
    """
    found: list[Answer] = []
    finals = 0
    while data[:5] == b"HTTP/":
        end = data.find(HEAD_END)
        if end < 0:
            break
        first, *lines = data[:end].split(CRLF)
        answer = Answer(first, tuple(lines), b"", b"", True)
        start = stop = end + 4
        method = methods[finals] if finals < len(methods) else b"GET"
        finals += answer.status >= 200
        codings, sizes = answer.all(b"transfer-encoding"), answer.all(b"content-length")
        if answer.status < 200 or answer.status in (204, 304) or method == b"HEAD":
            pass
        elif codings and codings[-1].lower() == b"chunked":
            body = read_chunks(data, start)
            answer = answer._replace(body=body.content, trailers=body.trailers, complete=body.end >= 0)
            stop = body.end if body.end >= 0 else len(data)
        elif sizes and sizes[0].isdigit():
            stop = start + int(sizes[0])
            answer = answer._replace(body=data[start:stop], complete=len(data) >= stop)
        else:
            answer, stop = answer._replace(body=data[start:], complete=ended), len(data)
        found.append(answer)
        data = data[stop:]
        if answer.status == 101:
            break
    return found, data
