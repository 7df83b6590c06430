"""Content codings (RFC 9110 8.4.1): bytes as they came on the wire -> bytes of the page, bounded at every step.

A broken or cut stream gives what came before the break; nothing here raises on what a site sent.
"""

import zlib
from collections.abc import Callable
from typing import NamedTuple

import brotli
import zstandard

_MOST_CODINGS = 4
"""Codings in one chain. Two occur (a CDN on top of a site); more only multiply the work of a bomb."""

_MOST_MEMBERS = 64
"""Members of one gzip stream that are read. Each costs a copy of what is left; ten thousand empty ones fit in a page
that is held, and took a third of a second. Sites that send a member a flush send a handful.
"""

_ZSTD_WINDOW = 8 * 1024 * 1024
"""The largest window that a decoder of zstd over HTTP must support (RFC 9659 3)."""


class Decoded(NamedTuple):
    """`truncated`: the end is missing (cut stream, or the bound was reached). `fault`: "" or "coding"."""

    data: bytes
    truncated: bool = False
    fault: str = ""


def _inflate(data: bytes, limit: int, window: int) -> Decoded:
    """zlib, raw deflate or gzip by `window` bits; gzip members that follow each other are one stream (RFC 1952 2.2)."""
    out, members = b"", 0
    while data:
        members += 1
        if members > _MOST_MEMBERS:
            return Decoded(out, True)
        step = zlib.decompressobj(window)
        try:
            out += step.decompress(data, limit - len(out))
        except zlib.error:
            # Bytes after a complete gzip member are padding; before anything came the stream was never of this kind.
            return Decoded(out, bool(out), "" if out else "coding")
        if not step.eof:
            return Decoded(out, True)
        if len(out) >= limit:
            return Decoded(out, bool(step.unused_data))
        data = step.unused_data.lstrip(b"\0") if window > zlib.MAX_WBITS else b""
    return Decoded(out)


def _gzip(data: bytes, limit: int) -> Decoded:
    return _salvage(data, limit, zlib.MAX_WBITS | 16)


def _salvage(data: bytes, limit: int, window: int) -> Decoded:
    """As `_inflate`; where a stream breaks in the middle, what came before the break."""
    whole = _inflate(data, limit, window)
    if not whole.fault:
        return whole
    # One call loses all it had when it meets the break: feed it in small steps instead.
    step, out = zlib.decompressobj(window), b""
    for start in range(0, len(data), 64):
        try:
            out += step.decompress(data[start : start + 64], limit - len(out))
        except zlib.error:
            break
        if len(out) >= limit:
            break
    return Decoded(out, True) if out else whole


def _deflate(data: bytes, limit: int) -> Decoded:
    """RFC 9110 8.4.1.2 means the zlib format; some sites send raw deflate, and browsers read both."""
    wrapped = _salvage(data, limit, zlib.MAX_WBITS)
    return wrapped if not wrapped.fault else _salvage(data, limit, -zlib.MAX_WBITS)


def _brotli(data: bytes, limit: int) -> Decoded:
    step, out = brotli.Decompressor(), b""
    for start in range(0, len(data), 512):
        piece = data[start : start + 512]
        try:
            out += step.process(piece, output_buffer_limit=limit - len(out))
            while len(out) < limit and not step.can_accept_more_data() and not step.is_finished():
                more = step.process(b"", output_buffer_limit=limit - len(out))
                if not more:
                    break
                out += more
        except brotli.error:
            return Decoded(out[:limit], bool(out), "" if out else "coding")
        if len(out) >= limit or step.is_finished():
            break
    return Decoded(out[:limit], not step.is_finished())


def _zstd(data: bytes, limit: int) -> Decoded:
    reader = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW).stream_reader(
        data, read_across_frames=True
    )
    out = b""
    try:
        while len(out) < limit:
            piece = reader.read(min(8192, limit - len(out)))
            if not piece:
                break
            out += piece
        more = len(out) >= limit and bool(reader.read(1))
    except zstandard.ZstdError:
        return Decoded(out, bool(out), "" if out else "coding")
    return Decoded(out, more)


_CODINGS: dict[str, Callable[[bytes, int], Decoded]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,  # RFC 9110 8.4.1.3: the same
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}


def decode(body: bytes, encoding: str | None, limit: int) -> Decoded:
    """`body` with the codings of a Content-Encoding value taken off, last one first; at most `limit` bytes.

    A coding that is not known, or more than four of them, gives no bytes and the fault "coding".
    """
    names = [name.strip().lower() for name in (encoding or "").split(",")]
    names = [name for name in names if name and name != "identity"]
    if any(name not in _CODINGS for name in names) or len(names) > _MOST_CODINGS:
        return Decoded(b"", bool(body), "coding")
    data, truncated = body, False
    if not data:
        return Decoded(b"")
    for name in reversed(names):
        data, cut, fault = _CODINGS[name](data, limit)
        if fault:
            return Decoded(b"", True, fault)
        truncated = truncated or cut
    return Decoded(data[:limit], truncated or len(data) > limit)
