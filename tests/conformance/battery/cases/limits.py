"""Large heads and many fields: what sites need passes, what nobody needs is refused and never cut (RFC 9110 5.4)."""

from battery.case import Case, Seen, Verdict, head, request
from battery.site import Script
from battery.verdicts import asked, either, failed, status, target, told

LONG = b"a" * 7000


def _fields_or_an_error(count: int) -> Verdict:
    def is_right(seen: Seen) -> bool:
        return 400 <= seen.status < 500 or seen.request.all(b"x-%d" % (count - 1)) == [b"%d" % (count - 1)]

    return is_right


CASES = (
    Case("target_of_7000_bytes", "9110 4.1", request(target=b"/" + LONG), target(b"/" + LONG)),
    Case("query_of_7000_bytes", "9110 4.1", request(target=b"/?" + LONG), target(b"/?" + LONG)),
    Case("target_of_100000_bytes", "9110 15.5.15", request(target=b"/" + b"a" * 100_000), either(status(414, 431, 400, 413), target(b"/" + b"a" * 100_000))),
    Case("field_of_7000_bytes", "9110 5.4", request(fields=(b"X-Big: " + LONG,)), asked(b"x-big", LONG)),
    Case("field_of_100000_bytes", "6585 5", request(fields=("X-Big: " + "b" * 100_000,)), either(status(431, 400, 413, 494), asked(b"x-big", b"b" * 100_000))),
    Case("field_name_of_5000_bytes", "9110 5.4", request(fields=("X" * 5000 + ": 1",)), either(status(431, 400), asked(b"x" * 5000, b"1"))),
    Case("90_fields", "9110 5.4", request(fields=tuple(f"X-{n}: {n}" for n in range(90))), asked(b"x-89", b"89")),
    Case("3000_fields", "6585 5", request(fields=tuple(f"X-{n}: {n}" for n in range(3000))), _fields_or_an_error(3000)),
    Case("cookie_of_6000_bytes", "6265 6.1", request(fields=("Cookie: a=" + "b" * 6000,)), asked(b"cookie", b"a=" + b"b" * 6000)),
    Case("head_never_ends", "6585 5", b"GET / HTTP/1.1\r\nHost: t.example\r\n" + b"X-A: a\r\n" * 40_000, lambda seen: not seen.asked and (seen.status == 0 or 400 <= seen.status < 500), seconds=0.4),
    Case("answer_field_of_7000_bytes", "-", request(), told(b"x-big", LONG), site=Script((head(b"X-Big: " + LONG, "Content-Length: 2") + b"ok",))),
    Case("answer_field_of_60000_bytes", "-", request(), either(failed, told(b"x-big", b"b" * 60_000)), site=Script((head("X-Big: " + "b" * 60_000, "Content-Length: 2") + b"ok",))),
    Case("answer_of_200_fields", "-", request(), either(failed, told(b"x-199", b"199")), site=Script((head(*(f"X-{n}: {n}" for n in range(200)), "Content-Length: 2") + b"ok",))),
    Case("answer_of_3000_fields", "-", request(), either(failed, told(b"x-2999", b"2999")), site=Script((head(*(f"X-{n}: {n}" for n in range(3000)), "Content-Length: 2") + b"ok",))),
    Case("answer_of_100_cookies", "6265", request(), lambda seen: failed(seen) or len(seen.final.all(b"set-cookie")) == 100,
         site=Script((head(*(f"Set-Cookie: c{n}={n}" for n in range(100)), "Content-Length: 2") + b"ok",))),
)  # fmt: skip
