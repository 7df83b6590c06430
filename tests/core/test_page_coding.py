"""Content codings: what comes out, what is cut, what is refused; all of it bounded."""

import gzip
import zlib

import brotli
import pytest
import zstandard

from saywhy.core.model import Fields
from saywhy.core.page import PageLimits, read

TEXT = "<!doctype html><title>Gone</title><p>Nothing is here any more, whatever you ask for.</p>" * 3
RAW = TEXT.encode()


def raw_deflate(data: bytes) -> bytes:
    step = zlib.compressobj(wbits=-15)
    return step.compress(data) + step.flush()


zstd = zstandard.ZstdCompressor().compress


def page(encoding: str | None, body: bytes, *, complete: bool = True, limit: int = 65536):
    fields = {"content-type": "text/html; charset=utf-8"} | (
        {"content-encoding": encoding} if encoding is not None else {}
    )
    return read(Fields.of(fields), body, complete=complete, limits=PageLimits(decoded_bytes=limit))


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        (None, RAW),
        ("", RAW),
        ("identity", RAW),
        ("gzip", gzip.compress(RAW)),
        ("GZIP", gzip.compress(RAW)),
        (" x-gzip ", gzip.compress(RAW)),
        ("gzip", gzip.compress(RAW[:50]) + gzip.compress(RAW[50:])),
        ("gzip", gzip.compress(RAW) + b"\0" * 9),
        ("deflate", zlib.compress(RAW)),
        ("deflate", raw_deflate(RAW)),
        ("br", brotli.compress(RAW)),
        ("zstd", zstd(RAW)),
        ("zstd", zstd(RAW[:50]) + zstd(RAW[50:])),
        ("gzip, br", brotli.compress(gzip.compress(RAW))),
        ("deflate, gzip, identity, zstd", zstd(gzip.compress(zlib.compress(RAW)))),
    ],
)
def test_whole(encoding, body):
    read_page = page(encoding, body)
    assert (read_page.source, read_page.truncated, read_page.fault) == (TEXT, False, "")
    assert read_page.title == "Gone"


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzip.compress(RAW)),
        ("deflate", zlib.compress(RAW)),
        ("br", brotli.compress(RAW)),
        ("zstd", zstd(RAW)),
    ],
)
@pytest.mark.parametrize("cut", [1, 7, 30])
def test_cut_gives_what_came(encoding, body, cut):
    read_page = page(encoding, body[:-cut], complete=False)
    assert read_page.truncated
    assert TEXT.startswith(read_page.source)


def test_cut_gzip_keeps_the_beginning():
    noise = TEXT + "".join(f"<p>{number * 7919}</p>" for number in range(3000))
    body = gzip.compress(noise.encode())
    read_page = page("gzip", body[: len(body) // 2])
    assert read_page.truncated
    assert read_page.title == "Gone"
    assert len(read_page.source) > 1000


def test_broken_in_the_middle_keeps_the_beginning():
    noise = "".join(f"<p>{number * 7919}</p>" for number in range(3000))
    body = bytearray(gzip.compress(noise.encode()))
    body[len(body) // 2 : len(body) // 2 + 40] = b"\xff" * 40
    read_page = page("gzip", bytes(body))
    assert read_page.truncated
    assert len(read_page.source) > 500


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("compress", b"\x1f\x9d\x90"),
        ("aws-chunked", RAW),
        ("gzip, dcb", gzip.compress(RAW)),
        ("gzip", RAW),
        ("br", b"\xff" * 40),
        ("zstd", RAW),
        ("deflate", b"\xff\xff\xff\xff"),
        ("gzip, gzip, gzip, gzip, gzip", RAW),
    ],
)
def test_refused(encoding, body):
    read_page = page(encoding, body)
    assert (read_page.source, read_page.fault, read_page.kind) == ("", "coding", "binary")
    assert read_page.text == read_page.title == ""


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd", "gzip, gzip", "br, gzip"])
def test_bomb_is_bounded(encoding):
    pack = {"gzip": gzip.compress, "deflate": zlib.compress, "br": brotli.compress, "zstd": zstd}
    body = b"<p>" + b"A" * 50_000_000
    for name in encoding.split(", "):
        body = pack[name](body)
    read_page = page(encoding, body, limit=1000)
    assert len(read_page.source) <= 1000
    assert read_page.truncated


def test_exactly_at_the_bound():
    body = b"a" * 1000
    assert not page(None, body, limit=1000).truncated
    assert page(None, body + b"b", limit=1000).truncated
    assert not page("gzip", gzip.compress(body), limit=1000).truncated


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd", "deflate", "identity"])
def test_empty(encoding):
    read_page = page(encoding, b"")
    assert (read_page.kind, read_page.fault) == ("empty", "")
