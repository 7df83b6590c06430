"""A hash over the content of the files that make a set: how a change is noticed, and what config_info shows.

By content and not by time or inode: Kubernetes swaps a ConfigMap by a symbolic link above the files, editors write a
new file and rename it, and a checkout touches times without a change.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from saywhy.edge.files import read_bytes

FILES = 10_000
"""Files looked at in all; a folder with more is not a folder of rules, and loading it says so."""
FILE_BYTES = 4 * 1024 * 1024
ALL_BYTES = 64 * 1024 * 1024
"""Read in all, every two seconds; of files beyond, size and time stand for the content."""


def fingerprint(paths: Iterable[Path]) -> str:
    """Sixteen hex digits over the names and contents of `paths` (files, and folders with all below). What cannot be
    read counts as such, so that it is noticed when it comes back.
    """
    digest = hashlib.sha256()
    seen, left = 0, ALL_BYTES
    for top in paths:
        for path in sorted(_files(top)):
            seen += 1
            if seen > FILES:
                return digest.hexdigest()[:16]
            digest.update(b"\0" + str(path).encode("utf-8", "surrogateescape") + b"\0")
            try:
                data = read_bytes(path, min(FILE_BYTES, left))
                left -= len(data)
                digest.update(data if left else _outside(path))
            except OSError as unreadable:
                digest.update(f"unreadable {unreadable.errno}".encode())
    return digest.hexdigest()[:16]


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
