"""A request's fields (RFC 9110 5, RFC 9112 5): which lines pass as they came, which are no fields at all."""

import re

from battery.case import Case, request
from battery.verdicts import asked, both, either, heads_without, note, one, refused, status, unheard

KANJI = "日本".encode()


def _control(byte: int) -> Case:
    """Invalid, and yet a recipient may keep it (RFC 9110 5.5); only CR, LF and NUL may not."""
    return Case(
        f"control_{byte:02x}_in_a_value",
        "9110 5.5",
        request(fields=(b"X-A: a%cb" % byte,)),
        either(unheard, one),
    )


def _name(label: str, line: bytes, piece: bytes) -> Case:
    """A line whose name is no token: refused, or gone."""
    return Case(
        f"name_{label}", "9110 5.1", request(fields=(line,)), either(unheard, both(one, heads_without(piece)))
    )


CASES = (
    Case("nul_in_a_value", "9110 5.5", request(fields=(b"X-A: a\x00b",)), either(unheard, both(one, heads_without(b"\x00")))),
    *(_control(byte) for byte in (0x01, 0x07, 0x08, 0x0B, 0x0C, 0x1B, 0x1F, 0x7F)),
    Case("tab_in_a_value", "9110 5.5", request(fields=("X-A: a\tb",)), either(refused, one)),
    Case("bare_cr_in_a_value", "9110 5.5", request(fields=(b"X-A: a\rb",)), either(unheard, both(one, heads_without(b"\r")))),
    Case("bare_cr_ends_a_value", "9110 5.5", request(fields=(b"X-A: a\r",)), either(unheard, both(one, heads_without(b"\r")))),
    Case("cr_cr_lf", "9112 2.2", b"GET / HTTP/1.1\r\r\nHost: t.example\r\n\r\n", either(refused, both(one, heads_without(b"\r")))),
    Case("cr_cr_lf_ends_the_head", "9112 2.2", b"GET / HTTP/1.1\r\nHost: t.example\r\n\r\r\n\r\n", either(refused, both(one, heads_without(b"\r")))),
    Case("bare_lf_between_lines", "9112 2.2", b"GET / HTTP/1.1\nHost: t.example\n\n", either(refused, both(one, heads_without(b"\n")))),
    Case("bare_lf_in_one_line", "9112 2.2", request(fields=(b"X-A: a\nX-B: b",)), either(refused, both(one, heads_without(b"\n")))),
    _name("with_a_space", b"Foo bar: x", b"Foo bar"),
    _name("with_a_space_before_colon", b"Foo : x", b"Foo :"),
    _name("with_a_tab_before_colon", b"Foo\t: x", b"Foo\t:"),
    _name("empty", b": x", b"\0:"),
    _name("without_colon", b"Foo", b"Foo"),
    _name("quoted", b'"Foo": x', b'"Foo"'),
    _name("with_parentheses", b"Fo(o): x", b"Fo(o)"),
    _name("with_a_slash", b"Fo/o: x", b"Fo/o"),
    _name("with_an_at", b"Fo@o: x", b"Fo@o"),
    _name("with_brackets", b"Fo[o]: x", b"Fo[o]"),
    _name("with_a_nul", b"Fo\x00o: x", b"\x00"),
    _name("with_a_control", b"Fo\x01o: x", b"\x01"),
    _name("with_del", b"Fo\x7fo: x", b"\x7f"),
    _name("8_bit", b"Fo\xe9: x", b"\xe9"),
    Case("name_token_signs", "9110 5.6.2", request(fields=("X!#$%&'*+-.^_`|~: x",)), either(refused, asked(b"x!#$%&'*+-.^_`|~", b"x"), one)),
    Case("leading_white_space", "9112 2.2", b"GET / HTTP/1.1\r\n Host: t.example\r\nHost: t.example\r\n\r\n", either(unheard, one)),
    Case("leading_white_space_hides_a_field", "9112 2.2", b"GET / HTTP/1.1\r\n X-A: a\r\nHost: t.example\r\n\r\n",
         either(unheard, both(one, heads_without(b"X-A")))),
    Case("folded", "9112 5.2", request(fields=("X-A: a\r\n b",)), either(unheard, both(one, heads_without(b"\0 b")))),
    Case("folded_with_a_tab", "9112 5.2", request(fields=("X-A: a\r\n\tb",)), either(unheard, both(one, heads_without(b"\0\tb")))),
    Case("folded_host", "9112 5.2", request(host=b"Host:\r\n t.example\r\n"), either(unheard, both(one, asked(b"host", b"t.example"))), alone=True),
    Case("latin1_value", "9110 5.5", request(fields=(b"X-A: caf\xe9",)), asked(b"x-a", b"caf\xe9")),
    Case("utf8_value", "9110 5.5", request(fields=(b"X-A: " + KANJI,)), asked(b"x-a", KANJI)),
    Case("all_8_bit_values", "9110 5.5", request(fields=(b"X-A: " + bytes(range(0x80, 0x100)),)), asked(b"x-a", bytes(range(0x80, 0x100)))),
    Case("empty_value", "9110 5.5", request(fields=("X-A:",)), asked(b"x-a", b"")),
    Case("value_white_space_around", "9110 5.5", request(fields=("X-A: \t a b \t",)), asked(b"x-a", b"a b")),
    Case("value_with_colons", "9110 5.5", request(fields=("X-A: b: c: d",)), asked(b"x-a", b"b: c: d")),
    Case("lines_of_one_name", "9110 5.3", request(fields=("X-A: 1", "X-B: 2", "X-A: 3")),
         lambda seen: b",".join(seen.request.all(b"x-a")).replace(b" ", b"") == b"1,3"),
    Case("cookie_lines", "6265", request(fields=("Cookie: a=1", 'Cookie: b="2 3"; c=é')),
         lambda seen: b"; ".join(seen.request.all(b"cookie")).count(b"=") == 3 and b"c=\xe9" in seen.request.head),
    Case("range_kept", "9110 14.2", request(fields=("Range: bytes=0-1,5-", 'If-Range: "x"', 'If-None-Match: W/"a", "b"')), asked(b"range", b"bytes=0-1,5-")),
    Case("conditions_kept", "9110 13.1", request(fields=('If-None-Match: W/"a", "b"', "If-Modified-Since: Thu, 01 Jan 2026 00:00:00 GMT")),
         asked(b"if-none-match", b'W/"a", "b"')),
    Case("accept_kept", "9110 12.5", request(fields=("Accept: text/html;q=0.5, */*;q=0.1", "Accept-Encoding: gzip, br;q=0.5", "Accept-Language: de")),
         both(asked(b"accept", b"text/html;q=0.5, */*;q=0.1"), asked(b"accept-encoding", b"gzip, br;q=0.5"))),
    Case("authorization_kept", "9110 11.6.2", request(fields=("Authorization: Basic YTpi",)), asked(b"authorization", b"Basic YTpi")),
    Case("unknown_fields_kept", "9110 5.1", request(fields=("X-New: 1", "Sec-Foo: ?1", "Priority: u=1")), both(asked(b"x-new", b"1"), asked(b"priority", b"u=1"))),
    Case("underscore_in_a_name", "CGI", request(fields=("X_Under: 1",)), note(lambda seen: seen.request.all(b"x_under"))),
    Case("case_of_a_name", "-", request(fields=("x-CaSe: 1",)), note(lambda seen: re.search(rb"(?i)x-case", seen.request.head))),
    Case("nothing_invented", "9110 3.7", request("POST", "/", ("Content-Length: 5",), b"hello"),
         both(one, lambda seen: not any(seen.request.all(name) for name in (b"user-agent", b"accept", b"accept-encoding", b"content-type")))),
    Case("date_in_a_request", "9110 6.6.1", request(fields=("Date: Thu, 01 Jan 2026 00:00:00 GMT",)), status(200)),
    Case("empty_lines_first", "9112 2.2", b"\r\n\r\n" + request(), either(refused, both(one, status(200)))),
    Case("bare_lf_first", "9112 2.2", b"\n" + request(), either(refused, both(one, status(200)))),
)  # fmt: skip
