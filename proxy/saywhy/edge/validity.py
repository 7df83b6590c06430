"""From when to when a certificate is good. Python's ssl tells it of a peer's certificate alone, so the two dates are read
from the certificate itself: they stand at a fixed place of its DER (RFC 5280 4.1).
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final, NamedTuple

_BEGIN: Final = "-----BEGIN CERTIFICATE-----"
_END: Final = "-----END CERTIFICATE-----"

_SEQUENCE: Final = 0x30
_VERSION: Final = 0xA0
_UTC_TIME: Final = 0x17
_GENERALIZED_TIME: Final = 0x18


class Validity(NamedTuple):
    """Both ends are within."""

    since: datetime
    until: datetime


def validities(pem: str) -> Iterator[Validity]:
    """Of each certificate in `pem`, in order. What cannot be read ends it: whoever uses the file says so."""
    for part in pem.split(_BEGIN)[1:]:
        body, end, _ = part.partition(_END)
        if not end:
            return
        try:
            yield _of(ssl.PEM_cert_to_DER_cert(f"{_BEGIN}{body}{_END}"))
        except (ValueError, IndexError):
            return


def _of(der: bytes) -> Validity:
    _, at, _ = _element(der, 0)  # Certificate
    _, at, _ = _element(der, at)  # TBSCertificate
    if der[at] == _VERSION:
        at = _element(der, at)[2]
    for _ in ("serialNumber", "signature", "issuer"):
        at = _element(der, at)[2]
    tag, at, _ = _element(der, at)
    if tag != _SEQUENCE:
        raise ValueError("there is no validity where it should be")
    since, at = _time(der, at)
    until, _ = _time(der, at)
    return Validity(since, until)


def _element(der: bytes, at: int) -> tuple[int, int, int]:
    """(tag, where its content begins, where it ends)."""
    tag, length, begin = der[at], der[at + 1], at + 2
    if length & 0x80:
        count = length & 0x7F
        length, begin = int.from_bytes(der[begin : begin + count], "big"), begin + count
    return tag, begin, begin + length


def _time(der: bytes, at: int) -> tuple[datetime, int]:
    tag, begin, end = _element(der, at)
    text = der[begin:end].decode("ascii")
    if tag == _UTC_TIME:
        # RFC 5280 4.1.2.5.1: 50 and above are of the last century.
        text = ("19" if int(text[:2]) >= 50 else "20") + text
    elif tag != _GENERALIZED_TIME:
        raise ValueError("this is no time")
    return datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC), end
