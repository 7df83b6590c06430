"""The request line (RFC 9112 3): targets byte for byte, methods, versions."""

from battery.case import Case, Seen, Verdict, request
from battery.verdicts import body, both, either, method, one, refused, status, target, unheard

RAW = b"/a%2Fb/%41%7e/%2e%2E/c?q=%21+%2B%20&x=a;b&u=%e9%C3%A9"


def _line(label: str, line: bytes, right: Verdict) -> Case:
    return Case(label, "9112 3", line + b"\r\nHost: t.example\r\n\r\n", right)


def _no_old_answer(seen: Seen) -> bool:
    """HTTP/0.9 is answered by nothing, or by an error with a head."""
    return not seen.answers or refused(seen)


def _as_11(seen: Seen) -> bool:
    return one(seen) and seen.request.first.endswith(b" HTTP/1.1")


CASES = (
    *(Case(name, "3986", request(target=raw), target(raw)) for name, raw in (
        ("raw_path", RAW), ("dot_segments", b"/a/./b/../c"), ("double_slash", b"//evil.example/x"), ("triple_slash", b"///x"),
        ("bad_percent", b"/x%zz?y=%"), ("bare_question_mark", b"/x?"), ("two_question_marks", b"/x??a?b"), ("semicolons", b"/x;a=1;b/y;c"),
        ("colon_in_path", b"/a:b"), ("at_in_path", b"/@a"), ("plus_and_space_coded", b"/a+b%20c"), ("nul_coded", b"/a%00b"),
        ("crlf_coded", b"/a%0d%0aX-A:%20b"), ("mixed_case_escapes", b"/%c3%A9%C3%a9"), ("asterisk_path", b"/*"), ("empty_segments", b"/a//b///c/"),
        ("url_in_a_query", b"/x?u=http://t.example/y"), ("unreserved_coded", b"/%7Euser/%2D"), ("dot_dot_coded", b"/%2e%2e/%2e%2e/etc"),
        ("backslash_coded", b"/a%5Cb"),
    )),
    Case("odd_signs", "3986", request(target='/x?a=|{}^`"<>\\'), either(refused, target(b'/x?a=|{}^`"<>\\'))),
    Case("backslash", "3986", request(target="/a\\b"), either(refused, target(b"/a\\b"))),
    Case("8_bit_target", "3986", request(target=b"/caf\xe9?q=\xff"), either(refused, target(b"/caf\xe9?q=\xff"), target(b"/caf%E9?q=%FF"))),
    Case("utf8_target", "3986", request(target="/日本".encode()), either(refused, target("/日本".encode()), target(b"/%E6%97%A5%E6%9C%AC"))),
    Case("fragment", "9112 3.2", request(target="/x#frag"), either(refused, target(b"/x"))),
    Case("fragment_8_bit", "9112 3.2", request(target=b"/x#\xe9"), either(refused, target(b"/x"))),
    Case("space_in_target", "9112 3.2", request(target="/x y"), refused),
    Case("tab_in_target", "9112 3", request(target="/x\ty"), refused),
    Case("nul_in_target", "9112 3", request(target=b"/x\x00y"), refused),
    Case("del_in_target", "9112 3", request(target=b"/x\x7fy"), either(refused, target(b"/x\x7fy"), target(b"/x%7Fy"))),
    Case("control_in_target", "9112 3", request(target=b"/x\x01y"), refused),
    Case("bare_cr_in_target", "9112 3", request(target=b"/x\ry"), refused),
    Case("relative_target", "9112 3.2", request(target="x/y"), refused, alone=True),
    Case("empty_target", "9112 3.2", request(target=""), refused, alone=True),
    Case("query_as_target", "9112 3.2", request(target="?q=1"), refused, alone=True),
    Case("authority_as_target", "9112 3.2.3", request(target="t.example:80"), refused, alone=True),
    Case("options", "9110 9.3.7", request("OPTIONS"), method(b"OPTIONS")),
    Case("options_star", "9112 3.2.4", request("OPTIONS", "*"), either(target(b"*"), lambda seen: seen.status != 0 and not seen.asked), alone=True),
    Case("get_star", "9112 3.2.4", request("GET", "*"), refused, alone=True),
    Case("post_star", "9112 3.2.4", request("POST", "*", ("Content-Length: 0",)), refused, alone=True),
    Case("options_star_and_more", "9112 3.2.4", request("OPTIONS", "*x"), refused, alone=True),
    Case("connect", "9110 9.3.6", request("CONNECT", "t.example:443"), both(status(400, 403, 404, 405, 501), lambda seen: not seen.asked), alone=True),
    Case("connect_path", "9110 9.3.6", request("CONNECT", "/"), both(status(400, 403, 404, 405, 501), lambda seen: not seen.asked), alone=True),
    Case("connect_with_a_body", "9110 9.3.6", request("CONNECT", "t.example:443", ("Content-Length: 5",), b"hello"), unheard, alone=True),
    Case("trace", "9110 9.3.8", request("TRACE", "/", ("Cookie: secret=1",)),
         either(both(status(405, 501, 403, 400), lambda seen: not seen.asked), lambda seen: b"secret=1" not in seen.final.body)),
    Case("trace_with_a_body", "9110 9.3.8", request("TRACE", "/", ("Content-Length: 5",), b"hello"), either(refused, lambda seen: b"hello" not in seen.final.body)),
    Case("method_lower_case", "9110 9.1", request("get"), either(refused, method(b"get"))),
    Case("method_mixed_case", "9110 9.1", request("Get"), either(refused, method(b"Get"))),
    Case("method_unknown", "9110 9.1", request("ABC"), either(method(b"ABC"), status(501))),
    Case("method_query", "http-query", request("QUERY", "/", ("Content-Length: 2",), b"{}"), both(body(b"{}"), method(b"QUERY"))),
    Case("method_purge", "9110 9.1", request("PURGE"), either(method(b"PURGE"), status(405, 501))),
    *(Case(f"method_{word.lower()}", "9110 9.1", request(word), either(method(word.encode()), status(405, 501)))
      for word in ("PATCH", "PUT", "DELETE", "PROPFIND", "REPORT", "MKCOL", "LINK", "SEARCH", "M-SEARCH")),
    Case("method_8_bit", "9110 9.1", request("G\xc9T"), refused),
    Case("method_with_a_sign", "9110 9.1", request("G@T"), refused),
    Case("method_with_a_nul", "9110 9.1", request("G\0T"), refused),
    Case("method_quoted", "9110 9.1", request('"GET"'), refused),
    Case("method_very_long", "9110 9.1", request("A" * 5000), either(refused, method(b"A" * 5000))),
    Case("method_pri", "9113 3.4", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", refused, alone=True),
    _line("line_two_spaces", b"GET  / HTTP/1.1", either(refused, both(one, target(b"/")))),
    _line("line_two_spaces_before_version", b"GET /  HTTP/1.1", either(refused, both(one, target(b"/")))),
    _line("line_tabs", b"GET\t/\tHTTP/1.1", either(refused, both(one, target(b"/")))),
    _line("line_space_behind", b"GET / HTTP/1.1 ", either(refused, _as_11)),
    _line("line_space_before", b" GET / HTTP/1.1", either(refused, _as_11)),
    _line("line_vertical_tab", b"GET /\x0bHTTP/1.1", refused),
    _line("line_word_behind", b"GET / HTTP/1.1 x", refused),
    _line("version_missing", b"GET /", _no_old_answer),
    Case("http09", "9112", b"GET /\r\n\r\n", _no_old_answer, alone=True),
    Case("http09_bare_lf", "9112", b"GET /\n", _no_old_answer, alone=True, seconds=0.4),
    _line("version_10", b"GET / HTTP/1.0", either(status(200), refused)),
    _line("version_12", b"GET / HTTP/1.2", status(200, 505, 400)),
    _line("version_20", b"GET / HTTP/2.0", either(status(505, 400), both(status(200), _as_11))),
    _line("version_2", b"GET / HTTP/2", either(status(505, 400), both(status(200), _as_11))),
    _line("version_09", b"GET / HTTP/0.9", either(refused, _as_11)),
    _line("version_1_10", b"GET / HTTP/1.10", refused),
    _line("version_01_1", b"GET / HTTP/01.1", refused),
    _line("version_letters", b"GET / HTTP/a.b", refused),
    _line("version_lower_case", b"GET / http/1.1", refused),
    _line("version_https", b"GET / HTTPS/1.1", refused),
    _line("version_other", b"GET / RTSP/1.0", refused),
    _line("version_comma", b"GET / HTTP/1,1", refused),
    Case("tls_hello", "9112 3", b"\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03" + bytes(range(0x40, 0x80)), unheard, alone=True, seconds=0.4),
    Case("proxy_protocol_1", "PROXY", b"PROXY TCP4 6.6.6.6 127.0.0.1 5 80\r\n" + request(), either(refused, lambda seen: b"6.6.6.6" not in seen.request.head)),
)  # fmt: skip
