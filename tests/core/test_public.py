"""The public names: what they are, what they cost, what they raise."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

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
    ("status", "why"), [(42, "is not an HTTP status"), (200, "says that it is a failure"), (304, "says")]
)
def test_from_response_refuses(status: int, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        saywhy.from_response(status, HTML, "<title>Welcome to the shop</title>")
