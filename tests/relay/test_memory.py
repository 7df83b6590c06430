"""Bodies of any size pass through the process that operators run without staying in it: 1 GB down, 1 GB up."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

from stage.serving import Saywhy, serving

SIZE = 1 << 30
BLOCK = bytes(1 << 20)
MOST = 20 << 20


def _read_head(sock: socket.socket) -> tuple[bytes, int]:
    """A head, and how much of the body came with it."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = sock.recv(65536)
        if not piece:
            return b"", 0
        data += piece
    head, _, rest = data.partition(b"\r\n\r\n")
    return head, len(rest)


def _read_body(sock: socket.socket, have: int) -> int:
    buffer = bytearray(1 << 20)
    while have < SIZE and (size := sock.recv_into(buffer)):
        have += size
    return have


def _serve(listener: socket.socket) -> None:
    while True:
        try:
            sock, _ = listener.accept()
        except OSError:
            return
        with sock, contextlib.suppress(ConnectionError):
            while True:
                head, have = _read_head(sock)
                if not head:
                    break
                if head.startswith(b"GET /warm"):
                    sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1048576\r\n\r\n" + BLOCK)
                elif head.startswith(b"GET"):
                    sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % SIZE)
                    for _ in range(SIZE // len(BLOCK)):
                        sock.sendall(BLOCK)
                else:
                    got = b"%d" % _read_body(sock, have)
                    sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(got), got))


@contextlib.contextmanager
def _site() -> Iterator[int]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        thread = threading.Thread(target=_serve, args=(listener,), daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
    thread.join(10)


class _Watch(threading.Thread):
    """The highest resident size while something goes on."""

    def __init__(self, proxy: Saywhy) -> None:
        super().__init__(daemon=True)
        self.proxy = proxy
        self.most = proxy.memory()
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.wait(0.05):
            self.most = max(self.most, self.proxy.memory())


def test_a_gigabyte_down_and_up_leaves_no_trace_in_memory(tmp_path: Path) -> None:
    with _site() as port, serving(port, tmp_path) as proxy:
        with socket.create_connection(("127.0.0.1", proxy.port), timeout=60) as sock:
            for _ in range(3):
                sock.sendall(b"GET /warm HTTP/1.1\r\nHost: t\r\n\r\n")
                _, have = _read_head(sock)
                while have < len(BLOCK):
                    have += len(sock.recv(1 << 20))
            watch = _Watch(proxy)
            before = watch.most
            watch.start()
            sock.sendall(b"GET /down HTTP/1.1\r\nHost: t\r\n\r\n")
            head, have = _read_head(sock)
            assert head.startswith(b"HTTP/1.1 200")
            assert _read_body(sock, have) == SIZE
            sock.sendall(b"POST /up HTTP/1.1\r\nHost: t\r\nContent-Length: %d\r\n\r\n" % SIZE)
            for _ in range(SIZE // len(BLOCK)):
                sock.sendall(BLOCK)
            answer = b""
            while not answer.endswith(b"%d" % SIZE):
                piece = sock.recv(65536)
                assert piece, answer
                answer += piece
            watch.over.set()
            watch.join()
        assert watch.most - before < MOST
