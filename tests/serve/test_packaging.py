"""The lock pins what pyproject.toml asks for, by hash, and says nothing about where to fetch it."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


@pytest.fixture(scope="module")
def lock(root: Path) -> dict[str, list[tuple[Requirement, int]]]:
    """Name -> its pins (several where they differ by Python), each with its number of hashes."""
    pins: dict[str, list[tuple[Requirement, int]]] = {}
    for block in (root / "requirements.lock").read_text().replace("\\\n", " ").splitlines():
        requirement, *hashes = block.split("--hash=")
        made = Requirement(requirement)
        pins.setdefault(canonicalize_name(made.name), []).append((made, len(hashes)))
    return pins


def test_every_pin_is_exact_and_has_hashes(lock: dict[str, list[tuple[Requirement, int]]]) -> None:
    for pins in lock.values():
        for pin, hashes in pins:
            assert str(pin.specifier).startswith("=="), pin
            assert pin.url is None
            assert hashes >= 1, pin


def test_no_address(root: Path) -> None:
    assert "://" not in (root / "requirements.lock").read_text()


def test_what_pyproject_asks_for_is_there(root: Path, lock: dict[str, list[tuple[Requirement, int]]]) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text())
    groups = [one for group in project["dependency-groups"].values() for one in group]
    for text in (*project["project"]["dependencies"], *groups, *project["build-system"]["requires"]):
        wanted = Requirement(text)
        pins = lock.get(canonicalize_name(wanted.name), [])
        assert pins, f"{text} is not in requirements.lock; run `make lock`"
        for pin, _ in pins:
            version = str(pin.specifier).removeprefix("==")
            assert wanted.specifier.contains(version), f"{pin} does not satisfy {text}; run `make lock`"
