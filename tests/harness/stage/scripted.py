"""A site that says exactly what a test tells it to: raw bytes by path, valid HTTP or not."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import NamedTuple


class Answer(NamedTuple):
    """What is sent for a path, in `pieces`; `wait` seconds before each. `close`: the connection ends after it."""

    pieces: Iterable[bytes]
    wait: float = 0
    close: bool = False


def page(status: str, content: bytes, *fields: str, media: str = "text/html") -> Answer:
    """A well-formed answer with a length."""
    lines = [
        f"HTTP/1.1 {status}",
        f"Content-Type: {media}",
        *fields,
        f"Content-Length: {len(content)}",
        "",
        "",
    ]
    return Answer(("\r\n".join(lines).encode() + content,))


def garbage(*pieces: bytes) -> Answer:
    """These bytes and the end of the connection."""
    return Answer(pieces, close=True)


GOOD = page("200 OK", b"<title>Shop</title><h1>Welcome</h1>")


class ScriptedSite:
    """Listens on `port` of loopback, or on what is `bound` already, a thread a connection. Paths without an answer of their own get a good page.

    It reads request heads and, where Content-Length says so, bodies; `asked` keeps the request lines.
    """

    def __init__(self, answers: Mapping[str, Answer], bound: socket.socket | None = None) -> None:
        self._answers = answers
        self._listener = bound or socket.create_server(("127.0.0.1", 0), backlog=256)
        self._listener.listen(256)
        self.port: int = 0 if self._listener.family == socket.AF_UNIX else self._listener.getsockname()[1]
        self.asked: list[str] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> ScriptedSite:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self._serve, args=(self._listener.accept()[0],), daemon=True).start()

    def _serve(self, sock: socket.socket) -> None:
        with sock, sock.makefile("rb") as stream, contextlib.suppress(OSError, ValueError):
            while line := stream.readline():
                target = line.split()[1].decode("latin-1")
                self.asked.append(line.decode("latin-1").strip())
                length = 0
                while (field := stream.readline()) not in (b"\r\n", b""):
                    name, _, value = field.partition(b":")
                    if name.lower() == b"content-length":
                        length = int(value)
                stream.read(length)
                answer = self._answers.get(target.partition("?")[0], GOOD)
                for piece in answer.pieces:
                    if answer.wait:
                        time.sleep(answer.wait)
                    sock.sendall(piece)
                if answer.close:
                    return
