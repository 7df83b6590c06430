"""Several requests on one connection (RFC 9112 9.3): answers in order, each its own, and the end where it was asked for."""

from battery.case import Case, Seen, Verdict, post, request
from battery.site import OK, Script
from battery.verdicts import both, status

CLOSE = ("Connection: close",)
SAME_FOR_ALL = Script((b"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnone",))


def _targets(*wanted: bytes) -> Verdict:
    return lambda seen: [asked.target for asked in seen.requests] == list(wanted)


def _all(count: int, status: int = 200) -> Verdict:
    def is_right(seen: Seen) -> bool:
        return (
            seen.statuses == [status] * count
            and all(answer.complete for answer in seen.answers)
            and not seen.extra
        )

    return is_right


def _ended(seen: Seen) -> bool:
    return seen.status == 200 and seen.ended == "eof"


def _stays(seen: Seen) -> bool:
    return seen.status == 200 and seen.ended == ""


CASES = (
    Case("three", "9112 9.3.2", request(target="/1") + request(target="/2") + request(target="/3", fields=CLOSE),
         both(_all(3), _targets(b"/1", b"/2", b"/3")), answers=3),
    Case("three_one_after_the_other", "9112 9.3", (request(target="/1"), 0.3, request(target="/2"), 0.3, request(target="/3", fields=CLOSE)),
         both(_all(3), _targets(b"/1", b"/2", b"/3")), answers=3),
    Case("twenty", "9112 9.3.2", b"".join(request(target=f"/{n}") for n in range(20)), both(_all(20), _targets(*(b"/%d" % n for n in range(20)))), answers=20, seconds=2.0),
    Case("posts_with_bodies", "9112 9.3.2", b"".join(post(f"Content-Length: {n}", body=b"x" * n) for n in range(1, 6)),
         both(_all(5), lambda seen: [len(asked.body) for asked in seen.requests] == [1, 2, 3, 4, 5]), answers=5),
    Case("heads_between_gets", "9112 9.3.2", request("HEAD", "/1") + request("HEAD", "/2"), both(_all(2), _targets(b"/1", b"/2")), answers=2),
    Case("after_a_404", "9112 9.3.2", request(target="/1") + request(target="/2"), _all(2, 404), site=SAME_FOR_ALL, answers=2),
    Case("nothing_after_close", "9112 9.6", request(target="/1", fields=CLOSE) + request(target="/2"), both(_targets(b"/1"), _ended), answers=1),
    Case("second_is_malformed", "9112 9.3.2", request(target="/1") + b"GET /2 HTTP/1.1\r\nHost : t.example\r\n\r\n",
         lambda seen: seen.statuses[:1] == [200] and b"/2" not in [asked.target for asked in seen.requests] and seen.statuses[1:] in ([400], []), answers=2),
    Case("second_is_cut", "9112 9.3.2", request(target="/1") + b"GET /2 HT", both(_all(1), _targets(b"/1"))),
    Case("site_closes_in_between", "9112 9.5", request(target="/1") + request(target="/2"), _all(2), answers=2,
         site=Script((b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok",), end="close")),
    Case("site_closes_without_saying", "9112 9.5", (request(target="/1"), 0.3, 0.05, request(target="/2")), _all(2), answers=2,
         site=Script((OK,), end="close")),
    Case("empty_line_between", "9112 2.2", request(target="/1") + b"\r\n" + request(target="/2"), _all(2), answers=2),
    Case("keeps_by_default", "9112 9.3", request(), _stays),
    Case("closes_when_asked", "9112 9.6", request(fields=CLOSE), _ended),
    Case("closes_when_asked_upper_case", "9112 9.6", request(fields=("Connection: CLOSE",)), _ended),
    Case("closes_when_asked_in_a_list", "9112 9.6", request(fields=("Connection: foo, close",)), _ended),
    Case("after_a_proxy_connection_close", "9112 9.6", request(target="/1", fields=("Proxy-Connection: close",)) + request(target="/2"),
         lambda seen: seen.statuses in ([200], [200, 200]), answers=2),
    Case("http10_closes", "9112 9.3", request(version="HTTP/1.0"), _ended),
    Case("http10_keeps_when_asked", "9112 9.3", request(version="HTTP/1.0", fields=("Connection: keep-alive",)),
         lambda seen: _ended(seen) or (_stays(seen) and b"keep-alive" in seen.final.all(b"connection")[0].lower())),
    Case("early_answer_then_the_rest", "9112 9.3", post("Content-Length: 300000", body=b"x" * 300000) + request(target="/after"),
         lambda seen: seen.status in (200, 502) and all(asked.target in (b"/", b"/after") for asked in seen.requests if asked.whole),
         site=Script((OK,), at_once=True, end="close")),
    Case("a_post_is_not_sent_twice", "9110 9.2.2", post("Content-Length: 5", body=b"hello"), lambda seen: len(seen.asked) == 1 and status(502, 500, 504, 503)(seen),
         site=Script((), end="close")),
)  # fmt: skip
