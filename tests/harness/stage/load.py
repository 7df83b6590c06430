"""Callers who ask over and over on kept connections, and count what became of every request."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections import Counter
from types import TracebackType

from stage.wire import Torn, receive


class Load:
    """`callers` threads ask `port` for `request`, each on one connection until that is closed; entering it starts them.

    `counts`: answered, and what nobody should see: unanswered (the connection ended under a request), wrong (another
    status or content). A connection that could not be made is refused, and tried again; one that ended before anything
    was sent on it again is nothing to count.
    """

    def __init__(
        self,
        port: int,
        request: bytes,
        *,
        callers: int = 8,
        tls: ssl.SSLContext | None = None,
        content: frozenset[bytes] = frozenset(),
    ) -> None:
        self.counts: Counter[str] = Counter()
        self.why: Counter[str] = Counter()
        self._port, self._request, self._tls, self._content = port, request, tls, content
        self._lock, self._over = threading.Lock(), threading.Event()
        self._threads = [threading.Thread(target=self._call) for _ in range(callers)]

    def __enter__(self) -> Load:
        for one in self._threads:
            one.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def end(self) -> None:
        """Ask no more; returns when the last answer is there."""
        self._over.set()
        for one in self._threads:
            one.join(30)

    def _count(self, word: str, why: str = "") -> None:
        with self._lock:
            self.counts[word] += 1
            if why:
                self.why[why] += 1

    def _call(self) -> None:
        while not self._over.is_set():
            try:
                sock = socket.create_connection(("127.0.0.1", self._port), 10)
            except OSError:
                self._count("refused")
                time.sleep(0.01)
                continue
            with sock:
                self._converse(sock)

    def _converse(self, sock: socket.socket) -> None:
        try:
            spoken = self._tls.wrap_socket(sock, server_hostname="localhost") if self._tls else sock
        except OSError as failed:
            self._count("unanswered", f"handshake: {failed!r}")
            return
        with spoken:
            while not self._over.is_set():
                try:
                    spoken.sendall(self._request)
                    answer = receive(spoken)
                except (Torn, OSError) as lost:
                    self._count("unanswered", repr(lost)[:80])
                    return
                right = not self._content or answer.content in self._content
                self._count("answered" if right else "wrong", "" if right else repr(answer.raw[:80]))
                if "close" in answer.all("connection"):
                    return
