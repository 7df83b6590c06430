"""A hash over the content of the files that make a set: how a change is noticed, and what config_info shows.

By content and not by time or inode: Kubernetes swaps a ConfigMap by a symbolic link above the files, editors write a
new file and rename it, and a checkout touches times without a change.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from saywhy.edge.files import read_bytes

FILES = 10_000
"""Files looked at in all; a folder with more is not a folder of rules, and loading it says so."""
FILE_BYTES = 4 * 1024 * 1024
ALL_BYTES = 64 * 1024 * 1024
"""Read in all, every two seconds; of files beyond, size and time stand for the content."""


Prints = Mapping[str, bytes]
"""File -> hash of its content."""


def prints(paths: Iterable[Path]) -> Prints:
    """The contents of `paths` (files, and folders with all below), by name. What cannot be read counts as such, so that it
    is noticed when it comes back.
    """
    found: dict[str, bytes] = {}
    left = ALL_BYTES
    for top in paths:
        for path in sorted(_files(top)):
            if len(found) >= FILES:
                return found
            try:
                data = read_bytes(path, min(FILE_BYTES, left))
                left -= len(data)
                content = data if left else _outside(path)
            except OSError as unreadable:
                content = f"unreadable {unreadable.errno}".encode()
            found[str(path)] = hashlib.sha256(content).digest()
    return found


def folded(found: Prints) -> str:
    """Sixteen hex digits over names and contents."""
    digest = hashlib.sha256()
    for name, content in found.items():
        digest.update(name.encode("utf-8", "surrogateescape") + b"\0" + content)
    return digest.hexdigest()[:16]


def fingerprint(paths: Iterable[Path]) -> str:
    """Both in one."""
    return folded(prints(paths))


def differing(before: Prints, after: Prints) -> list[str]:
    """The files that came, went or changed, by name."""
    return sorted(name for name in {*before, *after} if before.get(name) != after.get(name))


def _outside(path: Path) -> bytes:
    about = path.stat()
    return f"{about.st_size} {about.st_mtime_ns}".encode()


def _files(top: Path) -> Iterable[Path]:
    if not top.is_dir():
        return [top]
    # `..data` and `..2026_11_30` are the sides of a ConfigMap's symbolic link: the same files under a second name.
    return (path for path in top.rglob("*") if path.is_file() and not _hidden(path, top))


def _hidden(path: Path, top: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(top).parts)
