"""README tells the truth: its commands run, in its order; its samples, its tables and its paths are the real ones."""

from __future__ import annotations

import configparser
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from saywhy.edge.assemble import assemble
from saywhy.edge.metrics import COUNTERS, GAUGES, HISTOGRAMS
from saywhy.edge.settings import Settings, load, reference

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
DOCUMENTS = (
    README,
    ROOT / ".github/CONTRIBUTING.md",
    ROOT / ".github/SECURITY.md",
    ROOT / "deploy/README.md",
    ROOT / "CHANGELOG.md",
)
LONG = ("saywhy serve", "saywhy demo")
"""Commands that go on until they are told to stop; those with --once end by themselves."""


class Fence(NamedTuple):
    """One fenced block."""

    file: Path
    line: int
    language: str
    text: str


def fences(file: Path) -> Iterator[Fence]:
    inside, start, language, lines = False, 0, "", list[str]()
    for number, line in enumerate(file.read_text().splitlines(), 1):
        if line.startswith("```"):
            if inside:
                yield Fence(file, start, language, "\n".join(lines))
            inside, start, language, lines = not inside, number, line[3:].strip(), []
        elif inside:
            lines.append(line)


def commands(file: Path) -> list[str]:
    return [
        line
        for fence in fences(file)
        if fence.language == "sh"
        for line in fence.text.splitlines()
        if line.strip()
    ]


def behind_make(command: str) -> str:
    """What a `make` line would do last; asking make itself keeps README, Makefile and this test of one mind."""
    plan = subprocess.run(
        [*shlex.split(command), "--dry-run", "--no-print-directory", "--old-file=requirements.lock"],
        cwd=ROOT,
        env=outside_of_make(),
        capture_output=True,
        text=True,
        check=True,
    )
    return plan.stdout.strip().splitlines()[-1]


def outside_of_make() -> dict[str, str]:
    """The environment without what `make test` hands down: a make within would take itself for a part of it."""
    return {
        name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    }


def end_group(process: subprocess.Popen[Any]) -> None:
    """Kill what is left of the process and of all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(30)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class Session:
    """A terminal in the project's folder: what runs on stays up until the next such command."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.running: subprocess.Popen[bytes] | None = None
        self.ports: dict[str, str] = {}
        self.environment = {
            **outside_of_make(),
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        }

    def localised(self, command: str) -> str:
        """The command with the ports that are free on this machine."""
        return re.sub(r"(?<=127\.0\.0\.1:)\d+", lambda port: self.ports.get(port[0], port[0]), command)

    def start(self, command: str) -> None:
        self.stop()
        if "saywhy serve" in command:
            self.ports |= {port: str(free_port()) for port in ("8000", "9180")}
            command += f" --admin 127.0.0.1:{self.ports['9180']}"
        log = self.folder / "running.log"
        words = ["bash", "-c", f"exec {self.localised(command)}"]
        with log.open("w") as out:
            self.running = subprocess.Popen(
                words,
                cwd=ROOT,
                env=self.environment,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        ready = re.compile(r"Still serving on http://127\.0\.0\.1:(\d+)|listens on (http\S+)")
        deadline = time.monotonic() + 60
        while not (found := ready.search(log.read_text())):
            assert self.running.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)
        if found[1]:
            self.ports["8080"] = found[1]

    def run(self, command: str, *, seconds: float = 60) -> str:
        words = ["bash", "-c", self.localised(command)]
        with subprocess.Popen(
            words,
            cwd=ROOT,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                out, err = process.communicate(timeout=seconds)
            finally:
                end_group(process)
        assert process.returncode == 0, f"{command}\n{out[-2000:]}{err[-2000:]}"
        assert "Traceback" not in err
        return out

    def stop(self) -> None:
        if self.running is not None:
            running, self.running = self.running, None
            running.terminate()
            try:
                assert running.wait(30) == 0
            finally:
                end_group(running)


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    made = Session(tmp_path)
    yield made
    made.stop()


def test_make_within_make_is_not_taken_for_its_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAKELEVEL", "1")
    monkeypatch.setenv("MAKEFLAGS", "w")
    assert behind_make("make run").endswith("saywhy demo")
    assert "pytest" in behind_make("make test")


def test_what_takes_too_long_is_ended_with_all_that_it_started(session: Session) -> None:
    mark = f"{session.folder}/started"
    with pytest.raises(subprocess.TimeoutExpired):
        session.run(f"(echo $BASHPID > {mark}; exec sleep 300) & wait", seconds=1)
    child = Path(f"/proc/{Path(mark).read_text().strip()}/stat")
    assert (
        not child.exists() or child.read_text().rpartition(")")[2].split()[0] == "Z"
    )  # nobody may have reaped it yet


def test_every_command_of_the_readme_runs_in_its_order(session: Session) -> None:
    seen, said = 0, dict[str, str]()
    for command in commands(README):
        if command.startswith("export "):
            continue
        seen += 1
        plain = behind_make(command) if command.startswith("make ") else command
        if "pytest" in plain:
            assert command == "make test"  # this very run
        elif plain.removeprefix(".venv/bin/").startswith(LONG) and "--once" not in plain:
            session.start(plain)
        else:
            said[command] = session.run(command)
            assert said[command], command
    assert seen >= 15
    assert said["curl -s http://127.0.0.1:9180/-/ready"] == "Ready.\n"
    assert "`Ready.`" in README.read_text()


def test_the_sample_is_what_the_demo_answers(session: Session) -> None:
    (sample,) = [fence.text for fence in fences(README) if fence.language == "json"]
    (page,) = [fence.text for fence in fences(README) if fence.language == "html"]
    session.start(behind_make("make run"))
    order = "-d sku=lamp http://127.0.0.1:8080/cart"
    assert page in session.run(f"curl -s {order}")
    head, _, body = session.run(f"curl -s -i -H 'Accept: application/json' {order}").partition("\n\n")
    assert json.loads(sample) == json.loads(body)
    assert head.startswith("HTTP/1.1 409 ")
    (field,) = re.findall(r"`(Agent-Error: [^`]+)`", README.read_text().partition("## Try it")[0])
    assert field in head.splitlines()


def test_the_python_of_the_readme_runs() -> None:
    (block,) = [fence.text for fence in fences(README) if fence.language == "python"]
    run = subprocess.run([sys.executable, "-W", "error", "-c", block], check=False, timeout=60)
    assert run.returncode == 0


def test_the_rule_of_the_readme_is_one_and_answers(session: Session) -> None:
    (pack,) = [fence.text for fence in fences(README) if fence.text.startswith("pack: ")]
    (where,) = re.findall(r"`my-rules/([\w/.-]+)`", README.read_text())
    file = session.folder / "rules" / where
    file.parent.mkdir(parents=True)
    file.write_text(pack)
    folder = file.parent
    (session.folder / "page.http").write_text(
        "HTTP/1.1 403 Forbidden\nContent-Type: text/html\n\n<h1>Closed on Sundays</h1>"
    )
    told = session.run(f"saywhy explain {session.folder}/page.http --rules {folder.parent} --json")
    assert json.loads(told)["rule"] == "my-shop/closed-on-sundays"


YAML_SETTINGS = [
    fence
    for file in DOCUMENTS
    for fence in fences(file)
    if fence.language == "yaml" and not fence.text.startswith("pack: ")
]


@pytest.mark.parametrize(
    "fence", YAML_SETTINGS, ids=lambda fence: f"{fence.file.parent.name}/{fence.file.name}:{fence.line}"
)
def test_settings_that_are_shown_would_be_taken(tmp_path: Path, fence: Fence) -> None:
    file = tmp_path / "saywhy.yaml"
    file.write_text(fence.text)
    loaded = load(file, environ={})
    assert assemble(loaded.settings, loaded.origins).rulebook.rules
    assert loaded.settings != Settings()


UNITS = [fence for file in DOCUMENTS for fence in fences(file) if fence.language == "ini"]


def test_the_systemd_unit_starts_what_the_settings_before_it_say(tmp_path: Path) -> None:
    (unit,) = UNITS
    said = configparser.ConfigParser(interpolation=None)
    said.optionxform = str  # type: ignore[assignment, method-assign]
    said.read_string(unit.text)
    service = said["Service"]
    program, command, *words = shlex.split(service["ExecStart"])
    assert (Path(program).name, command) == ("saywhy", "serve")
    before = [fence for fence in YAML_SETTINGS if fence.file == unit.file and fence.line < unit.line][-1]
    file = tmp_path / "saywhy.yaml"
    file.write_text(before.text)
    deadlines = load(file, environ={}).settings.deadlines
    assert int(service["TimeoutStopSec"]) > deadlines.drain_seconds + deadlines.shutdown_seconds
    # It gets as far as the certificate's file, which is not there: the command line and the settings were taken.
    words = [str(file) if word == "/etc/saywhy/saywhy.yaml" else word for word in words]
    done = subprocess.run(
        [str(Path(sys.executable).parent / "saywhy"), command, *words],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == int(service["RestartPreventExitStatus"])
    problems = done.stderr.splitlines()
    assert [
        line for line in problems if f"tls.certificate_file {tmp_path}/certs/shop.pem cannot be read" in line
    ] == problems


@pytest.mark.parametrize("file", DOCUMENTS, ids=lambda file: file.name)
def test_every_path_that_is_named_exists(file: Path) -> None:
    text = file.read_text()
    named = set(re.findall(r"`((?:proxy|tests|rules|deploy)/[\w./-]*)`", text))
    linked = set(re.findall(r"\]\(([^)#:]+)\)", text))
    missing = [path for path in named if not (ROOT / path).exists()]
    missing += [link for link in linked if not (file.parent / link).exists()]
    assert not missing


def between(name: str) -> str:
    """What stands in README between the marks of a generated part."""
    return README.read_text().partition(f"<!-- {name} -->\n")[2].partition(f"<!-- /{name} -->")[0].strip()


def test_the_settings_reference_is_fresh() -> None:
    assert between("settings") == reference.markdown().strip(), "run: python tests/test_readme.py"


def metrics_table() -> str:
    rows = ["| metric | labels | |", "|---|---|---|"]
    for name, (about, labels, *_) in [*COUNTERS.items(), *HISTOGRAMS.items(), *GAUGES.items()]:
        rows.append(f"| `{name}` | {', '.join(labels)} | {about} |")
    return "\n".join(rows)


def test_the_list_of_metrics_is_the_meters() -> None:
    assert between("metrics") == metrics_table(), "run: python tests/test_readme.py"


def test_every_block_has_a_language_or_is_a_drawing() -> None:
    for file in DOCUMENTS:
        for fence in fences(file):
            assert fence.language in {"sh", "json", "yaml", "html", "nginx", "python", "ini", ""}, (
                f"{file.name}:{fence.line}"
            )


def write_generated_parts() -> None:
    """Bring the generated parts of README up to date."""
    text = README.read_text()
    for name, part in (("settings", reference.markdown().strip()), ("metrics", metrics_table())):
        before, _, rest = text.partition(f"<!-- {name} -->\n")
        text = f"{before}<!-- {name} -->\n{part}\n<!-- /{name} -->{rest.partition(f'<!-- /{name} -->')[2]}"
    README.write_text(text)


if __name__ == "__main__":
    write_generated_parts()
