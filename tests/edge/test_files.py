"""What lies where a file should: each is told in a clause, none is waited for."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from saywhy.edge import fingerprint as hashing
from saywhy.edge.documents import DocumentError, read_document
from saywhy.edge.examples import ExampleError, read_example
from saywhy.edge.files import read_bytes, unreadable
from saywhy.edge.fingerprint import fingerprint
from saywhy.edge.packs import FILE, RuleErrors, load_rulebook


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


ODD: dict[str, tuple[Callable[[Path], object], str]] = {
    "folder": (Path.mkdir, "is a folder, not a file"),
    "pipe": (os.mkfifo, "is a named pipe, not a file"),
    "socket": (_socket, "is a socket, not a file"),
    "device": (lambda path: path.symlink_to("/dev/zero"), "is a device, not a file"),
    "circle": (lambda path: path.symlink_to(path.name), "is a symbolic link that leads back to itself"),
    "nothing": (lambda path: path.symlink_to("gone"), "cannot be read (no such file or directory)"),
}


@pytest.mark.parametrize("kind", ODD)
def test_what_is_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.chdir(tmp_path)  # a socket's path is short
    make, clause = ODD[kind]
    pack = Path("mine")
    pack.mkdir()
    make(pack / FILE)
    with pytest.raises(OSError, match=r"rules\.yaml") as refused:
        read_bytes(pack / FILE, 10)
    assert unreadable(refused.value) == clause
    with pytest.raises(DocumentError, match=r"mine/rules\.yaml: ") as document:
        read_document(pack / FILE)
    assert clause in str(document.value)
    with pytest.raises(RuleErrors) as rules:
        load_rulebook([pack.parent])
    assert clause in str(rules.value)
    with pytest.raises(ExampleError) as example:
        read_example(pack / FILE)
    assert clause in str(example.value)
    assert len(fingerprint([pack, pack / FILE])) == 16


def test_a_file_is_read_as_far_as_wanted(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"0123456789" * 300_000)
    assert read_bytes(file, 7) == b"0123456"
    assert len(read_bytes(file, 1 << 30)) == 3_000_000


@pytest.mark.parametrize("where", ["folder", "pack"])
def test_folders_in_a_circle(tmp_path: Path, where: str) -> None:
    folder = tmp_path / "rules"
    if where == "folder":
        folder.symlink_to("rules")
    else:
        folder.mkdir()
        (folder / "mine").symlink_to("mine")
    with pytest.raises(RuleErrors, match="leads back to itself; point it at the folder") as wrong:
        load_rulebook([folder])
    assert len(wrong.value.errors) == 1


def test_past_the_bound_size_and_time_stand_for_the_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hashing, "ALL_BYTES", 100)
    for name in "abc":
        (tmp_path / name).write_bytes(b"x" * 60)
    seen = {fingerprint([tmp_path])}
    os.utime(tmp_path / "a", ns=(1, 1))
    assert fingerprint([tmp_path]) in seen
    os.utime(tmp_path / "c", ns=(1, 1))
    seen.add(fingerprint([tmp_path]))
    (tmp_path / "c").write_bytes(b"x" * 61)
    seen.add(fingerprint([tmp_path]))
    assert len(seen) == 3
