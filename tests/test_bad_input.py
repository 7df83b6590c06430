"""What sites do wrong: each time the status's envelope or the proxy's own, never a traceback, and the next good request
works.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from stage.callers import CHROME, CURL, agent, request
from stage.processes import free_port
from stage.scripted import Answer, ScriptedSite, garbage, page
from stage.serving import Saywhy, serving
from stage.wire import Message, ask

PROBLEM = agent("application/problem+json")
MEBIBYTE = (b"<p>The oven is cold. No bread today.</p>\n" * 30_000)[: 1 << 20]
BIG = 50

GARBAGE = {
    "/silent": garbage(),
    "/noise": garbage(bytes(range(256)) * 8),
    "/ssh": garbage(b"SSH-2.0-OpenSSH_9.2\r\n"),
    "/half-head": garbage(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Ha"),
    "/bad-status": garbage(b"HTTP/1.1 20x OK\r\nContent-Length: 0\r\n\r\n"),
    "/bad-length": garbage(b"HTTP/1.1 200 OK\r\nContent-Length: minus one\r\n\r\nhello"),
    "/two-lengths": garbage(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!"),
    "/length-and-chunked": garbage(
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
    ),
    "/huge-head": garbage(b"HTTP/1.1 200 OK\r\n" + b"X-Filler: " + b"x" * 900_000 + b"\r\n\r\n"),
    "/many-fields": garbage(b"HTTP/1.1 200 OK\r\n" + b"X-Filler: x\r\n" * 20_000 + b"\r\n"),
    "/http2": garbage(b"HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n"),
    "/unasked-upgrade": garbage(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: chess\r\nConnection: Upgrade\r\n\r\n"
    ),
}

ODD_PAGES: dict[str, Answer] = {
    "/big": Answer(
        (
            b"HTTP/1.1 500 Internal Server Error\r\nContent-Type: text/html\r\n"
            + f"Content-Length: {len(MEBIBYTE) * BIG}\r\n\r\n".encode(),
            *[MEBIBYTE] * BIG,
        )
    ),
    "/nested": page("404 Not Found", b"<div>" * 100_000 + b"deep" + b"</div>" * 100_000),
    "/nested-json": page(
        "422 Unprocessable Content", b"[" * 100_000 + b"]" * 100_000, media="application/json"
    ),
    "/charset-unknown": page(
        "404 Not Found", b"<h1>Caf\xe9 ferm\xe9</h1>", media="text/html; charset=klingon"
    ),
    "/charset-wrong": page(
        "404 Not Found", "<h1>Закрыто</h1>".encode("cp1251"), media="text/html; charset=utf-8"
    ),
    "/charset-utf16": page(
        "404 Not Found", "<h1>Closed</h1>".encode("utf-16")[:-1], media="text/html; charset=utf-16"
    ),
    "/charset-codec": page("404 Not Found", b"<h1>Closed</h1>", media="text/html; charset=rot13"),
    "/media-odd": page("404 Not Found", b"<h1>Closed</h1>", media=";;;=\xff"),
    "/gzip-cut": page(
        "403 Forbidden", gzip.compress(b"<h1>Forbidden</h1>" * 500)[:60], "Content-Encoding: gzip"
    ),
    "/gzip-none": page("403 Forbidden", b"<h1>Forbidden</h1>", "Content-Encoding: gzip"),
    "/gzip-bomb": page("403 Forbidden", gzip.compress(bytes(200_000_000), 1), "Content-Encoding: gzip"),
    "/coding-unknown": page("403 Forbidden", b"\x00\x01\x02", "Content-Encoding: zip-of-doom"),
    "/nul": page("400 Bad Request", b"<h1>Bad\x00\x1b[31mRequest\xe2\x80\xae</h1>"),
    "/empty": page("500 Internal Server Error", b""),
    "/early-end": garbage(
        b"HTTP/1.1 500 Oops\r\nContent-Type: text/html\r\nContent-Length: 999\r\n\r\n<h1>Oops</h1>"
    ),
    "/status-799": page("799 Odd", b"<h1>An odd day</h1>"),
}


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Saywhy]:
    """A proxy before the site that answers with everything above."""
    with (
        ScriptedSite({**GARBAGE, **ODD_PAGES}) as site,
        serving(site.port, tmp_path_factory.mktemp("odd")) as proxy,
    ):
        yield proxy


def error_of(answer: Message) -> dict[str, Any]:
    """The error object of a problem+json answer."""
    assert answer.field("content-type") == "application/problem+json"
    error = json.loads(answer.content)["error"]
    assert len(error["message"].split()) >= 3
    assert isinstance(error, dict)
    return error


def assert_works(proxy: Saywhy) -> None:
    """The process is there and a good page comes through."""
    assert proxy.process.poll() is None
    assert ask(proxy.port, request(proxy.port, "/good", CURL)).status == 200
    assert "Traceback" not in proxy.output()


@pytest.mark.parametrize("path", GARBAGE)
def test_a_site_that_answers_garbage_is_a_failed_exchange(odd: Saywhy, path: str) -> None:
    answer = ask(odd.port, request(odd.port, path, PROBLEM))
    error = error_of(answer)
    assert answer.status == 502
    assert error["source"] == "proxy"
    assert error["code"] in ("temporarily_unavailable", "internal")
    assert answer.field("proxy-status").startswith("saywhy; error=")
    page_for_people = ask(odd.port, request(odd.port, path, CHROME))
    assert page_for_people.status == 502
    assert page_for_people.field("content-type").startswith("text/plain")
    assert 0 < len(page_for_people.content) < 500
    assert_works(odd)


@pytest.mark.parametrize("path", ODD_PAGES)
def test_a_page_nobody_can_read_is_its_status(odd: Saywhy, path: str) -> None:
    answer = ask(odd.port, request(odd.port, path, PROBLEM))
    error = error_of(answer)
    by_status = {"4": ("not_found", "not_allowed", "invalid_input"), "5": ("internal",), "7": ("internal",)}
    assert error["code"] in by_status[str(answer.status)[0]]
    assert error["source"] == "site"
    assert not [char for char in error["message"] if ord(char) < 32 or char in "\ufffd\u202e"]
    assert_works(odd)


def test_a_page_of_50_megabytes_passes_a_browser_whole_and_costs_no_memory(odd: Saywhy) -> None:
    before = odd.memory()
    answer = ask(odd.port, request(odd.port, "/big", CHROME))
    assert len(answer.content) == len(MEBIBYTE) * BIG
    error_of(ask(odd.port, request(odd.port, "/big", PROBLEM)))
    assert odd.memory() - before < 20_000_000
    assert_works(odd)


def test_odd_pages_pass_bystanders_untouched(odd: Saywhy) -> None:
    for path in (
        "/nested",
        "/charset-wrong",
        "/gzip-cut",
        "/gzip-none",
        "/coding-unknown",
        "/nul",
        "/status-799",
    ):
        answer = ask(odd.port, request(odd.port, path, CURL))
        (sent,) = ODD_PAGES[path].pieces
        assert answer.raw == sent, path


UNREACHABLE = [
    pytest.param(lambda: f"http://127.0.0.1:{free_port()}", "connection_refused", id="refused"),
    pytest.param(lambda: "http://no-such-host.invalid", "dns_error", id="no-such-name"),
    pytest.param(lambda: "unix:/nonexistent/site.sock", "connection_refused", id="no-such-socket"),
]


@pytest.mark.parametrize(("upstream", "token"), UNREACHABLE)
def test_a_site_that_cannot_be_reached(tmp_path: Path, upstream: Any, token: str) -> None:
    with serving(upstream(), tmp_path) as proxy:
        answer = ask(proxy.port, request(proxy.port, "/orders", PROBLEM, method="POST", body=b"item=7"))
        error = error_of(answer)
        assert answer.status == 502
        assert answer.field("proxy-status") == f"saywhy; error={token}"
        assert int(answer.field("retry-after")) == error["retry_after"] > 0
        assert error["code"] == "temporarily_unavailable"
        assert error["side_effects"] == "none_expected"  # the connection was never made
        for_people = ask(proxy.port, request(proxy.port, "/orders", CHROME))
        assert (for_people.status, for_people.field("content-type")[:10]) == (502, "text/plain")
        assert proxy.get("/-/ready")[0] == 200  # ready never depends on the site
        assert proxy.get("/-/healthy")[0] == 200
