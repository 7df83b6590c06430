"""The command line as a whole: the front page, and how whatever goes wrong is said."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from importlib.util import find_spec

import jsonschema
import pytest

from saywhy import cli
from saywhy.cli.output import Failure, failure_line
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
    (["demo", "--port", "eighty"], "Invalid value for '--port'"),
    (["demo", "--port", "99999"], "less than or equal to 65535"),
    (["--loud"], "No such option: --loud"),
    (["codes", "extra"], "unexpected extra argument"),
]


@pytest.mark.parametrize(("words", "said"), USAGE)
def test_wrong_usage_is_a_sentence_and_exit_2(words: list[str], said: str) -> None:
    done = saywhy(*words)
    assert done.returncode == 2
    assert said in done.stderr
    assert "--help" in done.stderr
    assert "Traceback" not in done.stderr
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
