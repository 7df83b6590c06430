"""A wire with an ear: a TCP forwarder that writes down what crosses it.

Between proxy and site it tells what the site said on this very exchange, so that dates, nonces and cookies that differ
from one answer to the next can still be compared byte for byte.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from types import TracebackType


class Recording:
    """What crossed the wire during one exchange."""

    def __init__(self) -> None:
        self.asked = bytearray()
        self.answered = bytearray()


class Forwarder:
    """Forwards connections from `port` to `target` on loopback. One exchange at a time is recorded."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._recording = Recording()
        self._sockets: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Forwarder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for one in (self._listener, *self._sockets):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    @contextlib.contextmanager
    def record(self) -> Iterator[Recording]:
        """Everything that crosses while the block runs. Bytes are written down before they are passed on."""
        self._recording = Recording()
        yield self._recording

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(("127.0.0.1", self._target), 10)
            except OSError:
                near.close()
                continue
            far.settimeout(None)
            self._sockets += [near, far]
            threading.Thread(target=self._pump, args=(near, far, "asked"), daemon=True).start()
            threading.Thread(target=self._pump, args=(far, near, "answered"), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket, side: str) -> None:
        try:
            while piece := source.recv(65536):
                getattr(self._recording, side).extend(piece)
                sink.sendall(piece)
        except OSError:
            pass
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)
