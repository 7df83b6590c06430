"""Tokens in a path stay out of the log; whatever helps to find a line again stays in it."""

from __future__ import annotations

import json

import pytest

from saywhy.core.model import Outcome
from saywhy.edge.journal import JsonLines, TextLines
from saywhy.edge.pathmask import PathMask

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJwbGFudGVkIn0.c2lnbmF0dXJlLXBsYW50ZWQ"

MASKED = [
    (f"/reset/{JWT}", "/reset/[redacted]"),
    (f"/reset/{JWT}/now", "/reset/[redacted]/now"),
    ("/x;password=hunter2", "/x;password=[redacted]"),
    ("/x;password=hunter2;page=2/y", "/x;password=[redacted];page=2/y"),
    ("/x%3Bpassword%3Dhunter2", "/x;password=[redacted]"),
    ("/%3bpwd%3dhunter2", "/;pwd=[redacted]"),
    ("/a;jsessionid=8A7B6C5D4E3F2A1B8A7B6C5D4E3F2A1B", "/a;jsessionid=[redacted]"),
    ("/magic/9xKq27LmZp4RtYw8VbNcD3fGh5Js", "/magic/[redacted]"),
    ("/u/ghp_abcdefghijklmnopqrstuvwxyz0123456789", "/u/[redacted]"),
    ("/" + "a/" * 200 + JWT * 4, "/" + "a/" * 200 + "[redacted]..."),
]

LOOK_ALIKES = [
    "/",
    "/products/12345",
    "/api/v1/items/550e8400-e29b-41d4-a716-446655440000",
    "/blog/how-to-buy-an-iphone-15-pro-max-2024-edition",
    "/blog/How-To-Buy-An-iPhone-15-Pro-Max-2024",
    "/commit/785f8a9c4e7c3acc8492ac3aae6bf534d9f785f8",
    "/static/main.3f2a9c8b7d6e5f4a3b2c1d0e.js",
    "/account/password-reset-confirmation-page",
    "/x;v=1.2/y",
    "/map/@52.52,13.40,15z/data=!3m1!4b1",
    "/wiki/Liste_der_Wappen_(Landkreis)_1990-2000",
    "/caf%C3%A9/%E4%BD%A0%E5%A5%BD%E4%B8%96%E7%95%8C",
    "/caf\xe9",
    "/" + "x" * 600,
]


@pytest.mark.parametrize(("path", "shown"), MASKED)
def test_a_token_is_masked_in_both_kinds_of_line(path: str, shown: str) -> None:
    assert PathMask()(path) == shown
    outcome = Outcome(0.0, "GET", "h", path, "u", "i", "", 404, 404, 1, 1, 0.1, 0.1, 0.0, None)
    assert json.loads(JsonLines()(outcome, "warning"))["path"] == shown
    assert f" h{shown} " in TextLines(colours=False)(outcome, "warning")


@pytest.mark.parametrize("path", LOOK_ALIKES)
def test_a_path_without_one_stays(path: str) -> None:
    shown = PathMask()(path)
    assert path.startswith(shown.removesuffix("..."))
    assert len(shown) == min(len(path), 515)


def test_what_is_remembered_is_bounded() -> None:
    mask = PathMask()
    for number in range(2000):
        mask(f"/reset/{JWT}{number}" + "x" * 8000)
    assert len(mask._known) <= 512
    assert max(map(len, mask._known)) <= 512
