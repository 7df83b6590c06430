"""The fingerprint changes when content does, and only then."""

from __future__ import annotations

import os
from pathlib import Path

from saywhy.edge.fingerprint import fingerprint


def test_content_and_names_count_and_times_do_not(tmp_path: Path) -> None:
    file, folder = tmp_path / "saywhy.yaml", tmp_path / "rules"
    (folder / "pack").mkdir(parents=True)
    rule = folder / "pack" / "rules.yaml"
    file.write_text("a")
    rule.write_text("b")
    first = fingerprint([file, folder])
    assert first == fingerprint([file, folder])
    os.utime(rule, (1, 1))
    (folder / ".swp").write_text("an editor's")
    assert fingerprint([file, folder]) == first
    rule.write_text("c")
    second = fingerprint([file, folder])
    rule.write_text("b")
    assert fingerprint([file, folder]) == first != second
    rule.rename(folder / "pack" / "other.yaml")
    assert fingerprint([file, folder]) not in (first, second)
    file.unlink()
    assert fingerprint([file, folder]) != first


def test_a_configmap_swap_is_seen(tmp_path: Path) -> None:
    """Kubernetes mounts files as links through `..data`, which it swaps for another folder."""
    for number in (1, 2):
        (tmp_path / f"..{number}").mkdir()
        (tmp_path / f"..{number}" / "rules.yaml").write_text(str(number))
    (tmp_path / "..data").symlink_to("..1")
    (tmp_path / "rules.yaml").symlink_to("..data/rules.yaml")
    before = fingerprint([tmp_path])
    (tmp_path / "..new").symlink_to("..2")
    (tmp_path / "..new").rename(tmp_path / "..data")
    assert fingerprint([tmp_path]) != before
