"""1xx answers (RFC 9110 15.2) and changes of protocol (7.8, RFC 6455): passed in order, and never unasked."""

from battery.case import Case, Seen, Verdict, head, post, request
from battery.site import OK, Script
from battery.verdicts import answers, both, either, failed, status

HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
PROCESSING = b"HTTP/1.1 102 Processing\r\n\r\n"
SWITCH = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: foo\r\nConnection: Upgrade\r\n\r\n"
WEBSOCKET = (
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"
)
ASKS = ("Connection: Upgrade", "Upgrade: foo")
ASKS_WEBSOCKET = (
    "Connection: keep-alive, Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
)  # fmt: skip


def _played(name: str, rule: str, steps: tuple[bytes | float, ...], right: Verdict, **more: object) -> Case:
    return Case(name, rule, request(), right, Script(steps), seconds=2.0)._replace(**more)


def _never_switched(seen: Seen) -> bool:
    return failed(seen) or (101 not in seen.statuses and seen.status != 0)


def _echoed(words: bytes) -> Verdict:
    return lambda seen: seen.statuses == [101] and seen.extra == words


CASES = (
    _played("hints", "8297", (HINTS, 0.05, OK), lambda seen: 103 in seen.statuses and seen.status == 200),
    _played("hints_in_one_segment", "8297", (HINTS + OK,), lambda seen: 103 in seen.statuses and seen.status == 200),
    _played("hints_twice", "8297", (HINTS + HINTS, 0.05, OK), lambda seen: seen.status == 200),
    _played("hints_torn", "8297", (HINTS[:20], 0.05, HINTS[20:] + OK[:10], 0.05, OK[10:]), lambda seen: seen.status == 200),
    _played("hints_before_an_error", "8297", (HINTS + head("Content-Length: 2", status="404 Not Found") + b"no",), lambda seen: seen.status == 404),
    _played("hints_for_http10", "9110 15.2", (HINTS + OK,), answers(200), send=request(version="HTTP/1.0")),
    _played("hints_for_head", "8297", (HINTS + OK[:-2],), lambda seen: seen.status == 200 and not seen.final.body and not seen.extra, send=request("HEAD")),
    _played("continue_unasked", "9110 15.2", (CONTINUE + OK,), status(200)),
    _played("continue_http10_unasked", "9110 15.2", (CONTINUE + OK,), answers(200), send=request(version="HTTP/1.0")),
    _played("processing", "2518 10.1", (PROCESSING, 0.05, OK), status(200)),
    _played("unknown_interim", "9110 15.2", (b"HTTP/1.1 199 Odd\r\n\r\n", 0.05, OK), status(200, 502)),
    _played("interim_with_a_length", "9110 8.6", (b"HTTP/1.1 103 Early Hints\r\nContent-Length: 5\r\n\r\n" + OK,),
            lambda seen: failed(seen) or ((seen.status == 200 and not seen.answers[0].all(b"content-length")) or seen.statuses == [200])),
    _played("interim_with_chunks", "9112 6.1", (b"HTTP/1.1 103 Early Hints\r\nTransfer-Encoding: chunked\r\n\r\n" + OK,),
            lambda seen: failed(seen) or (seen.status == 200 and not seen.answers[0].all(b"transfer-encoding"))),
    _played("interim_with_a_body", "9110 15.2", (b"HTTP/1.1 103 Early Hints\r\nContent-Length: 3\r\n\r\nbad" + OK,), lambda seen: failed(seen) or b"bad" not in seen.answered),
    _played("interims_without_end", "9110 15.2", (HINTS * 200,), lambda seen: seen.status in (0, 500, 502, 504)),
    _played("five_hundred_hints", "9110 15.2", (HINTS * 500 + OK,), lambda seen: seen.status in (200, 500, 502, 504)),
    _played("interim_then_close", "9110 15.6.3", (HINTS,), lambda seen: seen.status in (500, 502, 504), site=Script((HINTS,), "close")),
    _played("interim_malformed", "9110 15.2", (b"HTTP/1.1 103 Early Hints\r\nLink : x\r\n\r\n" + OK,), lambda seen: failed(seen) or b"Link :" not in seen.answered),
    # 101.
    _played("switch_unasked", "9110 15.2.2", (SWITCH + b"foo",), _never_switched, site=Script((SWITCH + b"foo",), "close")),
    _played("switch_unasked_post", "9110 15.2.2", (SWITCH,), _never_switched, send=post("Content-Length: 5", body=b"hello"), site=Script((SWITCH,), "close")),
    _played("switch_for_http10", "9110 7.8", (SWITCH,), _never_switched, send=request(version="HTTP/1.0", fields=ASKS), site=Script((SWITCH,), "close")),
    _played("switch_to_another", "9110 7.8", (SWITCH.replace(b"foo", b"bar"),), either(_never_switched, lambda seen: 101 in seen.statuses), send=request(fields=ASKS),
            site=Script((SWITCH.replace(b"foo", b"bar"),), "close")),
    _played("switch_without_connection", "9110 7.8", (SWITCH,), _never_switched, send=request(fields=("Upgrade: foo",)), site=Script((SWITCH,), "close")),
    _played("upgrade_declined", "9110 7.8", (), both(status(200), lambda seen: seen.final.body == b"ok"), send=request(fields=ASKS), site=Script()),
    _played("upgrade_declined_with_an_error", "9110 7.8", (), lambda seen: seen.status == 426 and seen.final.body == b"no", send=request(fields=ASKS_WEBSOCKET),
            site=Script((head("Content-Length: 2", "Upgrade: websocket", "Connection: Upgrade", status="426 Upgrade Required") + b"no",))),
    _played("upgrade_declined_then_another", "9110 7.8", (), lambda seen: seen.statuses == [200, 200] and len(seen.requests) == 2,
            send=request(fields=ASKS) + request(target="/2"), site=Script(), answers=2),
    _played("upgrade_declined_with_a_body", "9110 7.8", (), lambda seen: seen.status == 200 and seen.request.body == b"hello",
            send=post("Content-Length: 5", *ASKS, body=b"hello"), site=Script()),
    _played("upgrade_declined_hides_no_request", "9110 7.8", (), lambda seen: [asked.target for asked in seen.requests] in ([b"/"], [b"/", b"/2"]) and seen.status == 200,
            send=(request(fields=ASKS_WEBSOCKET) + request(target="/2"),), site=Script((head("Content-Length: 2", status="200 OK") + b"no",))),
    _played("websocket", "6455 1.3", (), _echoed(b"ping"), send=(request(fields=ASKS_WEBSOCKET), 0.5, b"ping", 0.5), site=Script((WEBSOCKET,), "echo"), seconds=0.1),
    _played("websocket_words_behind_the_head", "6455 1.3", (), _echoed(b"helloping"), send=(request(fields=ASKS_WEBSOCKET), 0.5, b"ping", 0.5),
            site=Script((WEBSOCKET + b"hello",), "echo"), seconds=0.1),
    _played("websocket_words_before_the_answer", "6455 4.1", (), either(_echoed(b"ping"), status(400, 502)), send=(request(fields=ASKS_WEBSOCKET) + b"ping", 0.5, 0.3),
            site=Script((WEBSOCKET,), "echo"), seconds=0.1),
    _played("websocket_fields_pass", "6455 4.1", (), lambda seen: seen.request.all(b"sec-websocket-key") == [b"dGhlIHNhbXBsZSBub25jZQ=="]
            and [value.lower() for value in seen.request.all(b"upgrade")] == [b"websocket"], send=(request(fields=ASKS_WEBSOCKET), 0.5), site=Script((WEBSOCKET,), "echo"), seconds=0.05),
    _played("websocket_bad_version", "6455 4.4", (), status(426), send=request(fields=tuple(line.replace("13", "12") for line in ASKS_WEBSOCKET)),
            site=Script((head("Sec-WebSocket-Version: 13", "Content-Length: 0", status="426 Upgrade Required"),))),
    _played("websocket_refused_by_the_site", "6455 4.2.2", (), lambda seen: seen.status == 403 and seen.final.complete, send=request(fields=ASKS_WEBSOCKET),
            site=Script((head("Content-Length: 2", status="403 Forbidden") + b"no",))),
)  # fmt: skip
