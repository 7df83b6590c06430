"""Where an answer's body ends (RFC 9112 6.3, 7, 8): every kind, cut short, contradicted, and with more behind it."""

import gzip

from battery.case import Case, Seen, Verdict, head, request
from battery.site import Script
from battery.verdicts import bare, both, content, cut_short, either, failed, status, told

GZIP = gzip.compress(b"hello error " * 50, mtime=0)
CHUNKS = b"5\r\nhello\r\n0\r\n\r\n"
CHUNKED = "Transfer-Encoding: chunked"
OTHER = head("Content-Length: 3") + b"bad"


def _answer(
    name: str,
    rule: str,
    played: bytes,
    right: Verdict,
    *,
    method: str = "GET",
    end: str = "keep",
    version: str = "HTTP/1.1",
) -> Case:
    return Case(
        f"answer_{name}", rule, request(method, version=version), right, Script((played,), end), seconds=2.0
    )  # type: ignore[arg-type]


def _hello(seen: Seen) -> bool:
    return seen.status == 200 and content(b"hello")(seen)


def _no_length(seen: Seen) -> bool:
    return not seen.final.all(b"content-length") and not seen.final.all(b"transfer-encoding")


def _one_framing(seen: Seen) -> bool:
    return not (seen.final.all(b"content-length") and seen.final.all(b"transfer-encoding"))


def _nothing_of_the_other(seen: Seen) -> bool:
    return seen.statuses == [200] and b"bad" not in seen.answered


CASES = (
    # As they should be.
    _answer("length", "9110 8.6", head("Content-Length: 5") + b"hello", both(_hello, told(b"content-length", b"5"))),
    _answer("length_zero", "9110 8.6", head("Content-Length: 0"), both(status(200), bare)),
    _answer("chunks", "9112 7.1", head(CHUNKED) + CHUNKS, _hello),
    _answer("chunks_none", "9112 7.1", head(CHUNKED) + b"0\r\n\r\n", both(status(200), content(b""))),
    _answer("chunks_with_extensions", "9112 7.1.1", head(CHUNKED) + b'5;a=b;c="d"\r\nhello\r\n0;x\r\n\r\n', either(failed, _hello)),
    _answer("chunks_with_trailers", "9110 6.5", head(CHUNKED, "Trailer: X-T") + b"5\r\nhello\r\n0\r\nX-T: 1\r\n\r\n", _hello),
    _answer("chunk_leading_zeros", "9112 7.1", head(CHUNKED) + b"0000005\r\nhello\r\n0\r\n\r\n", either(failed, cut_short, _hello)),
    _answer("chunks_upper_case_coding", "9112 7", head("Transfer-Encoding: Chunked") + CHUNKS, either(failed, _hello)),
    _answer("chunks_to_http10", "9112 6.1", head(CHUNKED) + CHUNKS, both(_hello, lambda seen: not seen.final.all(b"transfer-encoding")), version="HTTP/1.0"),
    _answer("until_close", "9112 6.3", head() + b"hello", _hello, end="close"),
    _answer("until_close_http10", "9112 6.3", head("Content-Type: text/plain", version="HTTP/1.0") + b"hello", _hello, end="close"),
    _answer("length_http10", "9112 6.3", head("Content-Length: 5", version="HTTP/1.0") + b"hello", _hello, end="close"),
    _answer("http10_kept_alive", "9112 9.3", head("Content-Length: 5", "Connection: keep-alive", version="HTTP/1.0") + b"hello", _hello),
    _answer("gzip", "9110 8.4", head("Content-Encoding: gzip", f"Content-Length: {len(GZIP)}") + GZIP, both(content(GZIP), told(b"content-encoding", b"gzip"))),
    _answer("part", "9110 15.3.7", head("Content-Range: bytes 0-4/100", "Content-Length: 5", 'ETag: "a"', status="206 Partial Content") + b"hello",
            both(status(206), told(b"content-range", b"bytes 0-4/100"), content(b"hello"))),
    Case("answer_slowly", "9112 7.1", request(), _hello, Script((b"HTT", 0.02, b"P/1.1 200 OK\r", 0.02, b"\n" + CHUNKED.encode() + b"\r\n\r", 0.02, b"\n5", 0.02, b"\r\nhel", 0.02, b"lo\r", 0.02, b"\n0\r\n\r", 0.02, b"\n"))),
    Case("answer_length_slowly", "9112 6.3", request(), _hello, Script((head("Content-Length: 5"), 0.02, b"he", 0.02, b"llo"))),
    Case("answer_until_close_slowly", "9112 6.3", request(), _hello, Script((head(), 0.02, b"he", 0.02, b"llo"), "close")),
    Case("answer_large", "9110 8.6", request(), lambda seen: len(seen.final.body) == 300_000 and seen.final.complete, Script((head("Content-Length: 300000") + b"x" * 300_000,))),
    Case("answer_large_chunks", "9112 7.1", request(), lambda seen: len(seen.final.body) == 300_000 and seen.final.complete,
         Script((head(CHUNKED) + b"".join(b"2710\r\n" + b"x" * 10_000 + b"\r\n" for _ in range(30)) + b"0\r\n\r\n",))),
    # No content, whatever the fields say.
    _answer("no_content_with_length", "9110 8.6", head("Content-Length: 2", status="204 No Content") + b"ok", either(failed, both(status(204), _no_length, bare)), end="close"),
    _answer("no_content_with_chunks", "9112 6.1", head(CHUNKED, status="204 No Content") + CHUNKS, either(failed, both(status(204), _no_length, bare)), end="close"),
    _answer("no_content", "9110 15.3.5", head(status="204 No Content"), both(status(204), bare, _no_length)),
    _answer("no_content_length_zero", "9110 8.6", head("Content-Length: 0", status="204 No Content"), either(failed, both(status(204), bare, _no_length))),
    _answer("reset_content", "9110 15.3.6", head("Content-Length: 0", status="205 Reset Content"), both(status(205), bare)),
    _answer("reset_content_with_content", "9110 15.3.6", head("Content-Length: 2", status="205 Reset Content") + b"ok", either(failed, status(205))),
    _answer("not_modified", "9110 15.4.5", head('ETag: "x"', "Content-Length: 1234", "Vary: Accept", status="304 Not Modified"),
            both(status(304), told(b"etag", b'"x"'), bare, lambda seen: not seen.final.all(b"transfer-encoding"))),
    _answer("not_modified_with_content", "9110 15.4.5", head('ETag: "x"', "Content-Length: 3", status="304 Not Modified") + b"bad", either(failed, both(status(304), bare))),
    _answer("not_modified_with_chunks", "9110 15.4.5", head('ETag: "x"', CHUNKED, status="304 Not Modified") + CHUNKS, either(failed, both(status(304), bare))),
    _answer("not_modified_until_close", "9110 15.4.5", head('ETag: "x"', status="304 Not Modified") + b"bad", either(failed, both(status(304), bare)), end="close"),
    _answer("head_length", "9110 9.3.2", head("Content-Length: 12345"), both(status(200), told(b"content-length", b"12345"), bare), method="HEAD"),
    _answer("head_with_content", "9110 9.3.2", head("Content-Length: 5") + b"hello", either(failed, both(status(200), bare)), method="HEAD"),
    _answer("head_chunked", "9110 9.3.2", head(CHUNKED), both(status(200), bare), method="HEAD"),
    _answer("head_with_chunks", "9110 9.3.2", head(CHUNKED) + CHUNKS, either(failed, both(status(200), bare)), method="HEAD"),
    _answer("head_until_close", "9110 9.3.2", head("Content-Type: text/plain"), both(status(200), bare), method="HEAD", end="close"),
    _answer("head_error", "9110 9.3.2", head("Content-Length: 500", status="404 Not Found"), both(status(404), bare), method="HEAD"),
    # Cut short.
    _answer("chunks_cut", "9112 8", head(CHUNKED) + b"5\r\nhello\r\n", cut_short, end="close"),
    _answer("chunk_cut_inside", "9112 8", head(CHUNKED) + b"a\r\nhello", cut_short, end="close"),
    _answer("chunks_cut_before_the_last_line", "9112 8", head(CHUNKED) + b"5\r\nhello\r\n0\r\n", cut_short, end="close"),
    _answer("chunks_cut_in_trailers", "9112 8", head(CHUNKED) + b"5\r\nhello\r\n0\r\nX-T: 1", cut_short, end="close"),
    _answer("chunks_cut_to_http10", "9112 8", head(CHUNKED) + b"5\r\nhello\r\n", cut_short, end="close", version="HTTP/1.0"),
    _answer("chunks_cut_by_a_reset", "9112 8", head(CHUNKED) + b"5\r\nhello\r\n", cut_short, end="reset"),
    _answer("length_cut", "9112 8", head("Content-Length: 10") + b"hello", cut_short, end="close"),
    _answer("length_cut_by_a_reset", "9112 8", head("Content-Length: 100000") + b"h" * 50000, cut_short, end="reset"),
    _answer("length_and_nothing", "9112 8", head("Content-Length: 10"), cut_short, end="close"),
    _answer("until_close_cut_by_a_reset", "9112 8", head() + b"hello", cut_short, end="reset"),
    # More than announced.
    _answer("another_answer_behind", "9112 6.3", head("Content-Length: 5") + b"hello" + OTHER, _nothing_of_the_other),
    _answer("bytes_behind", "9112 6.3", head("Content-Length: 5") + b"hellobad", either(failed, _nothing_of_the_other)),
    _answer("another_answer_behind_chunks", "9112 6.3", head(CHUNKED) + CHUNKS + OTHER, _nothing_of_the_other),
    _answer("another_answer_behind_no_content", "9112 6.3", head(status="204 No Content") + OTHER, lambda seen: seen.statuses == [204] and b"bad" not in seen.answered),
    _answer("another_answer_behind_head", "9112 6.3", head("Content-Length: 5") + OTHER, _nothing_of_the_other, method="HEAD"),
    Case("another_answer_for_the_next", "9112 6.3", request(target="/1") + request(target="/2"), lambda seen: b"bad" not in seen.answered,
         Script((head("Content-Length: 5") + b"hello" + OTHER,)), answers=2),
    Case("late_bytes_for_the_next", "9112 6.3", (request(target="/1"), 0.3, 0.1, request(target="/2")), lambda seen: b"bad" not in seen.answered,
         Script((head("Content-Length: 5") + b"hello", 0.05, OTHER)), answers=2),
    # Contradictions.
    _answer("length_and_chunks", "9112 6.3", head("Content-Length: 3", CHUNKED) + CHUNKS, either(failed, both(_one_framing, _hello))),
    _answer("chunks_and_length", "9112 6.3", head(CHUNKED, "Content-Length: 3") + CHUNKS, either(failed, both(_one_framing, _hello))),
    _answer("lengths_differ", "9112 6.3", head("Content-Length: 3", "Content-Length: 5") + b"hello", failed),
    _answer("lengths_differ_in_a_list", "9112 6.3", head("Content-Length: 3, 5") + b"hello", failed),
    _answer("lengths_the_same", "9112 6.3", head("Content-Length: 5", "Content-Length: 5") + b"hello", either(failed, both(_hello, told(b"content-length", b"5")))),
    _answer("lengths_the_same_in_a_list", "9112 6.3", head("Content-Length: 5, 5") + b"hello", either(failed, both(_hello, told(b"content-length", b"5")))),
    _answer("length_letters", "9112 6.3", head("Content-Length: abc") + b"hello", failed, end="close"),
    _answer("length_negative", "9112 6.3", head("Content-Length: -1") + b"hello", failed, end="close"),
    _answer("length_plus", "9112 6.3", head("Content-Length: +5") + b"hello", failed, end="close"),
    _answer("length_empty", "9112 6.3", head("Content-Length:") + b"hello", either(failed, _hello), end="close"),
    _answer("length_huge", "9112 6.3", head("Content-Length: 99999999999999999999999") + b"hello", either(failed, cut_short), end="close"),
    _answer("coding_unknown", "9112 6.3", head("Transfer-Encoding: foo") + b"hello", either(failed, status(200)), end="close"),
    _answer("coding_chunked_not_last", "9112 6.3", head("Transfer-Encoding: chunked, foo") + CHUNKS, either(failed, status(200)), end="close"),
    _answer("coding_x_chunked", "9112 6.3", head("Transfer-Encoding: xchunked") + CHUNKS, either(failed, lambda seen: seen.final.body != b"hello"), end="close"),
    _answer("coding_identity", "9112 7", head("Transfer-Encoding: identity", "Content-Length: 5") + b"hello", either(failed, both(_one_framing, _hello))),
    _answer("coding_space_before_colon", "9112 5.1", head("Transfer-Encoding : chunked") + CHUNKS,
            either(failed, lambda seen: b"Encoding :" not in seen.answered), end="close"),
    _answer("chunks_http10", "9112 6.1", head(CHUNKED, version="HTTP/1.0") + CHUNKS, either(failed, _hello, content(CHUNKS)), end="close"),
    # Malformed chunks: the caller must not take them for a whole answer.
    *(_answer(f"chunk_{name}", "9112 7.1", head(CHUNKED) + data, either(failed, cut_short), end="close") for name, data in (
        ("size_letters", b"xyz\r\nhello\r\n0\r\n\r\n"), ("size_minus", b"-5\r\nhello\r\n0\r\n\r\n"), ("size_0x", b"0x5\r\nhello\r\n0\r\n\r\n"),
        ("size_17_digits", b"10000000000000005\r\nhello\r\n0\r\n\r\n"), ("data_too_long", b"5\r\nhelloXX\r\n0\r\n\r\n"), ("size_empty", b"\r\nhello\r\n0\r\n\r\n"),
    )),
    _answer("chunk_size_lf", "9112 7.1", head(CHUNKED) + b"5\nhello\n0\n\n", either(failed, cut_short, _hello), end="close"),
    _answer("chunk_extension_lf", "9112 7.1.1", head(CHUNKED) + b"5;a\nb\r\nhello\r\n0\r\n\r\n", either(failed, cut_short, _hello), end="close"),
)  # fmt: skip
