"""Small bodies that grow: what a decoder must not follow to the end. Each is made once a process."""

from __future__ import annotations

import functools
import gzip
import zlib

import brotli
import zstandard

_MIB = bytes(1 << 20)


@functools.cache
def gzipped(mib: int = 50) -> bytes:
    """A thousandth of what it holds: as far as DEFLATE goes."""
    step = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    return b"".join(step.compress(_MIB) for _ in range(mib)) + step.flush()


@functools.cache
def twice(mib: int = 50) -> bytes:
    """gzip of gzip: a quarter of a kilobyte."""
    return gzip.compress(gzipped(mib))


@functools.cache
def members(count: int = 100_000) -> bytes:
    """So many gzip members, none with anything in it (RFC 1952 2.2)."""
    return gzip.compress(b"") * count


@functools.cache
def brotlied(mib: int = 200) -> bytes:
    """Under 200 bytes, with the largest window."""
    step = brotli.Compressor(quality=5, lgwin=24)
    return b"".join(step.process(_MIB) for _ in range(mib)) + step.finish()


@functools.cache
def zstandard_(mib: int = 200) -> bytes:
    """Some 6 KB."""
    return zstandard.ZstdCompressor().compress(bytes(mib << 20))


BOMBS = {
    "gzip": (b"gzip", gzipped),
    "gzip of gzip": (b"gzip, gzip", twice),
    "empty members": (b"gzip", members),
    "brotli": (b"br", brotlied),
    "zstd": (b"zstd", zstandard_),
}
"""Name -> Content-Encoding and who makes the body."""
