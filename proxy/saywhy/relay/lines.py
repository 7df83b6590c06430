"""Names of fields that a relay must know, and the small readings of bytes that heads on both sides share."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Final

CRLF: Final = b"\r\n"
HEAD_END: Final = b"\r\n\r\n"
TLS_HANDSHAKE: Final = 22
"""The first byte of a TLS connection (RFC 8446 5.1), which begins no request."""

NONE, LENGTH, CHUNKED, CLOSE = range(4)
"""How a body ends (RFC 9112 6.3): there is none, after a length, by the last chunk, with the connection."""

PROTECTED: Final = frozenset({
    b"host", b"content-length", b"transfer-encoding", b"authorization", b"cookie", b"set-cookie", b"via",
    b"forwarded", b"signature", b"signature-input", b"signature-agent", b"content-type", b"content-encoding",
    b"cdn-loop",
})  # fmt: skip
"""Fields that Connection may not take away: naming them would strip a caller's address, a login or the framing."""

FORWARDED_NAMES: Final = tuple(
    b"x-forwarded-" + end
    for end in (b"for", b"proto", b"host", b"port", b"prefix", b"server", b"ssl", b"scheme")
)


class BadHead(Exception):
    """A head that is refused. `token` names the row in `core.failures`; nothing of the head is kept in it."""

    def __init__(self, token: str) -> None:
        super().__init__(token)
        self.token = token


def spellings(name: bytes) -> tuple[bytes, ...]:
    """`name` with every mix of `-` and `_`: gateways behind us (CGI, WSGI) cannot tell them apart."""
    first, *rest = name.split(b"-")
    return tuple(
        first + b"".join(mark + part for mark, part in zip(marks, rest, strict=True))
        for marks in product((b"-", b"_"), repeat=len(rest))
    )


def beginnings(names: Iterable[bytes]) -> frozenset[bytes]:
    """The first three bytes of these fields' lines, in every mix of case: most lines of a head are told by them to be
    none of these fields', for a fraction of what cutting out and lower-casing their names costs.
    """
    firsts = ((name + b":").lower()[:3] for name in names)
    return frozenset(
        bytes(mix)
        for first in firsts
        for mix in product(*((byte, bytes([byte]).upper()[0]) for byte in first))
    )


def pair(line: bytes) -> tuple[bytes, bytes]:
    """One line as name and value, white space around the value gone (RFC 9110 5.5)."""
    name, _, value = line.partition(b":")
    return name, value.strip(b" \t")


def tokens(value: bytes) -> list[bytes]:
    """A comma-separated list of tokens, lower-cased."""
    return [token.strip(b" \t").lower() for token in value.split(b",")]


def size_of(value: bytes) -> int:
    """A Content-Length; 18 digits are more than any disk holds and less than any integer that llhttp keeps."""
    if not value.isdigit() or len(value) > 18:
        raise BadHead("http_request_error")
    return int(value)


def may_be_named(name: bytes) -> bool:
    """Whether Connection may take the field `name` (lower case) away."""
    return name not in PROTECTED and not name.startswith((b"x-forwarded-", b"signature"))
