"""The command line as a whole: the front page, and how whatever goes wrong is said."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import jsonschema
import pytest

from saywhy import cli
from saywhy.cli.output import Failure, failure_line, fit
from saywhy.core.contract.codes import CODES
from saywhy.core.contract.schema import json_schema


def saywhy(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """One command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "saywhy.cli", *words], capture_output=True, text=True, timeout=60, check=False,
        env=os.environ | environment,
    )  # fmt: skip


def test_every_command_stands_on_the_front_page_and_has_its_file() -> None:
    page = saywhy("--help").stdout
    for row in cli.COMMANDS:
        assert f"  {row.name} " in page
        assert find_spec(f"saywhy.cli.{row.name}") is not None, f"cli/{row.name}.py"
    assert saywhy().stdout == page
    assert "\x1b" not in page


def test_the_front_page_loads_no_library() -> None:
    code = (
        "import sys; from saywhy.cli import run; run(['--help']); print(sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for heavy in ("typer", "rich", "aiohttp", "pydantic", "lxml", "bs4"):
        assert f"'{heavy}'" not in done.stderr


def test_the_front_page_is_there_at_once() -> None:
    best = 9.9
    for _ in range(5):
        started = time.perf_counter()
        assert saywhy("--help").returncode == 0
        best = min(best, time.perf_counter() - started)
    assert best < 0.3


@pytest.mark.parametrize("command", [row.name for row in cli.COMMANDS])
def test_every_command_explains_itself_and_takes_json(command: str) -> None:
    done = saywhy(command, "--help")
    assert done.returncode == 0, done.stderr
    assert "--json" in done.stdout
    assert not done.stderr


USAGE = [
    (["repla"], "Did you mean 'replay'"),
    (["replay"], "Missing argument"),
    (["replay", "x.jsonl", "--pakcs"], "No such option: --pakcs"),
    (["demo", "--port", "eighty"], "Invalid value for '--port': it must be a whole number."),
    (["schema", "nonsense"], "'nonsense' is not one of 'envelope', 'rules', 'settings'."),
    (["healthcheck", "--timeout", "soon"], "it must be a number."),
    (["replay", "x", "--misses", "-1"], "it must be at least 0."),
    (["demo", "--port", "99999"], "it must be at most 65535"),
    (["--loud"], "No such option: --loud"),
    (["codes", "extra"], "one argument too many (extra)"),
]


@pytest.mark.parametrize(("words", "said"), USAGE)
def test_wrong_usage_is_a_sentence_and_exit_2(words: list[str], said: str) -> None:
    done = saywhy(*words)
    assert done.returncode == 2
    assert said in done.stderr
    assert "--help" in done.stderr
    assert not any(
        word in done.stderr for word in ("Traceback", "Value error", "Input should", "unable to parse")
    )
    assert not done.stdout


@pytest.mark.parametrize("words", [[*words, "--json"] for words, _ in USAGE])
def test_with_json_a_failure_is_one_line_that_keeps_the_contract(words: list[str]) -> None:
    done = saywhy(*words)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    value = json.loads(line)
    assert value["ok"] is False
    assert value["error"]["code"] == "invalid_input"
    jsonschema.validate({"error": value["error"]}, json_schema())


@pytest.mark.parametrize("code", [*CODES, "a_code_of_my_own"])
def test_a_failure_of_any_code_keeps_the_contract(code: str) -> None:
    value = json.loads(failure_line("check", Failure("Something is wrong.", code=code, field="--rules")))
    assert (value["ok"], value["command"]) == (False, "check")
    jsonschema.validate({"error": value["error"]}, json_schema())
    assert value["error"]["code"] == code


def failing(wrong: BaseException) -> object:
    def load(_: str) -> object:
        def command() -> None:
            raise wrong

        return command

    return load


@pytest.mark.parametrize(
    ("wrong", "exit_code", "said"),
    [
        (Failure("No such pack.", exit_code=2), 2, "error: No such pack.\n"),
        (Failure("Two examples fail.", exit_code=1), 1, "error: Two examples fail.\n"),
        (
            FileNotFoundError(2, "No such file or directory", "x.http"),
            1,
            "error: x.http: No such file or directory.\n",
        ),
        (KeyError("surprise"), 1, "saywhy itself failed (KeyError at"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_whatever_a_command_raises_ends_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    wrong: BaseException,
    exit_code: int,
    said: str,
) -> None:
    monkeypatch.setattr(cli, "_load", failing(wrong))
    assert cli.run(["codes"]) == exit_code
    heard = capsys.readouterr().err
    assert said in heard
    assert "Traceback" not in heard


def test_a_reader_that_goes_away_is_no_failure_worth_words() -> None:
    done = subprocess.run(
        f"{sys.executable} -m saywhy.cli codes --json | head -n 1",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert json.loads(done.stdout)["code"] == "invalid_input"
    assert done.stderr == ""


@pytest.mark.parametrize("command", ["codes", "rules --json", "serve -h"])
def test_a_reader_that_goes_away_early_makes_no_failure(command: str, root: Path) -> None:
    """Whether much was said or little, before the reader went or after."""
    words = f"{sys.executable} -m saywhy {command}"
    for reader in ("head -n 1", "true"):
        line = f"set -o pipefail; {words} | {reader}"
        done = subprocess.run(
            ["bash", "-c", line], cwd=root, capture_output=True, text=True, timeout=60, check=False
        )
        assert (done.returncode, done.stderr) == (0, ""), reader


CLOSED = [
    (
        "codes >&-",
        1,
        "error: Standard output is closed, so there is nowhere to write; give it a file or a pipe.",
    ),
    ("explain - <&-", 2, "error: Standard input is empty; pipe a response into it"),
    ("version --json >&-", 1, '{"ok": false, '),
    ("version 2>&-", 0, ""),
    ("nonsense 2>&-", 2, ""),
]


@pytest.mark.parametrize(("command", "code", "said"), CLOSED)
def test_a_stream_that_is_closed_is_a_sentence(command: str, code: int, said: str) -> None:
    line = f"{sys.executable} -m saywhy {command}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == code, done.stderr
    assert done.stderr.startswith(said)
    assert "itself failed" not in done.stderr
    assert done.stdout.startswith("saywhy ") if code == 0 else not done.stdout


@pytest.mark.parametrize("command", [row.name for row in cli.COMMANDS])
def test_help_is_plain_and_names_no_type(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert (cli.run([command, "-h"]), cli.run([command, "--help"])) == (0, 0)
    both = capsys.readouterr().out
    text = both[: len(both) // 2]
    assert both == text * 2
    assert text.startswith(f"Usage: saywhy {command} [OPTIONS]")
    assert not re.search(r"<(?!=)|list\[|\[bold|╭|[ \t]$", text, re.MULTILINE)


def test_whoever_asks_a_proxy_for_its_health_switches_nothing_off(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["healthcheck", "--help"]) == 0
    page = capsys.readouterr().out
    assert "--admin ADDRESS" in page
    assert "off" not in page.partition("--admin")[2]


def test_python_runs_the_package() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "saywhy", "version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == saywhy("version").stdout


COMPLETIONS = [
    ("saywhy ex", 1, ["explain"]),
    ("saywhy re", 1, ["replay"]),
    ("saywhy check --st", 2, ["--strict"]),
    ("saywhy schema ", 2, ["envelope", "rules", "settings"]),
]


@pytest.mark.parametrize(("line", "place", "words"), COMPLETIONS)
def test_the_shell_completes_commands_and_options(line: str, place: int, words: list[str]) -> None:
    asked = {"_SAYWHY_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(place)}
    done = saywhy(**asked)
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, words, "")


def test_the_shell_learns_how_to_ask() -> None:
    done = saywhy("--show-completion", "bash", SHELL="/bin/bash")
    assert done.returncode == 0
    assert "_SAYWHY_COMPLETE=complete_bash" in done.stdout


def test_codes_are_a_table_and_lines() -> None:
    table = saywhy("codes").stdout
    lines = [json.loads(line) for line in saywhy("codes", "--json").stdout.splitlines()]
    assert [line["code"] for line in lines] == list(CODES)
    for code, row in CODES.items():
        assert any(line.split()[:2] == [code, row.retry] for line in table.splitlines()), code
    assert {line["code"]: line["default_wait_seconds"] for line in lines}["rate_limited"] == 30


def test_dashes_at_the_front_mean_the_version() -> None:
    assert saywhy("--version").stdout == saywhy("version").stdout
    assert saywhy("version").stdout.startswith("saywhy ")


WIDTHS = [
    # columns with headings, room, widths
    ([["code", "not_found"], ["advice", "Stop; it is not there."]], 80, [9, 22]),
    ([["code", "not_found"], ["advice", "Stop; the thing that you ask for is not there."]], 50, [9, 36]),
    (
        [["code", "temporarily_unavailable"], ["advice", "Stop; the thing that you ask for is not there."]],
        50,
        [23, 22],
    ),
    (
        [["code", "temporarily_unavailable"], ["advice", "Stop; the thing that you ask for is not there."]],
        40,
        [17, 18],
    ),
    ([["pack", "sold-out"], ["rule", "a-rule-with-a-long-name-indeed"], ["examples", "12"]], 40, [8, 16, 8]),
    ([["a", "x" * 30], ["b", "y" * 30]], 10, [8, 8]),
]


def test_a_column_that_is_kept_is_cut_last() -> None:
    columns = [["rule", "a-rule-with-a-long-name-indeed"], ["code", "temporarily_unavailable"], ["n", "12"]]
    assert [fit(columns, room, keep=[0]) for room in (70, 60, 45)] == [[30, 23, 2], [30, 20, 2], [27, 8, 2]]


@pytest.mark.parametrize("room", [80, 120])
def test_the_ids_of_rules_stand_whole_on_a_terminal(room: int) -> None:
    text = on_terminal(["rules"], room)
    for word in ("cloudflare-challenge-script", "captcha", "rate_limited"):
        assert word in text
    assert "…" not in text
    assert all(len(line) <= room for line in text.splitlines() if "enforce" in line)


@pytest.mark.parametrize(("columns", "room", "widths"), WIDTHS)
def test_columns_fit(columns: list[list[str]], room: int, widths: list[int]) -> None:
    assert fit(columns, room) == widths


@pytest.mark.parametrize("room", [120, 80, 60, 50])
def test_no_word_is_broken_on_a_narrow_terminal(room: int) -> None:
    """The table of codes on a terminal: every word of the advice stands whole in its line."""
    text = on_terminal(["codes"], room)
    assert all(len(line) <= room for line in text.splitlines())
    words = text.split()
    for row in CODES.values():
        assert not [word for word in row.advice.split() if word not in words]
    if room >= 80:  # else they are cut
        assert all(code in words for code in CODES)


def on_terminal(words: list[str], columns: int) -> str:
    """What the command writes on a terminal of so many columns, without its colours."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    with subprocess.Popen(
        [sys.executable, "-m", "saywhy", *words],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=environment | {"TERM": "xterm"},
    ) as process:
        os.close(slave)
        told = bytearray()
        with suppress(OSError):  # the end of a terminal whose other side has gone (Linux)
            while part := os.read(master, 65536):
                told += part
    os.close(master)
    assert process.returncode == 0
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", told.decode()).replace("\r", "")
