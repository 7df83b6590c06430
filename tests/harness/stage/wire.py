"""Bytes out, one message back: raw sockets, and an answer kept exactly as it came."""

from __future__ import annotations

import gzip
import socket
from typing import Literal, NamedTuple

Framing = Literal["none", "length", "chunked", "close"]

HOP_BY_HOP = frozenset(
    {b"connection", b"keep-alive", b"proxy-connection", b"te", b"trailer", b"transfer-encoding", b"upgrade"}
)
"""Fields that belong to one connection (RFC 9110 7.6.1)."""


class Message(NamedTuple):
    """One answer. `raw` is every byte of it; `lines` are its field lines; `content` is the body without chunk framing."""

    raw: bytes
    start: bytes
    lines: tuple[bytes, ...]
    content: bytes
    framing: Framing

    @property
    def status(self) -> int:
        """The status code."""
        return int(self.start.split(b" ", 2)[1])

    @property
    def status_line(self) -> bytes:
        """Status and reason; the version is each connection's own (RFC 9110 6.2)."""
        return self.start.partition(b" ")[2]

    def all(self, name: str) -> list[str]:
        """The values of every line of field `name`."""
        wanted = name.lower().encode()
        split = (line.partition(b":") for line in self.lines)
        return [value.strip().decode("latin-1") for found, _, value in split if found.lower() == wanted]

    def field(self, name: str) -> str:
        """The value of the only line of field `name`; empty where there is none."""
        found = self.all(name)
        assert len(found) < 2, f"{name} came {len(found)} times"
        return found[0] if found else ""

    def end_to_end(self) -> list[bytes]:
        """The field lines, byte for byte and in order, without those that belong to one connection."""
        named = {one.strip().lower().encode() for value in self.all("connection") for one in value.split(",")}
        # A Content-Length can be lost only where Connection names it, which the relay refuses to believe.
        gone = (HOP_BY_HOP | named) - {b"content-length"}
        return [line for line in self.lines if line.partition(b":")[0].lower() not in gone]

    def decoded(self) -> bytes:
        """The content without its coding; tests ask for gzip or nothing."""
        return gzip.decompress(self.content) if self.field("content-encoding") == "gzip" else self.content


class Torn(Exception):
    """The connection ended before the message did. `got` is what came."""

    def __init__(self, got: bytes) -> None:
        super().__init__(f"the connection ended after {len(got)} bytes: {got[:200]!r}")
        self.got = got


def read_chunks(rest: bytes) -> tuple[bytes, int] | None:
    """The content of a chunked body and how many bytes it took with its trailers; None while it is not whole."""
    content, at = bytearray(), 0
    while True:
        end = rest.find(b"\r\n", at)
        if end < 0:
            return None
        size = int(rest[at:end].partition(b";")[0], 16)
        at = end + 2
        if size == 0:
            while (end := rest.find(b"\r\n", at)) > at:  # trailers
                at = end + 2
            return None if end < 0 else (bytes(content), end + 2)
        if len(rest) < at + size + 2:
            return None
        content += rest[at : at + size]
        at += size + 2


def parse(raw: bytes, *, method: str = "GET", ended: bool = False) -> Message | None:
    """The first message in `raw`, or None while it is not whole. `ended`: the connection has closed."""
    head, blank, rest = raw.partition(b"\r\n\r\n")
    if not blank:
        return None
    start, *lines = head.split(b"\r\n")
    bare = Message(raw[: len(head) + 4], start, tuple(lines), b"", "none")
    if method == "HEAD" or bare.status in (204, 304):
        return bare
    if bare.field("transfer-encoding").lower() == "chunked":
        chunks = read_chunks(rest)
        if chunks is None:
            return None
        content, used = chunks
        return bare._replace(raw=raw[: len(head) + 4 + used], content=content, framing="chunked")
    if length := bare.field("content-length"):
        size = int(length)
        if len(rest) < size:
            return None
        return bare._replace(raw=raw[: len(head) + 4 + size], content=rest[:size], framing="length")
    return bare._replace(raw=raw, content=rest, framing="close") if ended else None


_LONG = 1_000_000
"""Bytes of a body from which on it is not parsed at every segment."""


def _long_body(raw: bytearray) -> int:
    """How many bytes the message in `raw` has in all, where its head tells and they are many; else 0."""
    end = raw.find(b"\r\n\r\n")
    for line in bytes(raw[: max(end, 0)]).split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length" and value.strip().isdigit() and int(value) > _LONG:
            return end + 4 + int(value)
    return 0


def receive(sock: socket.socket, *, method: str = "GET") -> Message:
    """Exactly one final answer from `sock`, interim ones (1xx) dropped; `Torn` where the connection ends inside it."""
    raw = bytearray()
    while True:
        piece = sock.recv(262144)
        raw += piece
        while raw.startswith(b"HTTP/1.1 1") and (end := raw.find(b"\r\n\r\n")) > 0:
            del raw[: end + 4]
        # A long body of known length is parsed once it is whole, not at every segment.
        whole = len(raw) >= _long_body(raw)
        if (whole or method == "HEAD" or not piece) and (
            message := parse(bytes(raw), method=method, ended=not piece)
        ):
            return message
        if not piece:
            raise Torn(bytes(raw))


def ask(port: int, request: bytes, *, method: str = "GET", seconds: float = 20) -> Message:
    """Send `request` to a port of this machine on a connection of its own and read its answer."""
    with socket.create_connection(("127.0.0.1", port), seconds) as sock:
        sock.sendall(request)
        return receive(sock, method=method)
