"""The files of Unix sockets, which stay behind when a socket is closed (unix(7)) and would look like a proxy that runs."""

from __future__ import annotations

import os
from contextlib import suppress


class UnixSockets:
    """The files of the Unix sockets that were opened."""

    def __init__(self) -> None:
        self._files: dict[str, tuple[int, int]] = {}

    def remember(self, path: str) -> None:
        """Take note of the file at `path` as it is now."""
        self._files[path] = self._identity(path)

    def remove(self) -> None:
        """Remove each file, unless another process has put its own socket there since. To be called while the sockets
        are open: until then nothing else can have the number of their files.
        """
        for path, identity in self._files.items():
            with suppress(OSError):
                if self._identity(path) == identity:
                    os.unlink(path)
        self._files.clear()

    def _identity(self, path: str) -> tuple[int, int]:
        found = os.stat(path, follow_symlinks=False)
        return found.st_dev, found.st_ino
