"""The journal: a line stays a line whatever a caller chose, and a reader who stalls stalls nobody."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import threading
import time
from typing import Any

import pytest

from saywhy.core.model import Caller, Fields, Outcome, Verdict
from saywhy.edge.events import open_events, style_for
from saywhy.edge.journal import Journal, JsonLines, TextLines, level_of
from saywhy.edge.lines import LINE_COST, WAITING_BYTES
from saywhy.edge.pathmask import PATH_CHARS

OK = Outcome(
    1000000000.25,
    "GET",
    "shop.example",
    "/a",
    "shop",
    "id-1",
    "00-aa-bb-01",
    200,
    200,
    100,
    900,
    0.004,
    0.003,
    0.0,
    None,
)
VERDICT = Verdict(
    action="rewrite", status=403, fields=Fields(), body=b"{}", code="needs_human", caller=Caller(True, "accept"),
    decided_by="rule", rule="captcha/box", original_status=403, original_bytes=8400, redactions={"jwt": 2},
    shadow_rules=("login/form",),
)  # fmt: skip
ERROR = OK._replace(original_status=403, sent_status=403, verdict=VERDICT, rewrite_duration=0.0003)
NASTY = [
    '"',
    "\\",
    "\n",
    "\r\n",
    "\x00\x1b[31m",
    "\x7f\x85\x9b",
    "\u2028\u2029",
    "\u202eabc",
    '","level":"error',
    "\ud800",
    "é\xff",
]


def line(outcome: Outcome) -> dict[str, Any]:
    """The JSON line of `outcome`, read back; exactly one line of printable ASCII."""
    text = JsonLines()(outcome, level_of(outcome))
    assert text.endswith("}\n")
    assert text[:-1].isascii()
    assert text[:-1].isprintable()
    read = json.loads(text)
    assert isinstance(read, dict)
    return read


def test_a_success() -> None:
    assert line(OK) == {
        "time": "2001-09-09T01:46:40.250Z", "level": "info", "caller": "unknown", "method": "GET", "host": "shop.example",
        "path": "/a", "upstream": "shop", "original_status": 200, "status": 200, "bytes_in": 100, "bytes_out": 900,
        "duration_ms": 4.0, "upstream_ms": 3.0, "request_id": "id-1", "traceparent": "00-aa-bb-01",
    }  # fmt: skip


def test_an_error_at_which_nobody_had_to_look() -> None:
    read = line(OK._replace(original_status=404, sent_status=404))
    assert (read["level"], read["caller"], read["action"], read["reason"]) == (
        "warning",
        "other",
        "pass",
        "not_agent",
    )
    ours = line(OK._replace(original_status=0, sent_status=502, failure="connection_refused"))
    assert (ours["caller"], "reason" in ours) == ("unknown", False)
    assert "other pass not_agent" in TextLines(colours=False)(OK._replace(sent_status=404), "warning")


def test_a_rewritten_error() -> None:
    read = line(ERROR)
    assert read["level"] == "warning"
    assert {key: read[key] for key in list(read)[15:]} == {
        "action": "rewrite", "source": "site", "caller_by": "accept", "code": "needs_human", "decided_by": "rule",
        "original_bytes": 8400, "rewrite_ms": 0.3, "rule": "captcha/box", "redactions": {"jwt": 2},
        "shadow_rules": ["login/form"],
    }  # fmt: skip


def test_what_would_have_been_done_in_shadow_mode_is_told_from_off() -> None:
    would = dataclasses.replace(
        VERDICT, action="pass", body=None, reason="opted_out", redactions={}, shadow_rules=()
    )
    shadow = line(ERROR._replace(verdict=would))
    told = {key: shadow.get(key) for key in ("action", "mode", "code", "rule", "decided_by")}
    assert told == {
        "action": "pass", "mode": "shadow", "code": "needs_human", "rule": "captcha/box", "decided_by": "rule",
    }  # fmt: skip
    assert "agent pass shadow: needs_human by captcha/box" in TextLines(colours=False)(
        ERROR._replace(verdict=would), "warning"
    )
    off = line(ERROR._replace(verdict=dataclasses.replace(would, code="", rule=None, decided_by="status")))
    assert (off["reason"], {"mode", "code", "rule", "decided_by"} & set(off)) == ("opted_out", set())


def test_a_success_that_was_looked_at_and_left_alone_has_no_code() -> None:
    verdict = dataclasses.replace(
        VERDICT, action="pass", status=200, body=None, code="", rule=None, decided_by="status", redactions={},
        shadow_rules=(),
    )  # fmt: skip
    read = line(OK._replace(verdict=verdict))
    assert read["action"] == "pass"
    assert not {"code", "decided_by", "rule", "mode", "reason"} & set(read)
    assert TextLines(colours=False)(OK._replace(verdict=verdict), "info").endswith(" agent pass\n")


LEVELS = [
    (OK, "info"),
    (OK._replace(sent_status=304), "info"),
    (OK._replace(sent_status=404), "warning"),
    (OK._replace(sent_status=500), "warning"),
    (OK._replace(sent_status=502, failure="connection_refused"), "error"),
    (OK._replace(sent_status=400, failure="http_request_error"), "warning"),
    (ERROR, "warning"),
    (ERROR._replace(verdict=dataclasses.replace(VERDICT, fault="ValueError")), "error"),
    (OK._replace(verdict=dataclasses.replace(VERDICT, action="annotate", status=200)), "warning"),
    (OK._replace(verdict=dataclasses.replace(VERDICT, action="pass", status=200, code="")), "info"),
]


@pytest.mark.parametrize(("outcome", "level"), LEVELS)
def test_levels(outcome: Outcome, level: str) -> None:
    assert level_of(outcome) == level
    assert line(outcome)["level"] == level


@pytest.mark.parametrize("nasty", NASTY)
@pytest.mark.parametrize(
    "member", ["method", "host", "path", "upstream", "request_id", "traceparent", "failure"]
)
def test_what_a_caller_chose_stays_inside_its_member(member: str, nasty: str) -> None:
    read = line(OK._replace(**{member: f"a{nasty}b"}))
    assert read[member] == f"a{nasty}b"
    assert read["level"] == "info"


@pytest.mark.parametrize("nasty", NASTY)
def test_a_text_line_holds_no_control_character_of_a_stranger(nasty: str) -> None:
    drawn = TextLines(colours=True)
    plain = drawn(OK, "info")
    text = drawn(OK._replace(path=f"/{nasty}", host=nasty, method=nasty), "info")
    assert text.count("\n") == 1
    assert text.count("\x1b") == plain.count("\x1b")
    assert text.isascii()


def test_long_members_are_cut() -> None:
    long = OK._replace(
        path="/" + "x" * 100_000,
        host="h" * 100_000,
        method="M" * 100_000,
        request_id="r" * 100_000,
        traceparent="t" * 100_000,
    )
    read = line(long)
    assert read["path"] == ("/" + "x" * 100_000)[:PATH_CHARS] + "..."
    assert len(JsonLines()(long, "info")) < 3000
    site_code = ERROR._replace(verdict=dataclasses.replace(VERDICT, code="c" * 100_000, rule="r" * 100_000))
    assert len(JsonLines()(site_code, "warning")) < 2000


def test_times_of_other_seconds_are_not_mixed_up() -> None:
    lines = JsonLines()
    times = [
        json.loads(lines(OK._replace(started=started), "info"))["time"]
        for started in (0.0, 59.9996, 60.0, 0.001)
    ]
    assert times == [
        "1970-01-01T00:00:00.000Z",
        "1970-01-01T00:00:59.999Z",
        "1970-01-01T00:01:00.000Z",
        "1970-01-01T00:00:00.001Z",
    ]


def test_lines_arrive_within_a_second_and_at_the_end(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    journal = Journal(writer)
    started = time.monotonic()
    journal.record(OK)
    first = os.read(reader, 65536)
    assert time.monotonic() - started < 2.5
    assert json.loads(first)["path"] == "/a"
    journal.record(OK._replace(path="/last"))
    journal.close()
    assert json.loads(os.read(reader, 65536))["path"] == "/last"
    assert journal.dropped == 0


def test_lines_below_the_level_are_left_out(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    journal = Journal(writer, level="error")
    for outcome in (OK, ERROR, OK._replace(sent_status=504, failure="connection_timeout")):
        journal.record(outcome)
    journal.close()
    assert [json.loads(one)["status"] for one in os.read(reader, 65536).splitlines()] == [504]


def test_a_reader_who_stalls_costs_lines_and_no_time(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    journal = Journal(writer)
    slowest = 0.0
    offered = 2 * WAITING_BYTES // (len(JsonLines()(OK, "info")) + LINE_COST)
    for _ in range(offered):
        before = time.perf_counter()
        journal.record(OK)
        slowest = max(slowest, time.perf_counter() - before)
    assert slowest < 0.5
    dropped = journal.dropped
    assert dropped > 0
    read: list[bytes] = []

    def drain() -> None:
        while block := os.read(reader, 1 << 20):
            read.append(block)

    draining = threading.Thread(target=drain)
    draining.start()
    journal.close(timeout=20)
    os.close(writer)
    draining.join(20)
    lines = [json.loads(one) for one in b"".join(read).splitlines()]
    gaps = [one for one in lines if "event" in one]
    assert sum(one["count"] for one in gaps) == dropped
    assert len(lines) - len(gaps) == offered - dropped


def test_close_does_not_wait_for_a_reader_who_never_comes(pipe: tuple[int, int]) -> None:
    journal = Journal(pipe[1])
    for _ in range(2000):
        journal.record(OK)
    started = time.monotonic()
    journal.close(timeout=0.2)
    assert time.monotonic() - started < 2
    os.close(pipe[0])  # the thread's write fails now
    journal._lines._thread.join(5)
    assert not journal._lines._thread.is_alive()


def test_a_reader_who_left_is_counted_and_nothing_is_raised(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    os.close(reader)
    journal = Journal(writer)
    journal.record(OK)
    journal.close()
    assert journal.dropped == 1


def test_events() -> None:
    out = io.StringIO()
    events = open_events("json", "warning", out)
    events.info("said", "Not worth a line.")
    events.error("reload_refused", "Reload refused.", problems=["a:1: b"])
    read = json.loads(out.getvalue())
    assert list(read)[:2] == list(line(OK))[:2] == ["time", "level"]
    assert len(read["time"]) == len(line(OK)["time"])
    assert (read["event"], read["message"], read["level"], read["problems"]) == (
        "reload_refused", "Reload refused.", "error", ["a:1: b"],
    )  # fmt: skip
    assert read["time"].endswith("Z")
    plain = io.StringIO()
    open_events("text", stream=plain).info(
        "upstream_away", "Upstream shop is away after 10 tries.", upstream="shop", tries=10, port=1
    )
    # What the sentence says is not said twice; the 1 within its 10 is another number.
    assert plain.getvalue().endswith(" info Upstream shop is away after 10 tries. port=1\n")
    assert "\x1b" not in plain.getvalue()


def test_style() -> None:
    assert [style_for(wanted, io.StringIO()) for wanted in ("auto", "json", "text")] == [
        "json",
        "json",
        "text",
    ]
