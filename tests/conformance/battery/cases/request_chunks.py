"""A request's chunks (RFC 9112 7.1): sizes, extensions, line ends and trailers, well-formed and not."""

from battery.case import Case, Seen, post, request
from battery.cases.request_framing import CHUNKED, CHUNKS, SMUGGLED
from battery.verdicts import (
    body,
    both,
    either,
    framed,
    heads_without,
    one,
    refused,
    refused_or_framed,
    status,
    unheard,
)


def chunked(data: bytes, *fields: str) -> bytes:
    """A POST with these chunks."""
    return post(CHUNKED, *fields, body=data)


def _no_word_of_trailers(seen: Seen) -> bool:
    asked = seen.request
    return one(seen) and b"evil" not in asked.all(b"host") and not asked.all(b"content-length")


CASES = (
    Case("chunks", "9112 7.1", chunked(CHUNKS), body(b"hello")),
    Case("chunks_none", "9112 7.1", chunked(b"0\r\n\r\n"), body(b"")),
    Case("chunks_slowly", "9112 7.1", (chunked(b""), 0.01, b"5", 0.01, b"\r", 0.01, b"\nhel", 0.01, b"lo\r", 0.01, b"\n0\r\n", 0.01, b"\r", 0.01, b"\n"), body(b"hello")),
    Case("chunk_upper_hex", "9112 7.1", chunked(b"A\r\n0123456789\r\n0\r\n\r\n"), body(b"0123456789")),
    Case("chunk_leading_zeros", "9112 7.1", chunked(b"0005\r\nhello\r\n000\r\n\r\n"), either(refused, body(b"hello"))),
    Case("chunk_extension", "9112 7.1.1", chunked(b'5;a=b;c="d"\r\nhello\r\n0\r\n\r\n'), both(body(b"hello"), status(200))),
    Case("chunk_extension_without_value", "9112 7.1.1", chunked(b"5;a\r\nhello\r\n0;b\r\n\r\n"), either(refused, body(b"hello"))),
    Case("chunk_extension_quoted_end", "9112 7.1.1", chunked(b'5;a="\r\nhello\r\n0\r\n\r\n'), refused_or_framed),
    Case("chunk_extension_empty", "9112 7.1.1", chunked(b"5;\r\nhello\r\n0\r\n\r\n"), refused_or_framed),
    Case("chunk_extension_lf", "9112 7.1.1", chunked(b"5;a\nb\r\nhello\r\n0\r\n\r\n"), refused),
    Case("chunk_extension_cr", "9112 7.1.1", chunked(b"5;a\rb\r\nhello\r\n0\r\n\r\n"), refused),
    Case("chunk_extension_nul", "9112 7.1.1", chunked(b"5;a=\x00\r\nhello\r\n0\r\n\r\n"), refused_or_framed),
    Case("chunk_extension_lf_ends_the_line", "9112 7.1.1", chunked(b"5;\nhello\r\n0\r\n\r\n"), refused),
    Case("chunk_extension_lf_hides_a_request", "9112 7.1.1", chunked(b"2;\nxx\r\n2d\r\n0\r\n\r\n" + SMUGGLED), either(refused, heads_without(b"/smuggled"))),
    Case("chunk_size_lf", "9112 7.1", chunked(b"5\nhello\r\n0\r\n\r\n"), refused),
    Case("chunk_size_cr", "9112 7.1", chunked(b"5\rhello\r\n0\r\n\r\n"), refused),
    Case("chunk_size_crcrlf", "9112 7.1", chunked(b"5\r\r\nhello\r\n0\r\n\r\n"), refused),
    Case("chunk_data_lf", "9112 7.1", chunked(b"5\r\nhello\n0\r\n\r\n"), refused),
    Case("chunk_data_no_line_end", "9112 7.1", chunked(b"5\r\nhello0\r\n\r\n"), refused),
    Case("chunk_last_lf", "9112 7.1", chunked(b"5\r\nhello\r\n0\n\r\n"), refused),
    Case("chunk_last_then_lf", "9112 7.1", chunked(b"5\r\nhello\r\n0\r\n\n"), refused_or_framed),
    Case("chunk_size_0x", "9112 7.1", chunked(b"0x5\r\nhello\r\n0\r\n\r\n"), refused),
    Case("chunk_size_plus", "9112 7.1", chunked(b"+5\r\nhello\r\n0\r\n\r\n"), refused),
    Case("chunk_size_minus", "9112 7.1", chunked(b"-5\r\nhello\r\n0\r\n\r\n"), refused),
    Case("chunk_size_minus_zero", "9112 7.1", chunked(b"5\r\nhello\r\n-0\r\n\r\n"), refused),
    Case("chunk_size_empty", "9112 7.1", chunked(b"\r\nhello\r\n0\r\n\r\n"), refused),
    Case("chunk_size_underscore", "9112 7.1", chunked(b"1_0\r\n0123456789abcdef\r\n0\r\n\r\n"), refused),
    Case("chunk_size_h", "9112 7.1", chunked(b"5h\r\nhello\r\n0\r\n\r\n"), refused),
    Case("chunk_size_point", "9112 7.1", chunked(b"5.0\r\nhello\r\n0\r\n\r\n"), refused),
    Case("chunk_size_8_bit", "9112 7.1", chunked(b"5\xff\r\nhello\r\n0\r\n\r\n"), refused),
    Case("chunk_size_nul", "9112 7.1", chunked(b"5\x00\r\nhello\r\n0\r\n\r\n"), refused),
    Case("chunk_size_space_behind", "9112 7.1", chunked(b"5 \r\nhello\r\n0\r\n\r\n"), refused_or_framed),
    Case("chunk_size_space_before", "9112 7.1", chunked(b" 5\r\nhello\r\n0\r\n\r\n"), refused_or_framed),
    Case("chunk_size_tab_behind", "9112 7.1", chunked(b"5\t\r\nhello\r\n0\r\n\r\n"), refused_or_framed),
    Case("chunk_size_comma", "9112 7.1", chunked(b"5,\r\nhello\r\n0\r\n\r\n"), refused),
    Case("chunk_size_17_digits", "9112 7.1", chunked(b"10000000000000005\r\nhello\r\n0\r\n\r\n"), refused),
    Case("chunk_size_largest", "9112 7.1", chunked(b"FFFFFFFFFFFFFFFF\r\nhello\r\n0\r\n\r\n"), refused),
    Case("chunk_size_wraps_32_bits", "9112 7.1", chunked(b"100000005\r\nhello\r\n0\r\n\r\n" + SMUGGLED), heads_without(b"/smuggled")),
    Case("chunk_size_many_zeros", "9112 7.1", chunked(b"0" * 60 + b"5\r\nhello\r\n0\r\n\r\n"), refused_or_framed),
    Case("chunk_data_too_long", "9112 7.1", chunked(b"5\r\nhelloXX\r\n0\r\n\r\n"), refused),
    Case("chunk_data_too_short", "9112 7.1", chunked(b"6\r\nhello\r\n0\r\n\r\n"), refused),
    Case("chunks_never_end", "9112 7.1", chunked(b"5\r\nhello\r\n"), lambda seen: not any(asked.whole for asked in seen.requests)),
    Case("chunks_then_a_request", "9112 7.1", chunked(CHUNKS) + request(target="/second"),
         lambda seen: [asked.target for asked in seen.requests] == [b"/", b"/second"] and seen.statuses == [200, 200], answers=2),
    Case("chunks_of_one_byte", "9112 7.1", chunked(b"".join(b"1\r\n%c\r\n" % byte for byte in b"x" * 500) + b"0\r\n\r\n"), body(b"x" * 500)),
    Case("trailer_framing", "9110 6.5.1", chunked(b"5\r\nhello\r\n0\r\nX-T: 1\r\nContent-Length: 99\r\nHost: evil\r\n\r\n", "Trailer: X-T"),
         either(unheard, refused, _no_word_of_trailers)),
    Case("trailer_passes_or_goes", "9110 6.5", chunked(b"5\r\nhello\r\n0\r\nX-T: 1\r\n\r\n", "Trailer: X-T"), either(refused, body(b"hello"))),
    Case("trailer_coding", "9110 6.5.1", chunked(b"5\r\nhello\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n"),
         either(refused, lambda seen: framed(seen) and b"ransfer" not in seen.request.trailers)),
    Case("trailer_forwarded", "9110 6.5.1", chunked(b"5\r\nhello\r\n0\r\nX-Forwarded-For: 6.6.6.6\r\n\r\n"),
         either(refused, lambda seen: framed(seen) and b"6.6.6.6" not in seen.request.trailers)),
    Case("trailer_bare_cr", "9110 5.5", chunked(b"5\r\nhello\r\n0\r\nX-T: a\rX-U: b\r\n\r\n"),
         either(refused, lambda seen: framed(seen) and b"\rX-U" not in seen.request.trailers)),
    Case("trailer_space_before_colon", "9112 5.1", chunked(b"5\r\nhello\r\n0\r\nX-T : a\r\n\r\n"),
         either(refused, lambda seen: framed(seen) and b"X-T :" not in seen.request.trailers)),
    Case("trailer_no_colon", "9112 5.1", chunked(b"5\r\nhello\r\n0\r\nGET / HTTP/1.1\r\n\r\n"),
         either(refused, lambda seen: framed(seen) and b"GET" not in seen.request.trailers)),
    Case("trailer_lf_ends", "9112 2.2", chunked(b"5\r\nhello\r\n0\r\nX-T: a\n\r\n"), refused_or_framed),
)  # fmt: skip
