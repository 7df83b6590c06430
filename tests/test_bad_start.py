"""What operators do wrong: exit status 2 and a sentence that names the thing and the remedy, never a traceback."""

from __future__ import annotations

import ctypes
import socket
import subprocess
from pathlib import Path

import pytest
from stage.processes import free_port
from stage.serving import PROGRAM, environment, run


def serve(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """`saywhy serve` that is expected to end by itself."""
    return run("serve", *arguments, seconds=60)


def drop_roots_eyes() -> None:
    """Before exec: give up the two capabilities by which root reads what the mode forbids (capabilities(7))."""
    drop_from_bounding_set = 24  # prctl(2): PR_CAPBSET_DROP; CAP_DAC_OVERRIDE is 1, CAP_DAC_READ_SEARCH is 2
    for capability in (1, 2):
        ctypes.CDLL(None).prctl(drop_from_bounding_set, capability, 0, 0, 0)


def assert_refused(done: subprocess.CompletedProcess[str], *words: str) -> None:
    """Exit status 2 and a sentence with these words on standard error."""
    assert done.returncode == 2, (done.returncode, done.stdout[-1000:], done.stderr[-2000:])
    assert "Traceback" not in done.stderr + done.stdout
    missing = [word for word in words if word.lower() not in " ".join(done.stderr.split()).lower()]
    assert not missing, f"{missing} not in: {done.stderr}"
    assert len(done.stderr) < 4000


@pytest.fixture
def plain(tmp_path: Path) -> list[str]:
    """Flags of a proxy that would start."""
    return [
        "--upstream",
        f"http://127.0.0.1:{free_port()}",
        "--listen",
        f"127.0.0.1:{free_port()}",
        "--admin",
        f"127.0.0.1:{free_port()}",
    ]


SETTINGS = [
    pytest.param(
        "limts:\n  head_bytes: 4096\n",
        ["settings.yaml", "limts", "did you mean", "limits"],
        id="unknown-section",
    ),
    pytest.param(
        "limits:\n  head_byte: 4096\n",
        ["settings.yaml", "head_byte", "did you mean", "head_bytes"],
        id="unknown-key",
    ),
    pytest.param("limits:\n  head_bytes: many\n", ["settings.yaml", "head_bytes"], id="not-a-number"),
    pytest.param("limits:\n  head_bytes: -1\n", ["settings.yaml", "head_bytes"], id="out-of-range"),
    pytest.param("limits: [1, 2\n", ["settings.yaml"], id="not-yaml"),
    pytest.param("- just\n- a list\n", ["settings.yaml"], id="a-list"),
    pytest.param("x: !!python/object/apply:os.system ['true']\n", ["settings.yaml"], id="a-tag"),
]


@pytest.mark.parametrize(("text", "words"), SETTINGS)
def test_settings_that_are_wrong(tmp_path: Path, plain: list[str], text: str, words: list[str]) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text(text)
    assert_refused(serve(*plain, "--config", file), *words)


def test_settings_that_are_not_there(tmp_path: Path, plain: list[str]) -> None:
    assert_refused(serve(*plain, "--config", tmp_path / "nowhere.yaml"), "nowhere.yaml")


def test_a_setting_of_the_environment_with_an_unknown_key(plain: list[str]) -> None:
    done = run("serve", *plain, env={"SAYWHY_LIMITS__HEAD_BYTE": "4096"})
    assert_refused(done, "SAYWHY_LIMITS__HEAD_BYTE", "did you mean")


RULE = """
  - id: rule-{0}
    about: Number {0}.
    when: {{status: [404], contains: ["word {0}"]}}
    then: {{code: not_found}}
"""


def test_a_rules_folder_that_is_not_there(tmp_path: Path, plain: list[str]) -> None:
    assert_refused(serve(*plain, "--rules", tmp_path / "nowhere"), str(tmp_path / "nowhere"))


def test_a_rules_folder_that_is_a_file(tmp_path: Path, plain: list[str]) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text("pack: mine\n")
    done = serve(*plain, "--rules", file)
    assert_refused(done, "rules.yaml")


def test_an_empty_rules_folder(tmp_path: Path, plain: list[str]) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    assert_refused(serve(*plain, "--rules", folder), str(folder), "no pack")


def test_an_unreadable_rules_folder(tmp_path: Path, plain: list[str]) -> None:
    folder = tmp_path / "locked"
    folder.mkdir()
    (folder / "rules.yaml").write_text("pack: mine\nabout: Mine.\nrules:" + RULE.format(1))
    folder.chmod(0o000)
    command = [str(PROGRAM), "serve", *plain, "--rules", str(folder)]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env=environment(None),
            preexec_fn=drop_roots_eyes,
        )
    finally:
        folder.chmod(0o755)
    assert_refused(done, str(folder))


def test_a_huge_rules_folder(tmp_path: Path, plain: list[str]) -> None:
    """Too much to read is said at once, whatever the pages would have cost."""
    (tmp_path / "rules.yaml").write_text(
        "pack: mine\nabout: Mine.\nrules:" + "".join(map(RULE.format, range(500_000)))
    )
    assert_refused(serve(*plain, "--rules", tmp_path), "rules.yaml")


def test_a_port_in_use(tmp_path: Path, plain: list[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for flag in ("--listen", "--admin"):
            flags = [*plain]
            flags[flags.index(flag) + 1] = f"127.0.0.1:{port}"
            assert_refused(serve(*flags), port, "use")


@pytest.mark.parametrize("flag", ["--listen", "--admin"])
@pytest.mark.parametrize(
    "address", ["nonsense", "127.0.0.1:", "127.0.0.1:99999", ":::80", "127.0.0.1:http", "256.1.1.1:80"]
)
def test_an_address_that_does_not_parse(plain: list[str], flag: str, address: str) -> None:
    flags = [*plain]
    flags[flags.index(flag) + 1] = address
    assert_refused(serve(*flags), address)


@pytest.mark.parametrize(
    "url", ["nonsense", "ftp://127.0.0.1", "http://", "http://127.0.0.1/shop", "http://127.0.0.1:99999"]
)
def test_an_upstream_that_does_not_parse(plain: list[str], url: str) -> None:
    flags = [*plain]
    flags[flags.index("--upstream") + 1] = url
    assert_refused(serve(*flags), url)
