"""Reading saved responses: what comes out, and what is complained about with which words."""

from __future__ import annotations

import base64
import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from saywhy.cli import recordings
from saywhy.cli.recordings import Complaint, Expectation, Recording, find, read

ACCEPT = "application/problem+json"
GOOD: dict[str, Any] = {
    "id": "one",
    "status": 404,
    "headers": {"Content-Type": "text/html"},
    "body": "<h1>No</h1>",
}


def write(folder: Path, *records: object, name: str = "r.jsonl") -> Path:
    """A file of lines; a string stands as it is."""
    text = "\n".join(record if isinstance(record, str) else json.dumps(record) for record in records).encode()
    file = folder / name
    file.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    return file


def items(file: Path) -> list[Recording | Complaint]:
    return [one.item for one in read(file, ACCEPT)]


def recording(folder: Path, **members: object) -> Recording:
    """The one recording of GOOD with other members; None takes one away."""
    record = {name: value for name, value in (GOOD | members).items() if value is not None}
    (only,) = items(write(folder, record))
    assert isinstance(only, Recording), only
    return only


def test_a_record_becomes_two_heads_and_a_body(tmp_path: Path) -> None:
    made = recording(tmp_path, method="post", url="https://shop.example:8443/cart?sku=1")
    assert (made.id, made.head.response.status, made.body) == ("one", 404, b"<h1>No</h1>")
    request = made.head.request
    assert (request.method, request.target, request.host, request.scheme) == (
        "POST",
        b"/cart?sku=1",
        "shop.example:8443",
        "https",
    )
    assert request.fields.get("accept") == ACCEPT
    assert made.expectation is None


def test_a_value_may_be_a_list(tmp_path: Path) -> None:
    made = recording(tmp_path, headers={"Set-Cookie": ["a=1", "b=2"], "X": "y"})
    assert made.head.response.fields.all("set-cookie") == ["a=1", "b=2"]


def test_a_body_stored_as_text_is_utf_8_and_has_no_framing_or_coding(tmp_path: Path) -> None:
    headers = {
        "Content-Type": "text/html; charset=shift_jis",
        "Content-Encoding": "gzip",
        "Content-Length": "9",
        "Transfer-Encoding": "chunked",
    }
    made = recording(tmp_path, headers=headers, body="売り切れ")
    assert made.body.decode("utf-8") == "売り切れ"
    assert made.head.response.fields.lines == ((b"Content-Type", b"text/html; charset=utf-8"),)


def test_a_body_stored_as_bytes_keeps_its_charset(tmp_path: Path) -> None:
    raw = "売り切れ".encode("shift_jis")
    made = recording(
        tmp_path,
        headers={"Content-Type": "text/html; charset=shift_jis"},
        body=None,
        body_base64=base64.b64encode(raw).decode(),
    )
    assert made.body == raw
    assert made.head.response.fields.get("content-type") == "text/html; charset=shift_jis"


def test_a_body_may_be_a_file_beside_the_record(tmp_path: Path) -> None:
    (tmp_path / "bodies").mkdir()
    (tmp_path / "bodies/one.html").write_bytes(b"\xff<p>")
    assert recording(tmp_path, body=None, file="bodies/one.html").body == b"\xff<p>"


def test_a_body_wins_over_the_name_of_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert recording(tmp_path, file="gone.html").body == b"<h1>No</h1>"


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"expected_code": "not_found"}, Expectation("not_found")),
        ({"expected_code": None, "look_alike": True}, Expectation(None)),
        (
            {"expected_code": "conflict", "also_acceptable": ["internal"], "expected_field": "sku"},
            Expectation("conflict", ("internal",), "sku"),
        ),
    ],
)
def test_expectations(tmp_path: Path, members: dict[str, Any], expected: Expectation) -> None:
    (only,) = items(write(tmp_path, GOOD | members))
    assert isinstance(only, Recording)
    assert only.expectation == expected


MISTAKES: dict[str, tuple[object, str]] = {
    "not JSON": ('{"status": 404', "not JSON"),
    "no object": ([404], "a record is a JSON object"),
    "no status": ({"headers": {}}, "status must be a number of three digits, not null"),
    "status a word": (GOOD | {"status": "404"}, 'status must be a number of three digits, not "404"'),
    "status too large": (GOOD | {"status": 99999}, "status must be a number of three digits"),
    "headers a list": (GOOD | {"headers": ["a"]}, "headers must be an object"),
    "body a number": (GOOD | {"body": 7}, "body must be a string; use body_base64 for bytes."),
    "not base64": ({"status": 404, "body_base64": "%%%"}, "body_base64 is not base64."),
    "file outside": ({"status": 404, "file": "../../etc/passwd"}, "a name below the record's own folder"),
    "file absolute": ({"status": 404, "file": "/etc/passwd"}, "a name below the record's own folder"),
    "file gone": ({"status": 404, "file": "gone.html"}, "'gone.html' cannot be read (no such file"),
    "nested too deep": ('{"status": 404, "x": ' + "[" * 200_000 + "]" * 200_000 + "}", "nested too deep"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_bad_line_is_named_and_the_others_are_read(tmp_path: Path, mistake: str) -> None:
    line, words = MISTAKES[mistake]
    file = write(tmp_path, GOOD, "", line, GOOD | {"id": "last"})
    first, complaint, last = items(file)
    assert isinstance(complaint, Complaint)
    assert str(complaint).startswith(f"{file}:3: ")
    assert words in complaint.message
    assert [one.id for one in (first, last) if isinstance(one, Recording)] == ["one", "last"]


def test_gzip(tmp_path: Path) -> None:
    assert len(items(write(tmp_path, GOOD, GOOD, name="r.jsonl.gz"))) == 2


def test_a_torn_gzip_gives_what_came_and_a_sentence(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        *[GOOD | {"id": str(number), "body": f"{number * 7919}" * 50} for number in range(2000)],
        name="r.jsonl.gz",
    )
    file.write_bytes(file.read_bytes()[:-2000])
    *good, last = items(file)
    assert good
    assert all(isinstance(one, Recording) for one in good[:100])
    assert isinstance(last, Complaint)
    assert str(last).startswith(str(file))


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("gone.jsonl", None, "cannot be read: No such file"),
        ("r.jsonl.gz", b"plainly no gzip", "cannot be read"),
        ("r.har", b"{}", "no HAR: log.entries is missing."),
        ("r.har", b"<html>", "not JSON"),
        ("r.pcap", b"", "unknown kind of file; known are .http, .har"),
    ],
)
def test_a_bad_file_is_one_complaint(tmp_path: Path, name: str, content: bytes | None, words: str) -> None:
    file = tmp_path / name
    if content is not None:
        file.write_bytes(content)
    (only,) = items(file)
    assert isinstance(only, Complaint)
    assert str(only).startswith(f"{file}: ")
    assert words in only.message


def test_har(tmp_path: Path) -> None:
    request = {
        "method": "POST",
        "url": "https://shop.example/cart",
        "headers": [{"name": "Accept", "value": "text/html"}],
    }
    headers = [
        {"name": ":status", "value": "409"},
        {"name": "content-type", "value": "text/html"},
        {"name": "content-encoding", "value": "br"},
    ]
    good = {
        "request": request,
        "response": {"status": 409, "headers": headers, "content": {"text": "<h1>Sold out</h1>"}},
    }
    coded = {
        "request": request,
        "response": {"status": 500, "headers": [], "content": {"text": "/w==", "encoding": "base64"}},
    }
    blocked = {"request": request, "response": {"status": 0, "headers": [], "content": {}}}
    file = tmp_path / "visit.har"
    file.write_text(json.dumps({"log": {"entries": [good, blocked, {}, coded]}}))
    first, second, third, last = items(file)
    assert isinstance(first, Recording)
    assert isinstance(last, Recording)
    assert (first.id, first.head.request.method, first.head.request.host) == (
        "visit#1",
        "POST",
        "shop.example",
    )
    assert first.head.request.fields.get("accept") == ACCEPT
    assert first.head.response.fields.lines == ((b"content-type", b"text/html; charset=utf-8"),)
    assert first.body == b"<h1>Sold out</h1>"
    assert last.body == b"\xff"
    for number, bad in ((2, second), (3, third)):
        assert isinstance(bad, Complaint)
        assert f"entry {number}: " in bad.message


def test_a_folder_means_every_known_file_below_it(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    for name in ("b/x.http", "a.jsonl", "b/c.har", "notes.txt", "d.jsonl.gz"):
        (tmp_path / name).write_bytes(b"")
    assert [str(file.relative_to(tmp_path)) for file in find(tmp_path)] == [
        "a.jsonl",
        "b/c.har",
        "b/x.http",
        "d.jsonl.gz",
    ]


HALF = "\\ud800"

ODD_RECORDS = [
    ('{"id": "' + HALF + '", "status": 404}', 'id holds half a character (a lone surrogate, "\\ud800")'),
    ('{"status": 404, "headers": {"a' + HALF + '": "b"}}', "a header's name holds half a character"),
    ('{"status": 404, "headers": {"a": ["b' + HALF + '"]}}', 'the header "a" holds half a character'),
    ('{"status": 404, "url": "https://a' + HALF + '.example/"}', "url holds half a character"),
    ('{"status": 404, "expected_code": "' + HALF + '"}', "expected_code holds half a character"),
    ('{"status": 404, "file": "' + HALF + '"}', "file holds half a character"),
    ('{"status": 404, "file": "a\\u0000b"}', "the body's file 'a?b' cannot be read"),
    ('{"status": true}', "status must be a number of three digits, not true."),
    ('{"status": ' + "9" * 5000 + "}", "not a record: it holds a number without end."),
    ('{"status": 404, "headers": {"a": {"b": 1}}}', 'the header "a" must be a text or a list of texts.'),
    (
        '{"status": 404, "expected_code": "a", "also_acceptable": 5}',
        "also_acceptable must be a list of codes",
    ),
    ('{"status": 404, "url": "http://[::1"}', "url is no URL"),
]


@pytest.mark.parametrize(("record", "complaint"), ODD_RECORDS)
def test_an_odd_record_is_told_in_a_sentence(tmp_path: Path, record: str, complaint: str) -> None:
    wrong, right = items(write(tmp_path, record, GOOD))
    assert isinstance(wrong, Complaint)
    assert wrong.message.startswith(complaint)
    assert isinstance(right, Recording)


def test_half_a_character_in_a_body_is_no_reason_to_leave_the_record_out(tmp_path: Path) -> None:
    (made,) = items(write(tmp_path, '{"status": 404, "headers": {}, "body": "a' + HALF + 'b"}'))
    assert isinstance(made, Recording)
    assert made.body == b"a?b"


def test_a_body_in_a_named_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (made,) = items(write(tmp_path, {"status": 404, "file": "pipe"}))
    assert str(made).endswith("the body's file 'pipe' is a named pipe, not a file.")


@pytest.mark.parametrize("name", ["r.jsonl", "r.jsonl.gz"])
def test_a_line_that_is_too_long_is_one_complaint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(recordings, "RECORD_BYTES", 1 << 20)
    wrong, right = items(write(tmp_path, {"status": 404, "body": "x" * (5 << 20)}, GOOD, name=name))
    assert str(wrong).endswith(f"{name}:1: is longer than 1 MiB; keep what the rules need.")
    assert isinstance(right, Recording)


ASKED = {"method": "GET", "url": "https://shop.example/"}
ODD_ENTRIES: list[tuple[Any, str]] = [
    (5, "an entry is an object with request and response."),
    ({}, "request must be an object."),
    ({"request": ASKED}, "response must be an object."),
    ({"request": ASKED, "response": {}}, "status must be a number of three digits, not null."),
    ({"request": ASKED, "response": {"status": "x"}}, 'status must be a number of three digits, not "x".'),
    ({"request": ASKED, "response": {"status": 0}}, "the exchange has no status; the browser got no answer."),
    ({"request": ASKED, "response": {"status": 404, "headers": [5]}}, "response.headers must be a list of objects"),
    ({"request": ASKED, "response": {"status": 404, "headers": 7}}, "response.headers must be a list of objects"),
    ({"request": ASKED, "response": {"status": 404, "content": [1]}}, "content must be an object."),
    ({"request": ASKED, "response": {"status": 404, "content": {"text": 5}}}, "content.text must be a text."),
    (
        {"request": ASKED, "response": {"status": 404, "content": {"text": "%%", "encoding": "base64"}}},
        "content.text is not base64.",
    ),
    ({"request": {"method": "GET", "url": "http://[::1"}, "response": {"status": 404}}, "url is no URL"),
]  # fmt: skip


@pytest.mark.parametrize(("entry", "complaint"), ODD_ENTRIES)
def test_an_odd_entry_is_told_without_a_word_of_python(tmp_path: Path, entry: Any, complaint: str) -> None:
    file = tmp_path / "a.har"
    file.write_text(json.dumps({"log": {"entries": [entry]}}))
    (wrong,) = items(file)
    assert isinstance(wrong, Complaint)
    assert wrong.message.startswith(f"entry 1: {complaint}")
    assert "Error" not in wrong.message
