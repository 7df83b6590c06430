"""What goes wrong around the proxy: each time a clear sentence or the status's envelope, never a traceback, and the
next good request works.
"""

from __future__ import annotations

import ctypes
import gzip
import json
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from stage.callers import CHROME, CURL, agent, request
from stage.processes import free_port
from stage.scripted import Answer, ScriptedSite, garbage, page
from stage.serving import PROGRAM, Saywhy, run, serving
from stage.wire import Message, ask

PROBLEM = agent("application/problem+json")
MEBIBYTE = b"<p>The oven is cold. No bread today.</p>\n" * 25575 + b" " * 1
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
    "/status-999": page("999 Request denied", b"<h1>Request denied</h1>"),
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
    by_status = {"4": ("not_found", "not_allowed", "invalid_input"), "5": ("internal",), "9": ("internal",)}
    assert error["code"] in by_status[str(answer.status)[0]]
    assert error["source"] == "site"
    assert "\x00" not in error["message"]
    assert_works(odd)


READABLE = {"/big": "oven", "/charset-wrong": "Закрыто", "/charset-unknown": "ferm"}


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
        "/status-999",
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


def serve(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """`saywhy serve` that is expected to end by itself."""
    return run("serve", *arguments, seconds=60)


def drop_roots_eyes() -> None:
    """Before exec: give up the two capabilities by which root reads what the mode forbids (capabilities(7))."""
    drop_from_bounding_set = 24  # prctl(2): PR_CAPBSET_DROP; CAP_DAC_OVERRIDE is 1, CAP_DAC_READ_SEARCH is 2
    for capability in (1, 2):
        ctypes.CDLL(None).prctl(drop_from_bounding_set, capability, 0, 0, 0)


def assert_refused(done: subprocess.CompletedProcess[str], *words: str) -> None:
    """Exit status 2 and a sentence with these words on standard error."""
    assert done.returncode == 2, (done.returncode, done.stdout[-1000:], done.stderr[-2000:])
    assert "Traceback" not in done.stderr + done.stdout
    missing = [word for word in words if word.lower() not in " ".join(done.stderr.split()).lower()]
    assert not missing, f"{missing} not in: {done.stderr}"
    assert len(done.stderr) < 4000


@pytest.fixture
def plain(tmp_path: Path) -> list[str]:
    """Flags of a proxy that would start."""
    return [
        "--upstream",
        f"http://127.0.0.1:{free_port()}",
        "--listen",
        f"127.0.0.1:{free_port()}",
        "--admin",
        f"127.0.0.1:{free_port()}",
    ]


SETTINGS = [
    pytest.param(
        "limts:\n  head_bytes: 4096\n",
        ["settings.yaml", "limts", "did you mean", "limits"],
        id="unknown-section",
    ),
    pytest.param(
        "limits:\n  head_byte: 4096\n",
        ["settings.yaml", "head_byte", "did you mean", "head_bytes"],
        id="unknown-key",
    ),
    pytest.param("limits:\n  head_bytes: many\n", ["settings.yaml", "head_bytes"], id="not-a-number"),
    pytest.param("limits:\n  head_bytes: -1\n", ["settings.yaml", "head_bytes"], id="out-of-range"),
    pytest.param("limits: [1, 2\n", ["settings.yaml"], id="not-yaml"),
    pytest.param("- just\n- a list\n", ["settings.yaml"], id="a-list"),
    pytest.param("x: !!python/object/apply:os.system ['true']\n", ["settings.yaml"], id="a-tag"),
]


@pytest.mark.parametrize(("text", "words"), SETTINGS)
def test_settings_that_are_wrong(tmp_path: Path, plain: list[str], text: str, words: list[str]) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text(text)
    assert_refused(serve(*plain, "--config", file), *words)


def test_settings_that_are_not_there(tmp_path: Path, plain: list[str]) -> None:
    assert_refused(serve(*plain, "--config", tmp_path / "nowhere.yaml"), "nowhere.yaml")


def test_a_setting_of_the_environment_with_an_unknown_key(plain: list[str]) -> None:
    done = run("serve", *plain, env={"SAYWHY_LIMITS__HEAD_BYTE": "4096"})
    assert_refused(done, "SAYWHY_LIMITS__HEAD_BYTE", "did you mean")


RULE = """
  - id: rule-{0}
    about: Number {0}.
    when: {{status: [404], contains: ["word {0}"]}}
    then: {{code: not_found}}
"""


def test_a_rules_folder_that_is_not_there(tmp_path: Path, plain: list[str]) -> None:
    assert_refused(serve(*plain, "--rules", tmp_path / "nowhere"), str(tmp_path / "nowhere"))


def test_a_rules_folder_that_is_a_file(tmp_path: Path, plain: list[str]) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text("pack: mine\n")
    done = serve(*plain, "--rules", file)
    assert_refused(done, "rules.yaml")


def test_an_empty_rules_folder(tmp_path: Path, plain: list[str]) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    assert_refused(serve(*plain, "--rules", folder), str(folder), "no pack")


def test_an_unreadable_rules_folder(tmp_path: Path, plain: list[str]) -> None:
    folder = tmp_path / "locked"
    folder.mkdir()
    (folder / "rules.yaml").write_text("pack: mine\nabout: Mine.\nrules:" + RULE.format(1))
    folder.chmod(0o000)
    command = [str(PROGRAM), "serve", *plain, "--rules", str(folder)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=60, check=False, preexec_fn=drop_roots_eyes
        )
    finally:
        folder.chmod(0o755)
    assert_refused(done, str(folder))


def test_a_huge_rules_folder(tmp_path: Path, plain: list[str]) -> None:
    """Too much to read is said at once, whatever the pages would have cost."""
    (tmp_path / "rules.yaml").write_text(
        "pack: mine\nabout: Mine.\nrules:" + "".join(map(RULE.format, range(500_000)))
    )
    assert_refused(serve(*plain, "--rules", tmp_path), "rules.yaml")


def test_a_port_in_use(tmp_path: Path, plain: list[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for flag in ("--listen", "--admin"):
            flags = [*plain]
            flags[flags.index(flag) + 1] = f"127.0.0.1:{port}"
            assert_refused(serve(*flags), port, "use")


@pytest.mark.parametrize("flag", ["--listen", "--admin"])
@pytest.mark.parametrize(
    "address", ["nonsense", "127.0.0.1:", "127.0.0.1:99999", ":::80", "127.0.0.1:http", "256.1.1.1:80"]
)
def test_an_address_that_does_not_parse(plain: list[str], flag: str, address: str) -> None:
    flags = [*plain]
    flags[flags.index(flag) + 1] = address
    assert_refused(serve(*flags), address)


@pytest.mark.parametrize(
    "url", ["nonsense", "ftp://127.0.0.1", "http://", "http://127.0.0.1/shop", "http://127.0.0.1:99999"]
)
def test_an_upstream_that_does_not_parse(plain: list[str], url: str) -> None:
    flags = [*plain]
    flags[flags.index("--upstream") + 1] = url
    assert_refused(serve(*flags), url)
