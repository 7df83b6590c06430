"""explain, test, replay and rules on packs written here: good ones, wrong ones, missing ones."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from saywhy.cli import run

RULES = """
pack: bakery
about: What this bakery says.
rules:
  - id: cold-oven
    about: The oven is cold.
    when: {status: [404], contains: [oven is cold]}
    then: {code: temporarily_unavailable, message: The bakery is closed today., retry_after: 600}
  - id: eaten
    about: All eaten.
    when: {status: [409], contains: [all eaten]}
    then: {code: out_of_stock, message: "All of it is eaten."}
"""
COLD = "HTTP/1.1 404 Not Found\nContent-Type: text/html\n\n<html><title>Bakery</title><h1>The oven is cold today</h1>"
EATEN = "POST /buy HTTP/1.1\nHost: bakery.example\n\nHTTP/1.1 409 Conflict\nContent-Type: text/html\n\n<h1>All eaten</h1>"
WARM = "# No oven in it.\nHTTP/1.1 404 Not Found\nContent-Type: text/html\n\n<h1>No such bread</h1>"

Say = Callable[..., tuple[int, str, str]]


@pytest.fixture
def bakery(tmp_path: Path) -> Path:
    """A folder of packs with one pack, with examples and no expected side."""
    pack = tmp_path / "rules/bakery"
    (pack / "examples").mkdir(parents=True)
    (pack / "rules.yaml").write_text(RULES)
    for name, text in {
        "cold-oven": COLD,
        "eaten": EATEN,
        "look-alike-cold-oven": WARM,
        "look-alike-eaten": WARM,
    }.items():
        (pack / f"examples/{name}.http").write_text(text)
    return pack.parent


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Say:
    """Run a command: exit code, standard output, standard error."""

    def said(*words: object) -> tuple[int, str, str]:
        code = run([str(word) for word in words])
        heard = capsys.readouterr()
        assert "Traceback" not in heard.err
        return code, heard.out, heard.err

    return said


# test


def test_update_writes_the_expected_side_and_then_all_hold(say: Say, bakery: Path) -> None:
    code, out, _ = say("test", bakery)
    assert code == 1
    assert out.count("has no expected envelope yet; --update writes it") == 2
    code, out, _ = say("test", bakery, "--update")
    assert (code, out.count("wrote ")) == (0, 2)
    expected = json.loads((bakery / "bakery/examples/cold-oven.json").read_text())
    assert expected["error"]["code"] == "temporarily_unavailable"
    assert expected["error"]["retry_after"] == 600
    code, out, _ = say("test", bakery)
    assert code == 0
    assert "All 4 hold." in out
    assert ["bakery", "2", "2", "2", "0"] in [line.split() for line in out.splitlines()]


def test_another_envelope_is_shown_as_a_diff(say: Say, bakery: Path) -> None:
    say("test", bakery, "--update")
    rules = bakery / "bakery/rules.yaml"
    rules.write_text(rules.read_text().replace("closed today", "closed on Mondays"))
    code, out, _ = say("test", bakery)
    assert code == 1
    assert "cold-oven.http: gives another envelope." in out
    assert '-    "message": "The bakery is closed today.",' in out.splitlines()
    assert '+    "message": "The bakery is closed on Mondays.",' in out.splitlines()
    assert "1 of 4 fail." in out


WRONG = {
    "an example that its rule leaves alone": (
        "cold-oven",
        WARM,
        "must be answered by bakery/cold-oven, and no rule does",
    ),
    "an example that another rule takes": (
        "cold-oven",
        EATEN,
        "must be answered by bakery/cold-oven, and bakery/eaten answers",
    ),
    "a look-alike that is answered": (
        "look-alike-eaten",
        EATEN,
        "is answered by bakery/eaten, and must not be",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_an_example_may_get_wrong(say: Say, bakery: Path, case: str) -> None:
    name, text, words = WRONG[case]
    say("test", bakery, "--update")
    file = bakery / f"bakery/examples/{name}.http"
    file.write_text(text)
    code, out, _ = say("test", bakery, "--update")
    assert code == 1, "what is wrong is never written down as right"
    assert f"{file}: {words}." in out
    code, out, _ = say("test", file, "--json")
    (line,) = [json.loads(line) for line in out.splitlines()]
    assert (code, line["ok"], line["problem"]) == (1, False, words)


@pytest.mark.parametrize(
    ("spoil", "exit_code", "words"),
    [
        (
            lambda folder: (folder / "bakery/examples/eaten.http").write_text("hello"),
            1,
            "eaten.http:1: is no status line",
        ),
        (
            lambda folder: (folder / "bakery/rules.yaml").write_text(RULES.replace("contains", "contanis")),
            2,
            "contanis",
        ),
        (
            lambda folder: [one.unlink() for one in (folder / "bakery/examples").iterdir()],
            1,
            "No examples below",
        ),
    ],
    ids=["unreadable", "wrong rules", "none"],
)
def test_what_stops_a_test(
    say: Say, bakery: Path, spoil: Callable[[Path], object], exit_code: int, words: str
) -> None:
    spoil(bakery)
    code, _, err = say("test", bakery)
    assert code == exit_code
    assert words in err


# rules


def test_rules_are_listed_in_their_order_with_their_proofs(say: Say, bakery: Path) -> None:
    code, out, _ = say("rules", "--rules", bakery, "--json")
    lines = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [line["id"] for line in lines[:2]] == ["cold-oven", "eaten"]
    assert (lines[0]["examples"], lines[0]["look_alikes"], lines[0]["mode"]) == (1, 1, "enforce")
    assert len(lines) > 100, "the shipped ones follow"
    code, out, _ = say("rules", "bakery", "--rules", bakery)
    assert out.splitlines()[-1] == "2 rules in 1 pack."


def test_rules_show_what_is_in_force(say: Say, bakery: Path, tmp_path: Path) -> None:
    """An opt-in pack is off until it is named, by the settings or by a route."""

    def modes(text: str) -> dict[str, str]:
        config = tmp_path / "saywhy.yaml"
        config.write_text(f"upstreams: {{default: 'http://127.0.0.1:3000'}}\n{text}")
        lines = [json.loads(line) for line in say("rules", "--config", config, "--json")[1].splitlines()]
        return {line["pack"]: line["mode"] for line in lines}

    usual = modes("rules: {folders: [rules]}\n")
    assert next(iter(usual)) == "bakery"
    assert {pack for pack, mode in usual.items() if mode == "off"} == {
        "crashes",
        "login",
        "soft-404",
        "soft-forms",
    }
    named = modes("rules: {folders: [rules], packs: [login]}\n")
    assert list(named)[:2] == ["login", "bakery"]
    assert {pack for pack in named if usual[pack] != named[pack]} == {"login"}
    routed = modes("rules: {folders: [rules], disable: [edges]}\nroutes: [{path: /a, packs: soft-404}]\n")
    assert (routed["soft-404"], routed["login"], "edges" in routed) == ("enforce", "off", False)
    _, out, _ = say("rules", "login")
    assert out.splitlines()[-1] == "Opt-in and off until rules.packs names them in the settings: login."


def test_a_pack_that_is_not_there(say: Say) -> None:
    code, _, err = say("rules", "bakrey")
    assert code == 2
    assert "No pack 'bakrey'; there are " in err


# explain


def test_explain_tells_before_why_and_after(say: Say, bakery: Path) -> None:
    code, out, _ = say("explain", bakery / "bakery/examples/cold-oven.http", "--rules", bakery)
    assert code == 0
    before, _, rest = out.partition("WHY")
    why, _, after = rest.partition("AFTER")
    assert "HTTP 404" in before
    assert "The oven is cold today" in before
    assert "+ bakery/cold-oven matched" in why
    assert "verdict   rewrite, temporarily_unavailable by bakery/cold-oven, status 404 -> 404" in why
    assert '"detail": "The bakery is closed today."' in after
    assert "Retry-After: 600" in after


def test_explain_names_every_rule_only_when_asked(say: Say, bakery: Path) -> None:
    file = bakery / "bakery/examples/look-alike-eaten.http"
    _, short, _ = say("explain", file, "--rules", bakery)
    _, long, _ = say("explain", file, "--rules", bakery, "--all")
    assert "stopped at the door" in short
    assert "stopped at the door" not in long
    assert "- bakery/eaten stopped: status" in long
    assert len(long.splitlines()) > len(short.splitlines()) + 40


def test_explain_as_a_browser_or_as_a_post(say: Say, bakery: Path) -> None:
    file = bakery / "bakery/examples/cold-oven.http"
    _, out, _ = say("explain", file, "--accept", "text/html", "--json")
    trace = json.loads(out)
    assert (trace["action"], trace["caller"]["agent"]) == ("pass", False)
    _, out, _ = say(
        "explain", file, "--accept", "text/markdown", "--method", "post", "--rules", bakery, "--json"
    )
    trace = json.loads(out)
    assert trace["code"] == "temporarily_unavailable"
    assert trace["after"]["body"].startswith("---\nstatus: 404\n")


def test_explain_reads_standard_input(say: Say, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for text, code, words in ((COLD, 0, "HTTP 404"), ("hello", 2, "standard input:1: is no status line")):
        (tmp_path / "in").write_text(text)
        with (tmp_path / "in").open() as stream:
            monkeypatch.setattr("sys.stdin", stream)
            got, out, err = say("explain", "-")
        assert got == code
        assert words in out + err


class Oven(BaseHTTPRequestHandler):
    """A site that is asked once and says what it was asked for."""

    asked: ClassVar[list[tuple[str, str, str]]] = []

    def do_GET(self) -> None:
        self.asked.append((self.command, self.path, self.headers["Accept"]))
        status, body = (
            (302, b"") if self.path == "/away" else (404, b"<h1>The oven is cold today</h1>" * 60_000)
        )
        self.send_response(status)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Location", "/elsewhere")
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:  # the asker has seen enough
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is logged."""


@pytest.fixture
def oven() -> Iterator[str]:
    Oven.asked.clear()
    with HTTPServer(("127.0.0.1", 0), Oven) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_explain_asks_a_url_once_and_follows_nothing(say: Say, bakery: Path, oven: str) -> None:
    code, out, _ = say("explain", f"{oven}/bread?x=%2F", "--rules", bakery, "--json")
    assert code == 0
    assert json.loads(out)["rule"] == "bakery/cold-oven"
    code, out, _ = say("explain", f"{oven}/away", "--all-packs", "--json", "--accept", "application/json")
    assert json.loads(out)["before"]["status"] == 302
    assert Oven.asked == [
        ("GET", "/bread?x=%2F", "application/problem+json"),
        ("GET", "/away", "application/json"),
    ]


@pytest.mark.parametrize(
    ("source", "code", "words"),
    [
        ("gone.http", 2, "gone.http: cannot be read"),
        ("http://127.0.0.1:1/", 1, "http://127.0.0.1:1/: cannot connect (connection refused)."),
        ("ftp://bakery.example/", 2, "only http:// and https:// can be asked"),
        ("http://[::1/", 2, "not a URL"),
    ],
)
def test_what_cannot_be_explained(say: Say, source: str, code: int, words: str) -> None:
    got, out, err = say("explain", source)
    assert (got, out) == (code, "")
    assert words in err


@pytest.mark.parametrize("name", ["pages.har", "pages.jsonl", "pages.jsonl.gz"])
def test_explain_points_to_replay_where_there_are_many(say: Say, name: str) -> None:
    code, _, err = say("explain", name)
    assert code == 2
    assert f"explain looks at one; saywhy replay {name} takes them all." in err


# replay


def test_replay_of_nothing_that_is_there(say: Say) -> None:
    assert say("replay", "nosuch", "nor-this") == (
        2, "", "error: nosuch: there is no such file or folder.\nerror: nor-this: there is no such file or folder.\n"
    )  # fmt: skip
    code, out, err = say("replay", "nosuch", "nor-this", "--json")
    assert (code, out, len(json.loads(err)["findings"])) == (2, "", 2)


def test_replay_of_what_cannot_be_read_draws_no_table(say: Say, tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text("{\n")
    code, out, err = say("replay", tmp_path / "bad.jsonl")
    assert (code, out) == (1, "1 complaint; see above.\n")
    assert "bad.jsonl:1: not JSON" in err


def test_replay_says_where_rules_lie_that_were_not_asked(say: Say, bakery: Path, root: Path) -> None:
    said = "note: {0} holds rules that were not asked; --rules {0} asks them too.\n"
    assert say("replay", bakery)[2] == said.format(bakery)
    assert say("replay", bakery / "bakery")[2] == said.format(bakery / "bakery")
    assert say("replay", bakery / "bakery/examples/eaten.http")[2] == said.format(bakery / "bakery")
    code, out, err = say("replay", bakery / "bakery/examples/eaten.http", "--rules", bakery)
    assert (code, err, "1 response, " in out) == (0, "", True)
    assert say("replay", root / "rules/captcha")[2] == ""


def records(folder: Path, *more: str) -> Path:
    """Saved answers of the bakery: two as expected, one miss, one look-alike."""
    page = {"headers": {"Content-Type": "text/html"}, "category": "bread"}
    rows = [
        page
        | {
            "id": "cold",
            "status": 404,
            "body": "<h1>The oven is cold</h1>",
            "expected_code": "temporarily_unavailable",
        },
        page
        | {
            "id": "eaten",
            "status": 409,
            "body": "<h1>All eaten</h1>",
            "expected_code": "conflict",
            "also_acceptable": ["out_of_stock"],
            "method": "POST",
        },
        page
        | {
            "id": "miss",
            "status": 404,
            "body": "<h1>Gone fishing</h1>",
            "expected_code": "temporarily_unavailable",
        },
        page
        | {
            "id": "fine",
            "status": 200,
            "body": "<h1>Bread</h1>",
            "expected_code": None,
            "category": "lookalike",
        },
    ]
    file = folder / "bread.jsonl"
    file.write_text("\n".join([*map(json.dumps, rows), *more]))
    return file


def test_replay_counts_right_and_wrong(say: Say, bakery: Path, tmp_path: Path) -> None:
    file = records(tmp_path)
    code, out, err = say("replay", file, "--rules", bakery)
    assert (code, err) == (0, "")
    rows = [line.split() for line in out.splitlines()]
    assert ["bread", "3", "2", "1", "66.7", "%"] in rows
    assert ["lookalike", "1", "1", "0", "100.0", "%"] in rows
    assert ["miss", "404", "temporarily_unavailable", "not_found", "rewrite", "status"] in rows
    assert "To pass untouched: 1, of which 0 rewritten and 0 annotated or redacted." in out
    assert say("replay", file, "--rules", bakery, "--strict")[0] == 1


def test_replay_says_one_line_a_response(say: Say, bakery: Path, tmp_path: Path) -> None:
    code, out, _ = say("replay", records(tmp_path), "--rules", bakery, "--json")
    lines = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert lines[0] == {
        "id": "cold", "action": "rewrite", "status": 404, "code": "temporarily_unavailable", "field": None,
        "retry": "after_delay", "retry_after": 600, "rule": "bakery/cold-oven", "decided_by": "rule",
        "message": "The bakery is closed today.",
    }  # fmt: skip
    assert lines[3] == dict.fromkeys(lines[0]) | {"id": "fine", "action": "pass", "status": 200}


def test_replay_goes_on_after_what_it_cannot_read(say: Say, bakery: Path, tmp_path: Path) -> None:
    file = records(tmp_path, '{"status": "four hundred"}', "{")
    code, out, err = say("replay", tmp_path / "gone.har", file, "--rules", bakery, "--json")
    assert code == 1
    assert len(out.splitlines()) == 4
    complaints = err.splitlines()
    assert len(complaints) == 3
    for complaint, where in zip(
        complaints, ("gone.har: ", "bread.jsonl:5: status must be", "bread.jsonl:6: not JSON"), strict=True
    ):
        assert where in complaint


def test_replay_as_somebody_else(say: Say, bakery: Path, tmp_path: Path) -> None:
    _, out, _ = say("replay", records(tmp_path), "--rules", bakery, "--accept", "text/html", "--json")
    assert {json.loads(line)["action"] for line in out.splitlines()} == {"pass"}


def test_replay_of_an_empty_folder(say: Say, tmp_path: Path) -> None:
    code, _, err = say("replay", tmp_path)
    assert code == 2
    assert "No .http, .har, .jsonl, .jsonl.gz below" in err


def test_the_examples_of_the_shipped_rules_are_answered_with_all_packs_on(say: Say, root: Path) -> None:
    code, out, _ = say("replay", root / "rules", "--all-packs")
    assert code == 0
    (line,) = [line for line in out.splitlines() if line.startswith("Codes expected: ")]
    assert int(line.split()[4]) >= 0.95 * int(line.split()[2].rstrip(","))


def test_the_corpus(say: Say, shared: Path) -> None:
    code, out, _ = say("replay", shared / "corpus/corpus.jsonl.gz", "--all-packs")
    assert code == 0
    (line,) = [line for line in out.splitlines() if line.startswith("Codes expected: ")]
    assert int(line.split()[4]) >= 0.88 * int(line.split()[2].rstrip(","))
    assert "of which 0 rewritten and" in out
