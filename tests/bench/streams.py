"""Callers of our own, for what wrk does not do: thousands that keep quiet, many that read late, one that moves a GiB."""

from __future__ import annotations

import contextlib
import resource
import selectors
import socket
import time
from collections.abc import Iterator

PIECE = 1 << 18
GIB = 1 << 30


def _connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), 30)


def _request(port: int, path: str, method: str = "GET", fields: str = "") -> bytes:
    return f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{fields}\r\n".encode()


def _head(sock: socket.socket) -> tuple[int, bytes]:
    """The declared length of the answer that comes next, and what has come of its body."""
    came = b""
    while b"\r\n\r\n" not in came:
        piece = sock.recv(PIECE)
        if not piece:
            raise ConnectionError("an answer without an end to its head")
        came += piece
    head, _, body = came.partition(b"\r\n\r\n")
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line[15:]), body
    raise ConnectionError("an answer without a length")


def _read(sock: socket.socket) -> int:
    """Take one answer; the bytes of its body."""
    length, body = _head(sock)
    got, space = len(body), bytearray(PIECE)
    while got < length:
        count = sock.recv_into(space)
        if not count:
            break
        got += count
    return got


@contextlib.contextmanager
def kept(port: int, path: str, count: int) -> Iterator[None]:
    """So many connections, each with one answer had, quiet while the block runs."""
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            sock = stack.enter_context(_connect(port))
            sock.sendall(_request(port, path))
            _read(sock)
        yield


def read_late(port: int, path: str, count: int, stall: float) -> int:
    """So many callers ask at once, read nothing for `stall` seconds, and then everything; the bytes that came."""
    total = 0
    with contextlib.ExitStack() as stack, selectors.DefaultSelector() as selector:
        left: dict[socket.socket, int] = {}
        for _ in range(count):
            sock = stack.enter_context(_connect(port))
            sock.sendall(_request(port, path))
            left[sock] = -1
        time.sleep(stall)
        for sock in left:
            length, body = _head(sock)
            left[sock] = length - len(body)
            total += len(body)
            selector.register(sock, selectors.EVENT_READ, sock)
        space = bytearray(PIECE)
        while selector.get_map():
            for key, _ in selector.select(30):
                reading: socket.socket = key.data
                got = reading.recv_into(space)
                total += got
                left[reading] -= got
                if not got or left[reading] <= 0:
                    selector.unregister(reading)
    return total


def download(port: int, path: str) -> int:
    """One stream down; the bytes that came."""
    with _connect(port) as sock:
        sock.sendall(_request(port, path))
        return _read(sock)


def upload(port: int, path: str) -> int:
    """One GiB up; the bytes that the sink says it got."""
    with _connect(port) as sock:
        sock.sendall(
            _request(
                port, path, "PUT", f"Content-Length: {GIB}\r\nContent-Type: application/octet-stream\r\n"
            )
        )
        piece = bytes(PIECE)
        for _ in range(GIB // PIECE):
            sock.sendall(piece)
        length, body = _head(sock)
        while len(body) < length:
            body += sock.recv(PIECE)
        return int(body)
