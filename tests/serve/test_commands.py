"""check, schema and version: what they print, where, and with which exit code."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from saywhy.cli import run

PACK = """pack: bakery
about: What this bakery says.
rules:
  - id: cold-oven
    about: The oven is cold.
    when: {status: [404], contains: [oven is cold]}
    then: {code: temporarily_unavailable}
"""


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings of the machine's own."""
    monkeypatch.delenv("SAYWHY__ADMIN", raising=False)


def written(folder: Path, text: str) -> Path:
    """A settings file with a rules folder beside it."""
    (folder / "rules/bakery").mkdir(parents=True)
    (folder / "rules/bakery/rules.yaml").write_text(PACK)
    file = folder / "saywhy.yaml"
    file.write_text(text)
    return file


GOOD = "upstreams: {default: 'http://127.0.0.1:3000'}\nrules: {folders: [rules], shipped: false}\n"
CASES = [
    # text, strict, exit code, words
    (
        GOOD,
        False,
        0,
        [
            "warning: ",
            "rule cold-oven: has no example",
            "has no look-alike",
            "Nothing that serve would refuse",
        ],
    ),
    (GOOD, True, 1, ["rules.yaml:4: rule cold-oven: has no example"]),
    (
        GOOD.replace("default", "a b"),
        False,
        1,
        ["saywhy.yaml:1", 'upstreams."a b" cannot be an upstream\'s name'],
    ),
    (
        GOOD.replace("folders", "foldrs"),
        False,
        1,
        ["saywhy.yaml:2: rules.foldrs is not a setting; did you mean folders?"],
    ),
    (GOOD.replace("[rules]", "[nowhere]"), False, 1, ["error: ", "nowhere", "no such folder"]),
    ("rules: {shipped: false, folders: [rules]}\n", False, 0, ["warning: upstreams: there is no site"]),
    ("rules: [\n", False, 1, ["saywhy.yaml:", "is not YAML here"]),
]


@pytest.mark.parametrize(("text", "strict", "code", "words"), CASES)
def test_check(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, strict: bool, code: int, words: list[str]
) -> None:
    file = written(tmp_path, text)
    assert run(["check", str(file), *(["--strict"] if strict else [])]) == code
    shown = capsys.readouterr()
    for word in words:
        assert word in shown.out
    assert shown.err == ""


def test_check_takes_a_folder_of_rules_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path, GOOD)
    assert run(["check", str(tmp_path / "rules")]) == 0
    assert "no site" not in capsys.readouterr().out
    (tmp_path / "rules/bakery/rules.yaml").write_text(PACK.replace("contains", "contanis"))
    assert run(["check", str(tmp_path / "rules"), "--json"]) == 1
    shown = capsys.readouterr()
    (finding,) = json.loads(shown.out)["findings"]
    assert "rule cold-oven" in finding["message"]
    assert "contanis" in finding["message"]
    assert json.loads(shown.err)["error"]["message"] == finding["message"]


def test_check_takes_the_file_of_a_pack(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path, GOOD)
    pack = tmp_path / "rules/bakery/rules.yaml"
    assert run(["check", str(pack)]) == 0
    assert "rules.yaml:4: rule cold-oven: has no example" in capsys.readouterr().out
    pack.write_text("rules: [\n")
    assert run(["check", str(pack)]) == 1
    assert f"{pack}:2: is not YAML here" in capsys.readouterr().out
    other = tmp_path / "bakery.yaml"
    other.write_text(PACK)
    assert run(["check", str(other)]) == 2
    assert (
        "bakery.yaml: is a rule pack; call it rules.yaml, in a folder with the pack's name."
        in capsys.readouterr().err
    )
    settings = tmp_path / "rules.yaml"
    settings.write_text(GOOD.replace("folders", "foldrs"))
    assert run(["check", str(settings)]) == 1
    assert "rules.foldrs is not a setting" in capsys.readouterr().out


def test_check_names_an_envelope_that_is_out_of_date(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path, GOOD)
    rules, examples = tmp_path / "rules", tmp_path / "rules/bakery/examples"
    examples.mkdir()
    page = "HTTP/1.1 404 Not Found\nContent-Type: text/html\n\n<h1>{}</h1>"
    (examples / "cold-oven.http").write_text(page.format("The oven is cold"))
    (examples / "look-alike-cold-oven.http").write_text("# Warm.\n" + page.format("The oven is warm"))
    assert run(["test", str(rules), "--update"]) == 0
    assert run(["check", str(rules), "--strict"]) == 0
    capsys.readouterr()
    (rules / "bakery/rules.yaml").write_text(PACK.replace("temporarily_unavailable", "out_of_stock"))
    assert run(["check", str(rules)]) == 0
    assert run(["check", str(rules), "--strict"]) == 1
    shown = capsys.readouterr().out
    assert (
        f"warning: {examples}/cold-oven.json: is not what the rules give now; `saywhy test {rules}`" in shown
    )
    (examples / "look-alike-cold-oven.http").write_text(page.format("The oven is warm"))
    assert run(["check", str(rules), "--strict"]) == 1
    assert "look-alike-cold-oven.http:1: does not say why it is here" in capsys.readouterr().out


def test_check_doubts_names_that_are_nearly_settings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAYWHY_LISTEN", ":80")
    assert run(["check", str(written(tmp_path, GOOD))]) == 0
    assert (
        "warning: SAYWHY_LISTEN: is not read, it has single underscores; write SAYWHY__LISTEN."
        in capsys.readouterr().out
    )
    assert run(["rules", "captcha"]) == 0
    shown = capsys.readouterr()
    assert (
        shown.err == "warning: SAYWHY_LISTEN: is not read, it has single underscores; write SAYWHY__LISTEN.\n"
    )
    assert run(["rules", "captcha", "--json"]) == 0
    assert capsys.readouterr().err == ""


def test_check_effective(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path, GOOD)
    monkeypatch.setenv("SAYWHY__ADMIN", "off")
    assert run(["check", str(file), "--effective", "--json"]) == 0
    known = {
        row["key"]: (row["value"], row["origin"]) for row in json.loads(capsys.readouterr().out)["settings"]
    }
    assert known["admin"] == ("", "SAYWHY__ADMIN")
    assert known["upstreams.default.url"] == ("http://127.0.0.1:3000", f"{file}:1")
    assert known["rules.shipped"] == (False, f"{file}:2")
    assert known["log.format"] == ("auto", "default")
    assert run(["check", str(file), "--effective"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.split() == ["admin", "-", "SAYWHY__ADMIN"] for line in lines)


def test_check_of_nothing_that_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "nowhere.yaml"]) == 2
    assert "nowhere.yaml: there is no such file or folder." in capsys.readouterr().err


@pytest.mark.parametrize("what", ["envelope", "rules", "settings"])
def test_schemas_are_schemas(what: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema", what]) == 0
    schema = json.loads(capsys.readouterr().out)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema.Draft202012Validator.check_schema(schema)
    assert run(["schema", what, "--json"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_the_settings_table_and_only_that(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema", "settings", "--table"]) == 0
    assert "| `deadlines.drain_seconds` | s | 2 |" in capsys.readouterr().out
    assert run(["schema", "rules", "--table"]) == 2
    assert run(["schema", "nonsense"]) == 2


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["version"]) == 0
    assert capsys.readouterr().out.startswith("saywhy ")
    assert run(["version", "--json"]) == 0
    assert {"saywhy", "python", "aiohttp", "httptools"} <= set(json.loads(capsys.readouterr().out))


def test_light_commands_do_not_load_the_proxy() -> None:
    """healthcheck runs every few seconds in a container: it must not import the relay, the rules or the core."""
    program = "import sys; from saywhy.cli import run; run(['healthcheck', '--admin', '127.0.0.1:1']); print(sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=30
    )
    loaded = done.stdout
    for module in ("uvloop", "aiohttp", "lxml", "re2", "saywhy.relay", "saywhy.core.rules"):
        assert f"'{module}'" not in loaded, module
