"""An answer's status line and fields (RFC 9112 4, RFC 9110 5): passed as they came, or refused as a whole."""

from battery.case import Case, Seen, Verdict, head, request
from battery.site import Script
from battery.verdicts import both, either, failed, out_without, status, told

KANJI = "日本".encode()
DATE = b"Thu, 01 Jan 2026 00:00:00 GMT"


def _answer(name: str, rule: str, played: bytes, right: Verdict, end: str = "keep") -> Case:
    return Case(f"answer_{name}", rule, request(), right, Script((played,), end), seconds=2.0)  # type: ignore[arg-type]


def _with(name: str, rule: str, line: str | bytes, right: Verdict) -> Case:
    return _answer(name, rule, head(line, "Content-Length: 2") + b"ok", right)


def _status(word: str, right: Verdict) -> Case:
    return _answer(
        f"status_{word.split()[0]}", "9110 15", head("Content-Length: 2", status=word) + b"ok", right
    )


def _cookies(seen: Seen) -> bool:
    return [value[:3] for value in seen.final.all(b"set-cookie")] == [b"a=1", b"b=2", b"c=3"]


CASES = (
    _answer("set_cookie_lines", "6265", head("Set-Cookie: a=1; Path=/; Expires=Wed, 01 Jan 2031 00:00:00 GMT", "Content-Length: 2", "Set-Cookie: b=2; HttpOnly",
            "Set-Cookie: c=3; SameSite=None") + b"ok", _cookies),
    _with("latin1_value", "9110 5.5", b"X-A: caf\xe9", told(b"x-a", b"caf\xe9")),
    _with("utf8_value", "9110 5.5", b"X-A: " + KANJI, told(b"x-a", KANJI)),
    _with("empty_value", "9110 5.5", "X-A:", told(b"x-a", b"")),
    _with("value_with_colons", "9110 5.5", "X-A: b: c", told(b"x-a", b"b: c")),
    _answer("reason", "9112 4", head("Content-Length: 2", status="200 Fine Indeed") + b"ok", lambda seen: seen.final.first == b"HTTP/1.1 200 Fine Indeed"),
    _answer("reason_empty", "9112 4", b"HTTP/1.1 404 \r\nContent-Length: 2\r\n\r\nno", status(404)),
    _answer("reason_missing", "9112 4", b"HTTP/1.1 404\r\nContent-Length: 2\r\n\r\nno", status(404, 502)),
    _answer("reason_latin1", "9112 4", head("Content-Length: 2", status="404 Pas trouv\xe9") + b"no", status(404)),
    _answer("reason_with_a_nul", "9112 4", head("Content-Length: 2", status="200 O\0K") + b"ok", either(failed, out_without(b"\0"))),
    _answer("reason_with_a_cr", "9112 4", head("Content-Length: 2", status="200 OK\rX-A: b") + b"ok", either(failed, out_without(b"\r"))),
    _status("418 I'm a teapot", status(418)),
    _status("299 Odd", status(299)),
    _status("599 Odd", status(599)),
    _status("099 Odd", failed),
    Case("answer_status_000_to_head", "9110 15", request("HEAD"), both(failed, lambda seen: len(seen.answers) == 1), Script((head("Content-Length: 2", status="000 Odd"),)), seconds=2.0),
    _status("600 Odd", status(600, 502, 500)),
    _status("999 Odd", status(999, 502, 500)),
    _answer("status_two_digits", "9112 4", head("Content-Length: 2", status="20 OK") + b"ok", failed, "close"),
    _answer("status_four_digits", "9112 4", head("Content-Length: 2", status="2000 OK") + b"ok", failed, "close"),
    _answer("status_letters", "9112 4", head("Content-Length: 2", status="abc OK") + b"ok", failed, "close"),
    _answer("status_negative", "9112 4", head("Content-Length: 2", status="-20 OK") + b"ok", failed, "close"),
    _answer("version_09", "9112 2.3", head("Content-Length: 2", version="HTTP/0.9") + b"ok", either(failed, status(200)), "close"),
    _answer("version_20", "9112 2.3", head("Content-Length: 2", version="HTTP/2.0") + b"ok", either(failed, lambda seen: seen.final.first.startswith(b"HTTP/1.1 ")), "close"),
    _answer("version_12", "9112 2.3", head("Content-Length: 2", version="HTTP/1.2") + b"ok", either(failed, lambda seen: seen.final.first.startswith(b"HTTP/1.1 ")), "close"),
    _answer("version_lower_case", "9112 2.3", head("Content-Length: 2", version="http/1.1") + b"ok", failed, "close"),
    _answer("version_icy", "9112 2.3", b"ICY 200 OK\r\nContent-Length: 2\r\n\r\nok", failed, "close"),
    _with("nul_in_a_value", "9110 5.5", b"X-A: a\x00b", either(failed, out_without(b"\x00"))),
    _with("control_in_a_value", "9110 5.5", b"X-A: a\x01b", either(failed, status(200))),
    _with("bare_cr_in_a_value", "9110 5.5", b"X-A: a\rSet-Cookie: x=1", either(failed, both(out_without(b"\r"), lambda seen: not seen.final.all(b"set-cookie")))),
    _with("bare_cr_ends_a_value", "9110 5.5", b"X-A: a\r", either(failed, out_without(b"\r"))),
    _with("bare_lf_in_a_value", "9112 2.2", b"X-A: a\nX-B: b", either(failed, out_without(b"\n"))),
    _answer("split_in_two", "9112 2.2", head(b"X-A: a\r\n\r\nHTTP/1.1 404 Not Found", "Content-Length: 2") + b"ok", lambda seen: seen.statuses in ([200], [502]), "close"),
    _answer("bare_lf_head", "9112 2.2", b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok", either(failed, both(status(200), out_without(b"\n")))),
    _with("folded", "9112 5.2", "X-A: a\r\n b", either(failed, lambda seen: b"\r\n b" not in seen.answered)),
    _with("folded_with_a_tab", "9112 5.2", "X-A: a\r\n\tb", either(failed, lambda seen: b"\r\n\tb" not in seen.answered)),
    _with("folded_status_line", "9112 5.2", " X-A: a", lambda seen: failed(seen) or b"\r\n X-A" not in seen.answered),
    _with("space_before_colon", "9112 5.1", "X-A : a", either(failed, lambda seen: b"X-A :" not in seen.answered)),
    _with("name_with_a_space", "9110 5.1", "X A: a", either(failed, lambda seen: b"X A" not in seen.answered)),
    _with("name_empty", "9110 5.1", ": a", either(failed, lambda seen: b"\r\n:" not in seen.answered)),
    _with("name_without_colon", "9110 5.1", "XA", either(failed, lambda seen: b"\r\nXA\r\n" not in seen.answered)),
    _with("name_8_bit", "9110 5.1", b"X\xe9: a", either(failed, lambda seen: b"X\xe9" not in seen.answered)),
    _answer("type_not_invented", "9110 8.3", head("Content-Length: 2") + b"ok", lambda seen: not seen.final.all(b"content-type")),
    _answer("date_kept", "9110 6.6.1", head(b"Date: " + DATE, "Server: foo", "Content-Length: 2") + b"ok", lambda seen: seen.final.all(b"date") == [DATE] or len(seen.final.all(b"date")) == 1),
    _with("server_kept", "9110 10.2.4", "Server: foo", told(b"server", b"foo")),
    _answer("location_raw", "9110 10.2.2", head(b"Location: /caf\xc3\xa9?x=%2F a", "Content-Length: 0", status="302 Found"), told(b"location", b"/caf\xc3\xa9?x=%2F a")),
    _answer("location_absolute", "9110 10.2.2", head("Location: http://127.0.0.1:1/x", "Content-Length: 0", status="302 Found"), status(302)),
    _answer("challenges", "9110 11.6.1", head('WWW-Authenticate: Basic realm="a", Bearer', 'WWW-Authenticate: Digest realm="b"', "Content-Length: 2", status="401 Unauthorized") + b"no",
            lambda seen: len(seen.final.all(b"www-authenticate")) == 2),
    _with("connection_named", "9110 7.6.1", "Connection: X-Hop\r\nX-Hop: 1", lambda seen: seen.status == 200 and not seen.final.all(b"x-hop")),
    _with("keep_alive_field", "9110 7.6.1", "Keep-Alive: timeout=5", lambda seen: seen.status == 200 and b"timeout=5" not in seen.final.all(b"keep-alive")),
    _with("proxy_connection", "9110 7.6.1", "Proxy-Connection: keep-alive", lambda seen: seen.status == 200 and not seen.final.all(b"proxy-connection")),
    _with("connection_names_length", "9110 7.6.1", "Connection: Content-Length", lambda seen: failed(seen) or (seen.final.complete and seen.final.body == b"ok")),
    _with("vary_kept", "9110 12.5.5", "Vary: Accept-Encoding, Cookie", lambda seen: b"Cookie" in b",".join(seen.final.all(b"vary"))),
    _with("etag_kept", "9110 8.8.3", 'ETag: W/"a"', told(b"etag", b'W/"a"')),
    _with("caching_kept", "9111 5.2", "Cache-Control: max-age=60, private", told(b"cache-control", b"max-age=60, private")),
    _with("links_kept", "8288", "Link: </a>; rel=preload, </b>; rel=next", told(b"link", b"</a>; rel=preload, </b>; rel=next")),
)  # fmt: skip
