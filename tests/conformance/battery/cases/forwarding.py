"""What a hop keeps for itself (RFC 9110 7.6), what it says of the caller (RFC 7239), what it asks (Expect)."""

from battery.case import Case, Seen, post, request
from battery.site import OK, Script
from battery.verdicts import asked, body, both, content, either, not_asked, note, one, refused, status

NO_100 = Script(continues=False)
FINAL_417 = Script(
    (b"HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n",), at_once=True, end="close"
)
EARLY_401 = Script(
    (
        b'HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm="a"\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno',
    ),
    at_once=True,
    end="close",
)


def _sent_once(seen: Seen) -> bool:
    return seen.statuses.count(200) == 1 and one(seen) and seen.request.body == b"hello"


CASES = (
    Case("connection_named", "9110 7.6.1", request(fields=("Connection: close, X-Hop", "X-Hop: 1", "X-Keep: 1")), both(not_asked(b"x-hop"), asked(b"x-keep", b"1"))),
    Case("connection_named_other_case", "9110 7.6.1", request(fields=("Connection: x-HOP", "X-Hop: 1")), not_asked(b"x-hop")),
    Case("connection_named_two_lines", "9110 7.6.1", request(fields=("Connection: X-A", "Connection: X-B", "X-A: 1", "X-B: 1")), not_asked(b"x-a", b"x-b")),
    Case("connection_named_before", "9110 7.6.1", request(fields=("X-Hop: 1", "Connection: X-Hop")), not_asked(b"x-hop")),
    Case("connection_names_host", "9110 7.6.1", request(fields=("Connection: Host",)), either(refused, lambda seen: len(seen.request.all(b"host")) == 1)),
    Case("connection_names_length", "9110 7.6.1", post("Connection: Content-Length", "Content-Length: 5", body=b"hello"), either(refused, body(b"hello"))),
    Case("connection_names_coding", "9110 7.6.1", post("Connection: Transfer-Encoding", "Transfer-Encoding: chunked", body=b"5\r\nhello\r\n0\r\n\r\n"),
         either(refused, body(b"hello"))),
    Case("connection_names_protected", "9110 7.6.1", request(fields=("Connection: Host, Authorization, X-Forwarded-For", "Authorization: Bearer x")),
         note(lambda seen: [line.decode("latin-1") for line in seen.request.lines])),
    Case("connection_names_cookie", "9110 7.6.1", request(fields=("Connection: Cookie", "Cookie: a=1")), note(lambda seen: seen.request.all(b"cookie"))),
    Case("connection_odd", "9110 7.6.1", request(fields=("Connection: , ,,\t, close",)), either(refused, one)),
    Case("connection_8_bit", "9110 7.6.1", request(fields=(b"Connection: \xff",)), either(refused, one)),
    Case("keep_alive_field", "9110 7.6.1", request(fields=("Keep-Alive: timeout=5", "Proxy-Connection: keep-alive", "TE: gzip", "Trailer: X")),
         not_asked(b"keep-alive", b"proxy-connection")),
    Case("proxy_connection_close", "9112 C.2.2", request(fields=("Proxy-Connection: close",)), not_asked(b"proxy-connection")),
    Case("te_trailers", "9110 10.1.4", request(fields=("TE: trailers", "Connection: TE")), note(lambda seen: seen.request.all(b"te"))),
    Case("te_gzip", "9110 10.1.4", request(fields=("TE: gzip", "Connection: TE")), either(not_asked(b"te"), lambda seen: one(seen) and b"gzip" not in seen.request.all(b"te"))),
    Case("proxy_authorization", "9110 11.7.2", request(fields=("Proxy-Authorization: Basic YTpi",)), note(lambda seen: seen.request.all(b"proxy-authorization"))),
    Case("h2c", "9113 3.1", request(fields=("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__")),
         not_asked(b"upgrade", b"http2-settings")),
    Case("h2c_without_connection", "9113 3.1", request(fields=("Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__")), not_asked(b"upgrade")),
    Case("h2c_beside_another", "9113 3.1", request(fields=("Connection: Upgrade", "Upgrade: foo, h2c")),
         lambda seen: one(seen) and not any(b"h2c" in value for value in seen.request.all(b"upgrade"))),
    Case("h2c_upper_case", "9113 3.1", request(fields=("Connection: Upgrade", "Upgrade: H2C")), not_asked(b"upgrade")),
    Case("max_forwards_0_options", "9110 7.6.2", request("OPTIONS", "/", ("Max-Forwards: 0",)), lambda seen: not seen.asked and seen.status != 0),
    Case("max_forwards_5_options", "9110 7.6.2", request("OPTIONS", "/", ("Max-Forwards: 5",)), either(asked(b"max-forwards", b"4"), lambda seen: not seen.asked and seen.status != 0)),
    Case("max_forwards_0_get", "9110 7.6.2", request("GET", "/", ("Max-Forwards: 0",)), both(one, status(200))),
    Case("max_forwards_malformed", "9110 7.6.2", request("OPTIONS", "/", ("Max-Forwards: x",)), lambda seen: seen.status != 0),
    Case("forwarded_from_outside", "7239", request(fields=("X-Forwarded-For: 6.6.6.6", "Forwarded: for=6.6.6.6")),
         note(lambda seen: (seen.request.all(b"x-forwarded-for"), seen.request.all(b"forwarded"), seen.request.all(b"via")))),
    Case("cdn_loop_of_others", "8586", request(fields=("CDN-Loop: other; a=b, another",)), lambda seen: one(seen) and b"other" in b",".join(seen.request.all(b"cdn-loop"))),
    Case("via_of_others", "9110 7.6.3", request(fields=("Via: 1.0 fred",)), lambda seen: one(seen) and b"1.0 fred" in b",".join(seen.request.all(b"via"))),
    Case("upgrade_without_connection", "9110 7.8", request(fields=("Upgrade: websocket",)), not_asked(b"upgrade")),
    Case("expect_100", "9110 10.1.1", (post("Expect: 100-continue", "Content-Length: 5", body=b""), 0.6, b"hello"), _sent_once),
    Case("expect_100_sends_at_once", "9110 10.1.1", post("Expect: 100-continue", "Content-Length: 5", body=b"hello"), _sent_once),
    Case("expect_100_chunked", "9110 10.1.1", (post("Expect: 100-continue", "Transfer-Encoding: chunked", body=b""), 0.6, b"5\r\nhello\r\n0\r\n\r\n"), _sent_once),
    Case("expect_100_upper_case", "9110 10.1.1", (post("Expect: 100-Continue", "Content-Length: 5", body=b""), 0.6, b"hello"), _sent_once),
    Case("expect_100_without_a_body", "9110 10.1.1", request(fields=("Expect: 100-continue",)), either(refused, both(one, status(200)))),
    Case("expect_100_http10", "9110 10.1.1", post("Expect: 100-continue", "Content-Length: 5", body=b"hello", version="HTTP/1.0"),
         lambda seen: 100 not in seen.statuses and seen.status == 200),
    Case("expect_100_refused_by_the_site", "9110 10.1.1", (post("Expect: 100-continue", "Content-Length: 5", body=b""), 0.6),
         lambda seen: seen.statuses in ([401], [100, 401]) and content(b"no")(seen), site=EARLY_401),
    Case("expect_100_failed_by_the_site", "9110 10.1.1", (post("Expect: 100-continue", "Content-Length: 5", body=b""), 0.6),
         lambda seen: seen.statuses in ([417], [100, 417]), site=FINAL_417),
    Case("expect_100_never_said", "9110 10.1.1", (post("Expect: 100-continue", "Content-Length: 5", body=b""), 0.2, b"hello"), lambda seen: seen.statuses.count(200) == 1 and len(seen.requests) == 1, site=NO_100),
    Case("expect_100_then_no_more", "9110 10.1.1", (post("Expect: 100-continue", "Content-Length: 5", body=b""), 0.6),
         lambda seen: not any(asked.whole for asked in seen.requests), seconds=0.2, site=Script((OK,), end="close")),
    Case("expect_other", "9110 10.1.1", post("Expect: foo", "Content-Length: 5", body=b"hello"), status(417, 200, 400)),
    Case("expect_100_hides_a_request", "9110 10.1.1", (post("Expect: x 100-continue", "Content-Length: 0", body=b""), 0.2), either(status(417, 400, 200), refused)),
)  # fmt: skip
