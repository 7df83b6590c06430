"""Chunks counted (RFC 9112 7.1): at which byte a chunked message ends. llhttp reads the same bytes and validates what is
not looked at here; size lines and trailers are read as strictly as it does, and in bounds.
"""

from __future__ import annotations

from typing import Final

from saywhy.relay.lines import CRLF, BadHead

LINE_BYTES: Final = 16384
"""A size line with its extensions, or one trailer."""

TRAILER_BYTES: Final = 65536
_MOST_DIGITS: Final = 16
_LARGEST: Final = 1 << 60
_HEX: Final = b"0123456789abcdefABCDEF"

_sizes: dict[bytes, int] = {}
"""Size lines read before. Full is full: callers cannot grow it."""
_REMEMBERED_SIZES: Final = 1024
_SHORT: Final = 32

_NEVER_TRAILERS: Final = frozenset((
    b"host", b"content-length", b"transfer-encoding", b"trailer", b"connection", b"upgrade", b"te", b"keep-alive",
    b"proxy-connection", b"proxy-authorization", b"http2-settings", b"expect", b"max-forwards", b"range",
    b"authorization", b"cookie", b"forwarded", b"via", b"x-real-ip", b"cdn-loop", b"agent-identity",
    b"content-type", b"content-encoding", b"content-range",
))  # fmt: skip
"""What a site may take for a word of ours, or for framing, were it to merge trailers into the head (RFC 9110 6.5.1)."""


class Chunks:
    """Where in its chunks a connection's current message is. `done` tells whether its end was reached.

    `trailers_from_caller`: trailers that could pass for what only a head may say are refused.
    """

    __slots__ = ("_in_trailers", "_left", "_line", "_strict", "_trailer_bytes", "done")

    def __init__(self, *, trailers_from_caller: bool = False) -> None:
        self._strict = trailers_from_caller
        self.begin()

    def begin(self) -> None:
        """A new message: its first size line comes next."""
        self._left = 0
        self._line = b""
        self._in_trailers = False
        self._trailer_bytes = 0
        self.done = False

    def take(self, data: bytes, at: int) -> int:
        """Count what `data[at:]` holds of the message; the offset where that stops. Raises BadHead."""
        size = len(data)
        at += self._left
        while at < size:
            if self._line:
                at = self._rest_of_a_line(data, at)
                if at < 0:
                    self._left = 0
                    return size
            elif (end := data.find(CRLF, at, at + LINE_BYTES)) < 0:
                self._begin_line(data[at:])
                self._left = 0
                return size
            else:
                line = data[at:end]
                known = _sizes.get(line)
                if known and not self._in_trailers:
                    at = end + known
                else:
                    at = end + 2 + self._read(line)
            if self.done:
                return at
        self._left = at - size
        return size

    def _begin_line(self, piece: bytes) -> None:
        if len(piece) >= LINE_BYTES:
            raise BadHead("http_request_error")
        self._line = piece

    def _rest_of_a_line(self, data: bytes, at: int) -> int:
        """Go on with a line that began in an earlier segment; the offset behind it, -1 where it goes on further."""
        if self._line[-1] == 13:  # a CR whose LF is due
            if data[at] != 10:
                raise BadHead("http_request_error")
            line, end = self._line[:-1], at - 1
        else:
            end = data.find(CRLF, at, at + LINE_BYTES)
            if end < 0:
                self._begin_line(self._line + data[at : at + LINE_BYTES])
                return -1
            line = self._line + data[at:end]
        self._line = b""
        return end + 2 + self._read(line)

    def _read(self, line: bytes) -> int:
        """One whole line; how many bytes to jump over after it: a chunk's data with its line end."""
        if len(line) > LINE_BYTES:
            raise BadHead("http_request_error")
        if self._in_trailers:
            self._read_trailer(line)
            return 0
        digits, _, _ = line.partition(b";")
        if (
            not 0 < len(digits) <= _MOST_DIGITS
            or digits.translate(None, _HEX)
            or b"\r" in line
            or b"\n" in line
        ):
            raise BadHead("http_request_error")
        size = int(digits, 16)
        if size >= _LARGEST:
            raise BadHead("http_request_error")
        if size == 0:
            self._in_trailers = True
            return 0
        if len(line) <= _SHORT and len(_sizes) < _REMEMBERED_SIZES:
            _sizes[line] = size + 4
        return size + 2

    def _read_trailer(self, line: bytes) -> None:
        if not line:
            self.done = True
            return
        self._trailer_bytes += len(line) + 2
        name = line.partition(b":")[0].lower().replace(b"_", b"-")
        if self._trailer_bytes > TRAILER_BYTES or (self._strict and _is_for_heads(name)):
            raise BadHead("http_request_error")


def _is_for_heads(name: bytes) -> bool:
    return name in _NEVER_TRAILERS or name.startswith(b"x-forwarded-")
