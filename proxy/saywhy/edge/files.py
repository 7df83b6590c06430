"""Reading files that somebody else put there: bounded, and regular ones only. To open a named pipe waits for whoever would
write to it, and a device may never end; either would hold a thread, and all reloads behind it, for good.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

_KINDS = (
    (stat.S_ISDIR, errno.EISDIR, "is a folder, not a file"),
    (stat.S_ISFIFO, errno.EINVAL, "is a named pipe, not a file"),
    (stat.S_ISSOCK, errno.EINVAL, "is a socket, not a file"),
    (stat.S_ISCHR, errno.EINVAL, "is a device, not a file"),
    (stat.S_ISBLK, errno.EINVAL, "is a device, not a file"),
)


def read_bytes(path: Path, most: int) -> bytes:
    """The first `most` bytes of a regular file. Raises OSError, whose strerror is a clause for a sentence ("is a named
    pipe, not a file"; "permission denied").
    """
    try:
        # Without O_NONBLOCK this call is where a named pipe holds its reader.
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except OSError as error:
        raise _worded(error, path) from None
    try:
        mode = os.fstat(fd).st_mode
        for is_kind, number, clause in _KINDS:
            if is_kind(mode):
                raise OSError(number, clause, str(path))
        return _read(fd, most)
    finally:
        os.close(fd)


def unreadable(error: OSError) -> str:
    """Why a file cannot be used, as the end of a sentence that begins with its name: no full stop."""
    clause = error.strerror or str(error)
    return clause if clause.startswith("is a ") else f"cannot be read ({clause.lower()})"


def _read(fd: int, most: int) -> bytes:
    parts = []
    while most > 0 and (part := os.read(fd, min(most, 1 << 20))):
        parts.append(part)
        most -= len(part)
    return b"".join(parts)


def _worded(error: OSError, path: Path) -> OSError:
    clause = {
        errno.ELOOP: "is a symbolic link that leads back to itself",
        errno.ENXIO: "is a socket, not a file",
    }.get(error.errno or 0)
    return OSError(error.errno, clause, str(path)) if clause else error
