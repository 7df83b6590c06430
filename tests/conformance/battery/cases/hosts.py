"""Host (RFC 9110 7.2, RFC 9112 3.2): one, valid, and the authority of an absolute target before it."""

from battery.case import Case, Seen, Verdict, request
from battery.verdicts import asked, both, either, one, refused, status, target


def _host(label: str, line: bytes, right: Verdict = refused) -> Case:
    return Case(f"host_{label}", "9112 3.2", request(host=line), right, alone=True)


def _from_authority(path: bytes, host: bytes) -> Verdict:
    def is_right(seen: Seen) -> bool:
        whole = seen.request.target.startswith(b"http://")
        return one(seen) and (whole or (seen.request.target == path and seen.request.all(b"host") == [host]))

    return is_right


CASES = (
    _host("none", b""),
    _host("none_http10", b"", refused)._replace(send=request(host=b"", version="HTTP/1.0"), right=either(refused, status(200))),
    _host("empty", b"Host:\r\n", either(refused, one)),
    _host("two", b"Host: t.example\r\nHost: evil.example\r\n"),
    _host("two_the_same", b"Host: t.example\r\nHost: t.example\r\n"),
    _host("two_apart", b"Host: t.example\r\nX-A: a\r\nhost: evil.example\r\n"),
    _host("second_with_space_before_colon", b"Host: t.example\r\nHost : evil.example\r\n"),
    _host("second_folded", b"Host: t.example\r\n\thost: evil.example\r\n",
          either(refused, lambda seen: one(seen) and len(seen.request.all(b"host")) == 1 and b"\0\t" not in seen.request.head.replace(b"\r\n", b"\0"))),
    _host("list", b"Host: t.example, evil.example\r\n"),
    _host("with_a_space", b"Host: a b\r\n"),
    _host("with_a_tab", b"Host: a\tb\r\n"),
    _host("with_a_slash", b"Host: a/b\r\n"),
    _host("with_a_query", b"Host: a?b\r\n"),
    _host("with_a_fragment", b"Host: a#b\r\n"),
    _host("with_userinfo", b"Host: user@t.example\r\n"),
    _host("with_a_backslash", b"Host: a\\b\r\n"),
    _host("with_a_scheme", b"Host: http://t.example\r\n"),
    _host("with_quotes", b'Host: a"b\r\n'),
    _host("with_angles", b"Host: <a>\r\n"),
    _host("with_a_nul", b"Host: a\x00b\r\n"),
    _host("with_8_bit", b"Host: t\xe9.example\r\n", either(refused, one)),
    _host("port", b"Host: t.example:8080\r\n", both(one, asked(b"host", b"t.example:8080"))),
    _host("port_empty", b"Host: t.example:\r\n", either(refused, one)),
    _host("port_letters", b"Host: t.example:abc\r\n"),
    _host("port_negative", b"Host: t.example:-1\r\n"),
    _host("port_too_high", b"Host: t.example:99999\r\n", either(refused, one)),
    _host("two_ports", b"Host: t.example:80:80\r\n"),
    _host("port_alone", b"Host: :80\r\n"),
    _host("ipv6", b"Host: [::1]:8080\r\n", both(one, asked(b"host", b"[::1]:8080"))),
    _host("ipv6_open", b"Host: [::1\r\n"),
    _host("ipv6_bare", b"Host: ::1\r\n", either(refused, one)),
    _host("ipv6_with_a_tail", b"Host: [::1]x\r\n"),
    _host("underscore", b"Host: a_b.example\r\n", either(refused, one)),
    _host("dot_behind", b"Host: t.example.\r\n", either(refused, one)),
    _host("upper_case", b"Host: T.EXAMPLE\r\n", both(one, lambda seen: seen.request.all(b"host")[0].lower() == b"t.example")),
    _host("kept", b"Host: t.example\r\n", asked(b"host", b"t.example")),
    Case("absolute_target", "9112 3.2.2", request(target="http://abs.example/p?q=1"), _from_authority(b"/p?q=1", b"abs.example"), alone=True),
    Case("absolute_target_same_host", "9112 3.2.2", request(target="http://t.example/p"), _from_authority(b"/p", b"t.example"), alone=True),
    Case("absolute_target_no_path", "9112 3.2.2", request(target="http://abs.example"), _from_authority(b"/", b"abs.example"), alone=True),
    Case("absolute_target_query_alone", "9112 3.2.2", request(target="http://abs.example?q=1"),
         either(refused, _from_authority(b"/?q=1", b"abs.example")), alone=True),
    Case("absolute_target_upper_scheme", "9110 4.2.3", request(target="HTTP://abs.example/p"),
         either(refused, lambda seen: one(seen) and (seen.request.target == b"/p" or seen.request.target[:4] == b"HTTP")), alone=True),
    Case("absolute_target_port", "9112 3.2.2", request(target="http://abs.example:81/p"), _from_authority(b"/p", b"abs.example:81"), alone=True),
    Case("absolute_target_userinfo", "9110 4.2.4", request(target="http://user@abs.example/p"),
         either(refused, lambda seen: one(seen) and not any(b"@" in host for host in seen.request.all(b"host"))), alone=True),
    Case("absolute_target_other_scheme", "9112 3.2.2", request(target="ftp://abs.example/p"), either(refused, target(b"ftp://abs.example/p")), alone=True),
    Case("absolute_target_empty_host", "9110 4.2.1", request(target="http:///p"), refused, alone=True),
    Case("absolute_target_bad_host", "9112 3.2", request(target="http://a b/p"), refused, alone=True),
    Case("absolute_target_without_host", "9112 3.2", request(target="http://abs.example/p", host=b""),
         either(refused, _from_authority(b"/p", b"abs.example")), alone=True),
    Case("absolute_target_and_two_hosts", "9112 3.2", request(target="http://t.example/p", fields=("Host: evil.example",)), refused, alone=True),
    Case("absolute_target_and_bad_host", "9112 3.2", request(target="http://t.example/p", host=b"Host: a b\r\n"),
         either(refused, lambda seen: one(seen) and b"a b" not in seen.request.all(b"host")), alone=True),
    Case("absolute_target_http10", "9112 3.2.2", request(target="http://abs.example/p", version="HTTP/1.0", host=b""),
         either(refused, _from_authority(b"/p", b"abs.example")), alone=True),
    Case("absolute_target_options_star", "9112 3.2.4", request("OPTIONS", "http://abs.example"),
         either(refused, lambda seen: one(seen) and seen.request.target in (b"*", b"/", b"http://abs.example", b"http://abs.example/")), alone=True),
)  # fmt: skip
