"""What is installed, and what the lock would install, is no older than the floors; and the floors leave no advisory in."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import httptools
import pytest
from packaging.requirements import Requirement
from packaging.version import Version

FIXED = {
    "aiohttp": {
        "GHSA-cq5v-8q36-5273": "3.14.3",
        "GHSA-mfx4-hv73-q22v": "3.14.2",
        "GHSA-mq44-7p77-q5h7": "3.14.2",
        "GHSA-6mq8-rvhq-8wgg": "3.13.3",
    },
    "brotli": {"GHSA-2qfp-q593-8484": "1.2.0"},
    "h11": {"GHSA-vqfr-h8mv-ghfj": "0.16.0"},
    "httptools": {"GHSA-cggh-pq45-6h9x": "0.6.2", "CVE-2024-27982": "0.6.2"},
}
"""Package -> advisory -> the first release without it."""


def _required(root: Path) -> dict[str, Requirement]:
    project = tomllib.loads((root / "pyproject.toml").read_text())
    lines = [*project["project"]["dependencies"], *project["dependency-groups"]["test"]]
    return {one.name.lower(): one for one in map(Requirement, lines)}


def _floor(requirement: Requirement) -> Version:
    return max(Version(one.version) for one in requirement.specifier if one.operator in (">=", "=="))


def test_what_is_installed_and_locked_is_no_older_than_its_floor(root: Path) -> None:
    locked = dict(
        re.findall(r"^([\w.-]+)==([^\s;]+)", (root / "requirements.lock").read_text(), re.MULTILINE)
    )
    required = _required(root)
    assert len(required) > 20
    for name, requirement in required.items():
        assert Version(version(name)) >= _floor(requirement), name
        assert name not in locked or Version(locked[name]) >= _floor(requirement), name


@pytest.mark.parametrize(("name", "advisory"), [(name, one) for name, all_ in FIXED.items() for one in all_])
def test_a_floor_answers_each_advisory_and_says_so(name: str, advisory: str, root: Path) -> None:
    assert _floor(_required(root)[name]) >= Version(FIXED[name][advisory])
    assert advisory in (root / "pyproject.toml").read_text()


@pytest.mark.parametrize(
    "line", [b"X: \rxTransfer-Encoding: chunked", b" Content-Length: 1", b"Content-Length : 1", b"X: a\n b"]
)
def test_llhttp_is_one_that_takes_no_smuggled_lines(line: bytes) -> None:
    with pytest.raises(httptools.HttpParserError):
        httptools.HttpRequestParser(object()).feed_data(
            b"POST / HTTP/1.1\r\nHost: t\r\n" + line + b"\r\n\r\n"
        )
