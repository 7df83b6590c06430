"""The three renderings: exact documents, and texts that try to become markup."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from saywhy.core.compose import Found, bare, compose
from saywhy.core.model import Evidence, FieldError, Fields, Head, Request, Response
from saywhy.core.render import RENDERINGS, markdown, render
from saywhy.core.scrub import Scrubber

SCRUBBER = Scrubber()


def _envelope(status: int = 429, **said: Any) -> Any:
    head = Head(
        Request("GET", b"/a", Fields.of({"Host": "shop.example"})),
        Response(status, Fields.of({"Retry-After": "30"})),
    )
    evidence = [Evidence(decided_by="dialect", **said)] if said else []
    return compose(Found(head, evidence, instance=True), scrubber=SCRUBBER, now=0).envelope


def test_json_is_the_envelope() -> None:
    envelope = _envelope()
    assert json.loads(render(envelope, "application/json", status=429)) == envelope.as_dict()


def test_problem_details() -> None:
    envelope = _envelope()
    problem = json.loads(render(envelope, "application/problem+json", status=429))
    error = problem.pop("error")
    assert problem == {
        "type": "/.well-known/agent-errors/codes/rate_limited",
        "title": "Rate limited",
        "status": 429,
        "detail": "shop.example has had too many requests and asks to wait.",
        "instance": "/a",
        "retryable": True,
        "retry_after": 30,
    }
    assert {**error, "instance": "/a"} == envelope.as_dict()["error"]


@pytest.mark.parametrize(
    ("public_url", "link"),
    [
        ("", "/.well-known/agent-errors/codes/not_found"),
        ("https://shop.example", "https://shop.example/.well-known/agent-errors/codes/not_found"),
        ("https://shop.example/", "https://shop.example/.well-known/agent-errors/codes/not_found"),
    ],
)
def test_the_type_of_a_problem(public_url: str, link: str) -> None:
    problem = json.loads(
        render(_envelope(404), "application/problem+json", status=404, public_url=public_url)
    )
    assert problem["type"] == link
    assert problem["retryable"] is False
    assert "retry_after" not in problem


def test_a_site_code_is_quoted_in_the_type() -> None:
    problem = json.loads(render(_envelope(400, code="a/b?c"), "application/problem+json", status=400))
    assert problem["type"].endswith("/codes/a%2Fb%3Fc")


def _front(body: bytes) -> tuple[dict[str, Any], str]:
    _, front, rest = body.decode().split("---\n", 2)
    return yaml.safe_load(front), rest


def test_markdown() -> None:
    front, text = _front(render(_envelope(), "text/markdown", status=429))
    assert front == {
        "status": 429, "code": "rate_limited", "retry": "after_delay", "retry_after": 30, "kind": "rate_limited",
        "origin": "budget", "recovery_action": "retry_later", "same_arguments": "conditional",
        "side_effects": "none_expected",
    }  # fmt: skip
    assert "# Rate limited\n" in text
    assert "shop.example has had too many requests and asks to wait." in text
    assert text.endswith("## What to do\n\nWait 30 seconds, then send the same request again.\n")


def test_markdown_lists_what_an_agent_needs() -> None:
    faults = (FieldError("name", "It is too long.", None), FieldError("age_years", "It is no number.", None))
    envelope = _envelope(
        422, code="invalid_input", errors=faults, valid=("red", "green"), hint="Look at the form."
    )
    _, text = _front(render(envelope, "text/markdown", status=422))
    assert "Field: name\n" in text
    assert "- age_years: It is no number.\n" in text
    assert "Valid values: red, green\n" in text
    assert "Hint: Look at the form.\n" in text


HOSTILE = [
    "[click](http://evil.example)", "![x](http://evil.example/x.png)", "# heading", "---", "> quote", "- item", "1. item",
    "`code`", "*bold* _it_", "<b>x</b>", "a | b", "\\", "<!-- x -->", "https://evil.example", "key: value", "~~~", "+ item",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_text_cannot_become_markup(text: str) -> None:
    escaped = markdown.escape(text)
    assert "\n" not in escaped
    for sign in "`*[]<|":
        assert all(escaped[at - 1] == "\\" for at, char in enumerate(escaped) if char == sign and at)
    assert escaped.replace("\\", "") == text.replace("\\", "")
    assert not escaped.startswith(("-", "#", ">", "+", "*", "1."))


@given(st.text(max_size=100), st.text(max_size=60))
def test_no_text_of_a_site_gets_into_the_front_matter(message: str, code: str) -> None:
    envelope = _envelope(400, code=code or None, message=message)
    body = render(envelope, "text/markdown", status=400).decode()
    front = body.split("---\n")[1]
    assert len(front.splitlines()) == 9
    loaded = yaml.safe_load(front)
    assert loaded["status"] == 400
    assert isinstance(loaded["code"], str)


@pytest.mark.parametrize("media", RENDERINGS)
@pytest.mark.parametrize("status", range(400, 600))
def test_every_status_renders(media: str, status: int) -> None:
    head = Head(Request("POST"), Response(status))
    body = render(bare(head, now=0), media, status=status)
    assert body.decode("utf-8")
    assert RENDERINGS[media].content_type.startswith(media)


@pytest.mark.parametrize(
    "text",
    [
        "effect: check (twice) if you can!",
        "page_size is 3 + 4 = 7",
        "AT&T 10 # 4 ^ 2",
        "a - b. c",
        "user@shop",
    ],
)
def test_what_is_no_markup_is_not_escaped(text: str) -> None:
    assert markdown.escape(text) == text


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("https://evil.example", "https\\://evil.example"),
        ("www.evil.example", "www\\.evil.example"),
        ("![x](y)", "!\\[x\\](y)".replace("!", "\\!", 1)),
        ("_it_", "\\_it\\_"),
        ("&lt;b", "\\&lt;b"),
        (": term", "\\: term"),
        ("12. item", "12\\. item"),
        ("+ item", "\\+ item"),
        ("# title", "\\# title"),
    ],
)
def test_what_is_markup_is_escaped(text: str, escaped: str) -> None:
    assert markdown.escape(text) == escaped
