"""`read` and everything it hands out never raise, whatever comes on the wire."""

import gzip

from hypothesis import given, settings
from hypothesis import strategies as st

from saywhy.core.model import Fields
from saywhy.core.page import PageLimits, read

TYPES = st.sampled_from(
    [b"", b"text/html", b"text/html; charset=utf-8", b"application/json", b"text/html;charset=utf-16", b"text/xml", b"a/b",
     b"application/ld+json", b"image/png", b";;;=", b"text/html; charset=shift_jis", b"\xff/\xff", b"application/problem+json"]
)  # fmt: skip
CODINGS = st.sampled_from([b"", b"gzip", b"br", b"zstd", b"deflate", b"gzip,br", b"x", b",,", b"identity"])
PIECES = st.sampled_from(
    [b"<html>", b"<title>", b"</title>", b"<div hidden>", b"<script type=application/ld+json>", b"</script>", b'{"@graph":[',
     b'{"@type":"Product","offers":{"availability":"OutOfStock"}}', b"&amp;", b"&#x110000;", b"\x00", b"<!--", b"-->", b"<?xml?>",
     b"<p itemscope><link itemprop=availability>", b"\xff\xfe", b"{", b"[", b"]", b"}", b'"', b"\\ud800", b"</html>", b"<![CDATA["]
)  # fmt: skip
BODIES = st.one_of(
    st.binary(max_size=300),
    st.lists(PIECES, max_size=30).map(b"".join),
    st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")),
)


@settings(max_examples=400, deadline=None)
@given(TYPES, CODINGS, BODIES, st.booleans(), st.booleans())
def test_never_raises(media, coding, body, complete, packed):
    fields = Fields([(b"Content-Type", media), (b"Content-Encoding", coding)])
    page = read(
        fields,
        gzip.compress(body) if packed else body,
        complete=complete,
        limits=PageLimits(decoded_bytes=500),
    )
    page.title.encode("utf-8")
    page.text.encode("utf-8")
    page.source.encode("utf-8")
    assert page.kind in {"html", "json", "xml", "text", "binary", "empty"}
    assert len(page.source) <= 500
    _ = page.json, page.jsonld, page.things, page.scripts, page.dom


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.binary(max_size=20), st.binary(max_size=40)), max_size=6), st.binary(max_size=100)
)
def test_never_raises_on_fields(lines, body):
    assert read(Fields(lines), body).truncated in {True, False}
