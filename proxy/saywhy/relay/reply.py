"""Response heads as the lines that came: how the body ends, and which lines go no further. Nothing here does I/O."""

from __future__ import annotations

from typing import Final

from saywhy.core.model import Fields
from saywhy.edge.settings import Limits
from saywhy.relay.lines import (
    CHUNKED,
    CLOSE,
    CRLF,
    HEAD_END,
    LENGTH,
    NONE,
    BadHead,
    beginnings,
    may_be_named,
    pair,
    size_of,
    tokens,
)

_SIZE, _CODING, _CONNECTION, _UPGRADE, _DROP, _PROXY_CONNECTION, _NOTHING = range(7)

_NAMES: Final[dict[bytes, int]] = {
    b"content-length": _SIZE,
    b"transfer-encoding": _CODING,
    b"connection": _CONNECTION,
    b"upgrade": _UPGRADE,
    b"keep-alive": _DROP,
    b"proxy-connection": _PROXY_CONNECTION,
    b"te": _DROP,
    # The spellings of most sites once more: they save the lower-casing.
    b"Content-Length": _SIZE,
    b"Transfer-Encoding": _CODING,
    b"Connection": _CONNECTION,
    b"Content-Type": _NOTHING,
    b"Content-Encoding": _NOTHING,
}

_FIRST_BYTES: Final = frozenset(letter for name in _NAMES for letter in (name[0], name[:1].upper()[0]))
"""Most lines are told by their first byte, or the first three, to be none of ours."""

_STARTS: Final = beginnings(_NAMES)
_STATUSES: Final = {b"%03d" % status: status for status in range(100, 1000)}
"""Less than 100 is no status (RFC 9110 15): to one side an interim answer, to another the final one."""

_CONTROLS: Final = bytes((*range(9), *range(10, 32), 127))
_REMEMBERED_LINES: Final = 1024
_known_lines: set[bytes] = set()
"""Status lines that were found sound: sites have few, and each is looked at once. Full is full."""

_KEEPS: Final = [b"keep-alive"]

BROKEN: Final = "http_protocol_error"
TOO_LARGE: Final = "http_response_header_section_size"


class ResponseHead:
    """What one response head says. `lines` are the lines to send on, status line first; None means "those of raw".

    `keep` is whether the site keeps its connection.
    """

    __slots__ = ("_fields", "_plain", "keep", "kind", "length", "lines", "raw", "size", "status")

    def __init__(
        self, raw: bytes, status: int, kind: int, length: int, keep: bool, lines: list[bytes] | None
    ) -> None:
        self.raw = raw
        self.size = len(raw)
        self.status = status
        self.kind = kind
        self.length = length
        self.keep = keep
        self.lines = lines
        self._plain = b""
        self._fields: Fields | None = None

    def fields(self) -> Fields:
        """The section for the core: as the site sent it, hop-by-hop lines gone. Made once, for heads that come again."""
        if self._fields is None:
            lines = self.lines if self.lines is not None else self.raw[:-4].split(CRLF)
            self._fields = Fields(pair(line) for line in lines[1:])
        return self._fields

    def onward(self, extra: bytes = b"") -> bytes:
        """The head to send, with `extra` lines (each ended by CRLF) after the site's own."""
        if self.lines is None:
            return self.raw if not extra else self.raw[:-2] + extra + CRLF
        if extra:
            return b"%b\r\n%b\r\n" % (CRLF.join(self.lines), extra)
        if not self._plain:
            self._plain = CRLF.join(self.lines) + HEAD_END
        return self._plain

    def without_chunks(self) -> None:
        """Forget the chunked coding: the caller speaks HTTP/1.0 and gets the bare body, ended by the connection."""
        lines = self.lines if self.lines is not None else self.raw[:-4].split(CRLF)
        self.lines = [
            line
            for line in lines
            if line.partition(b":")[0].lower() not in (b"transfer-encoding", b"trailer")
        ]
        self._plain = b""
        self._fields = None


def read_response(raw: bytes, limits: Limits, *, bodyless: bool) -> ResponseHead:
    """Read a whole response head, the empty line included; `bodyless` for answers to HEAD.

    Raises BadHead with a token for what cannot be passed on; llhttp must still accept the bytes.
    """
    status = _STATUSES.get(raw[9:12], -1)
    if status < 0 or raw[:7] != b"HTTP/1.":
        raise BadHead(BROKEN)
    lines = raw[:-4].split(CRLF)
    if lines[0] not in _known_lines:
        _look_at(lines[0])
    if len(lines) > limits.fields_count + 1 or (
        len(raw) > limits.line_bytes and max(map(len, lines)) > limits.line_bytes
    ):
        raise BadHead(TOO_LARGE)
    size = -1
    codings: bytes | None = None
    gone: list[bytes] | None = None
    named: list[bytes] | None = None
    for line in lines:
        if line[0] not in _FIRST_BYTES or line[:3] not in _STARTS:
            continue
        name, _, value = line.partition(b":")
        what = _NAMES.get(name)
        if what is None:
            what = _NAMES.get(name.lower(), _NOTHING)
        if what == _NOTHING:
            continue
        value = value.strip(b" \t")
        if what == _SIZE:
            if size >= 0:
                raise BadHead(BROKEN)
            size = _size(value)
            if status == 204 or status < 200:  # RFC 9110 8.6: must not be sent there
                gone = [*(gone or ()), line]
        elif what == _CODING:
            codings = value.lower() if codings is None else codings + b"," + value.lower()
            if status == 204 or status < 200:  # RFC 9112 6.1: nor may this
                gone = [*(gone or ()), line]
        elif status != 101 or what in (_DROP, _PROXY_CONNECTION):
            gone = [line] if gone is None else [*gone, line]
            if what == _CONNECTION and value != b"keep-alive":
                named = [*(named or ()), *tokens(value)]
            elif what == _CONNECTION:
                named = named or _KEEPS
            elif what == _PROXY_CONNECTION and b"close" in tokens(value):  # llhttp reads it as Connection
                named = [*(named or ()), b"close"]
    kind = _kind(status, size, codings, bodyless)
    keep = (new := raw[7:8] == b"1") and kind != CLOSE
    if named is not None and not (new and named == _KEEPS):
        keep = _kept(raw, kind, codings, named)
        gone = (gone or []) + _named_lines(lines, named)
    if not new:
        # An intermediary speaks its own version (RFC 9110 6.2).
        lines[0] = b"HTTP/1.1" + lines[0][8:]
        gone = gone or []
    if len(lines[0]) == 12:  # RFC 9112 4: the space before the reason is not optional, the reason is
        lines[0] += b" "
        gone = gone or []
    if gone is None:
        return ResponseHead(raw, status, kind, max(size, 0), keep, None)
    for line in gone:
        lines.remove(line)  # the same line twice is here twice
    return ResponseHead(raw, status, kind, max(size, 0), keep, lines)


def _look_at(line: bytes) -> None:
    """A status line that is new: a reason is text (RFC 9112 4), and llhttp lets control bytes through."""
    if line.translate(None, _CONTROLS) != line:
        raise BadHead(BROKEN)
    if len(_known_lines) < _REMEMBERED_LINES and len(line) < 64:
        _known_lines.add(line)


def _size(value: bytes) -> int:
    try:
        return size_of(value)
    except BadHead:
        raise BadHead(BROKEN) from None


def _kind(status: int, size: int, codings: bytes | None, bodyless: bool) -> int:
    """RFC 9112 6.3, in its order; a length beside a coding is never repaired."""
    if codings is not None and (size >= 0 or codings != b"chunked"):
        raise BadHead(BROKEN)
    if bodyless or status < 200 or status in (204, 304):
        return NONE
    if codings is not None:
        return CHUNKED
    return CLOSE if size < 0 else LENGTH


def _kept(raw: bytes, kind: int, codings: bytes | None, named: list[bytes]) -> bool:
    if kind == CLOSE or b"close" in named:
        return False
    # RFC 9112 9.3; a chunked answer of HTTP/1.0 is faulty framing (6.1): read it, then close.
    return raw[7:8] == b"1" or (b"keep-alive" in named and codings is None)


def _named_lines(lines: list[bytes], named: list[bytes]) -> list[bytes]:
    away = {name for name in named if name not in _NAMES and name != b"close" and may_be_named(name)}
    return [line for line in lines[1:] if line.partition(b":")[0].lower() in away] if away else []


def tidied(head: bytes) -> bytes:
    """A site's head with bare LF line ends and folded lines turned into what RFC 9112 2.2 and 5.2 ask of a sender."""
    lines: list[bytes] = []
    for line in head.replace(b"\r\n", b"\n").rstrip(b"\n").split(b"\n"):
        if lines[1:] and line[:1] in (b" ", b"\t"):
            lines[-1] += b" " + line.strip(b" \t")
        else:
            lines.append(line)
    return b"\r\n".join(lines) + b"\r\n\r\n"


def bare_end(data: bytes) -> int:
    """Where a head with bare LF line ends stops (RFC 9112 2.2: a recipient may take them), 0 where it does not."""
    ends = [at + len(mark) for mark in (b"\n\n", b"\n\r\n") if (at := data.find(mark)) > 0]
    return min(ends, default=0) if data.startswith(b"HTTP/1.") else 0


def mended(data: bytes, end: int) -> bytes | None:
    """`data` with its head's line ends and folds repaired, None where nothing of that kind is wrong with it."""
    stop = min(bare_end(data) or end, end)
    head = data[:stop]
    if not head.startswith(b"HTTP/1."):
        return None
    fixed = tidied(head)
    return fixed + data[stop:] if fixed != head else None
