"""What a site sees of a connection, read by h11: an HTTP library of other authors, and stricter than most sites."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import h11

_LARGE = 1 << 20


class Seen(NamedTuple):
    """One whole request."""

    method: bytes
    target: bytes
    fields: tuple[tuple[bytes, bytes], ...]
    body: bytes


class Sight:
    """One connection of the relay to the site. `broken` tells that h11 does not take what came for HTTP."""

    def __init__(self) -> None:
        self._h11 = h11.Connection(h11.SERVER, max_incomplete_event_size=_LARGE)
        self._head: h11.Request | None = None
        self._body = b""
        self._raw = b""
        self.broken = ""
        self.odd = False  # what follows cannot be judged: another protocol, or bytes that h11 takes for none of HTTP's

    @property
    def partial(self) -> h11.Request | None:
        """The head of a request whose body is not whole yet."""
        return self._head

    @property
    def begun(self) -> bool:
        """Whether some of a request has come that is not answered."""
        return bool(self._raw) or self._h11.their_state is not h11.IDLE

    def see(self, data: bytes) -> Iterator[Seen]:
        """The requests that `data` completes. The next one is read after `answered`."""
        if self.odd or self.broken:
            return
        if not data.isascii() and any(
            byte > 127 for line in data.split(b"\r\n") for byte in line.partition(b" HTTP/")[0]
        ):
            self.odd = True  # 8-bit bytes in a target, which RFC 3986 does not know and PROXY lets pass
            return
        try:
            if data:
                self._raw += data
                self._h11.receive_data(data)
            while (event := self._h11.next_event()) not in (h11.NEED_DATA, h11.PAUSED):
                if isinstance(event, h11.Request):
                    self._head, self._body = event, b""
                    lines = self._raw.partition(b"\r\n\r\n")[0].split(b"\r\n")
                    if any(mark in line for line in lines for mark in (b"\r", b"\n", b"\0")):
                        self.broken = "a line within a line"  # h11 takes a bare LF for a line's end
                        return
                elif isinstance(event, h11.Data):
                    self._body += bytes(event.data)
                elif isinstance(event, h11.EndOfMessage) and (head := self._head) is not None:
                    self._head = None
                    self._raw = self._h11.trailing_data[0]
                    fields = tuple((name, value) for name, value in head.headers)
                    yield Seen(head.method, head.target, fields, self._body)
                else:
                    return
        except h11.RemoteProtocolError as error:
            self.broken = str(error)

    def answered(self) -> Iterator[Seen]:
        """The request last seen has its answer: what is read next."""
        whole = self._h11.their_state in (h11.DONE, h11.MIGHT_SWITCH_PROTOCOL)
        if self.odd or self.broken or not whole or self._h11.our_state is not h11.SEND_RESPONSE:
            return
        self._h11.send(h11.Response(status_code=200, headers=[("Content-Length", "0")]))
        self._h11.send(h11.EndOfMessage())
        if self._h11.our_state is h11.DONE:
            self._h11.start_next_cycle()
            yield from self.see(b"")
