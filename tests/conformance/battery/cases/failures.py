"""Sites that fail before they have said anything that could be passed on (RFC 9110 15.6.3)."""

from battery.case import Case, Seen, post, request
from battery.site import Script
from battery.verdicts import failed


def _played(
    name: str, steps: tuple[bytes | float, ...], end: str = "close", *, at_once: bool = False
) -> Case:
    return Case(name, "9110 15.6.3", request(), failed, Script(steps, end, at_once), seconds=2.0)  # type: ignore[arg-type]


def _echoes_nothing(seen: Seen) -> bool:
    return failed(seen) and b"secret" not in seen.answered


CASES = (
    _played("tls_alert", (b"\x16\x03\x01\x00garbage\r\n\r\n",)),
    _played("ssh", (b"SSH-2.0-OpenSSH_9\r\n",)),
    _played("smtp", (b"220 mail.example ESMTP\r\n",)),
    _played("html_without_a_head", (b"<!doctype html><title>hello</title>\n\n<p>hello",)),
    _played("json_without_a_head", (b'{"ok": true}\r\n\r\n',)),
    _played("nothing", ()),
    _played("reset", (), "reset", at_once=True),
    _played("reset_in_the_head", (b"HTTP/1.1 200 OK\r\nContent-Le",), "reset"),
    _played("close_in_the_head", (b"HTTP/1.1 200 OK\r\nContent-Le",)),
    _played("close_behind_the_status_line", (b"HTTP/1.1 200 OK\r\n",)),
    _played("close_in_the_version", (b"HTTP",)),
    _played("nuls", (b"\0" * 64,)),
    _played("a_request", (b"GET / HTTP/1.1\r\nHost: t.example\r\n\r\n",)),
    _played("noise_before_the_answer", (b"noise\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",)),
    Case("post_and_a_reset", "9110 15.6.3", post("Content-Length: 5", body=b"hello"), failed, Script((), "reset"), seconds=2.0),
    Case("post_and_nothing", "9110 15.6.3", post("Content-Length: 5", body=b"hello"), failed, Script((), "close"), seconds=2.0),
    Case("echoes_nothing", "9110 15.6.3", request(target="/secret", fields=("X-A: secret", "Cookie: secret=1")), _echoes_nothing, Script((), "close"), seconds=2.0),
)  # fmt: skip
