"""The public names: what they are, what they cost, what they raise."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import saywhy
from saywhy.core.contract.schema import json_schema

HTML = {"Content-Type": "text/html; charset=utf-8"}


def test_import_loads_none_of_the_rooms(root: Path) -> None:
    code = (
        "import sys, saywhy\n"
        "assert not [name for name in sys.modules if name.startswith('saywhy.')]\n"
        "saywhy.from_response(404, {}, b'')\n"
        "assert 'aiohttp' not in sys.modules and 'uvloop' not in sys.modules\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=root / "proxy"
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", saywhy.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(saywhy, name).__name__ == name
    assert name in dir(saywhy)


def test_any_other_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = saywhy.nothing  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("status", "headers", "body", "code"),
    [
        (404, HTML, "<title>Not Found</title>", "not_found"),
        (429, {"Retry-After": "7"}, b"", "rate_limited"),
        (503, {"cf-mitigated": "challenge", **HTML}, "<title>Just a moment...</title>", "needs_human"),
        (
            422,
            {"Content-Type": "application/json"},
            '{"message": "The colour is not known."}',
            "invalid_input",
        ),
        (502, {"Content-Type": "text/event-stream"}, "", "temporarily_unavailable"),
        (500, [("Content-Type", "text/plain")], "boom", "internal"),
    ],
)
def test_from_response(status: int, headers: dict[str, str], body: bytes | str, code: str) -> None:
    envelope = saywhy.from_response(status, headers, body, url="https://shop.example/a?b=1")
    document = envelope.as_dict()
    jsonschema.Draft202012Validator(json_schema()).validate(document)
    assert document["error"]["code"] == code


def test_from_response_knows_the_method_the_key_and_the_clock() -> None:
    assert saywhy.from_response(500, {}, b"", method="POST").error.retry == "refetch"
    keyed = saywhy.from_response(500, {}, b"", method="POST", request_headers={"Idempotency-Key": "k"})
    assert keyed.error.retry == "once"
    dated = saywhy.from_response(429, {"Retry-After": "Thu, 01 Jan 1970 00:01:00 GMT"}, b"", now=20)
    assert dated.error.retry_after == 40


def test_from_response_names_the_host() -> None:
    assert saywhy.from_response(404, {}, b"", url="https://shop.example:8443/a").error.message.startswith(
        "shop.example "
    )
    assert saywhy.from_response(404, {}, b"").error.message.startswith("The site ")


@pytest.mark.parametrize(
    ("status", "why"), [(42, "is no HTTP status"), (200, "says that it is a failure"), (304, "says")]
)
def test_from_response_refuses(status: int, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        saywhy.from_response(status, HTML, "<title>Welcome to the shop</title>")


@pytest.mark.parametrize("status", [99, 1000, -1, 0, "404", None, 404.0])
def test_what_is_no_status_is_refused_in_a_sentence(status: object) -> None:
    with pytest.raises(ValueError, match="is no HTTP status; give a number from 100 to 999"):
        saywhy.from_response(status, {}, b"")  # type: ignore[arg-type]


SURROGATE = "lone \ud800 and \udc80"


@pytest.mark.parametrize("now", [None, 0.0, float("nan"), float("inf"), float("-inf"), 1e300])
def test_from_response_takes_any_text_and_any_clock(now: float | None) -> None:
    for status in (400, 404, 429, 503, 999):
        envelope = saywhy.from_response(
            status,
            {"X-Odd": SURROGATE, SURROGATE: ["a", SURROGATE], "Retry-After": "Fri, 15 Jan 2027 08:01:00 GMT"},
            f"<title>{SURROGATE}</title>",
            url=f"https://shop.example/{SURROGATE}?{SURROGATE}",
            request_headers=[("X-Odd", SURROGATE)],
            now=now,
        )
        json.dumps(envelope.as_dict(), ensure_ascii=False).encode("utf-8")
    with pytest.raises(ValueError, match="nothing in this response with status 200"):
        saywhy.from_response(200, {"X-Odd": SURROGATE}, SURROGATE, now=now)


def test_from_response_takes_what_libraries_hand_out() -> None:
    headers: Any = {"Retry-After": 7, "Content-Type": b"text/html", b"X-Id": ("a", "b")}
    for body in (b"x", bytearray(b"x"), memoryview(b"x"), "x"):
        envelope = saywhy.from_response(429, headers, body, url="http://[not an address/")  # type: ignore[arg-type]
        assert envelope.error.retry_after == 7
