"""Paths as the log may show them: a token that stands in one (a link to reset a password, a matrix parameter) is masked.

The usual path is told by a cheap look to hold none; only what that look doubts is read by scrub, a segment at a time,
since a path as a whole would look like one of a file.
"""

from __future__ import annotations

import re

from saywhy.core.scrub import Scrubber
from saywhy.core.scrub.judges import looks_generated

PLAIN_PATH = 20
"""The longest path that is told at a glance to hold no token: one needs this many characters in a segment, or a name."""

PATH_CHARS = 512
"""Of a path in the log, and so all that is read of it."""

MASK = "[redacted]"

_DOUBT = re.compile(r"[^/]{20}|[;=]|%3[BbDd]")
_PARTS = re.compile(r"[-_.~]")
_WHOLE_RUN = 16
"""Characters in a row, without a hyphen or point, that no word of a title has beside digits and capitals."""
_KNOWN = 512


class PathMask:
    """path -> the path without tokens, cut at PATH_CHARS. Remembers the last few hundred answers."""

    def __init__(self) -> None:
        self._scrubber = Scrubber()
        self._known: dict[str, str] = {}

    def __call__(self, path: str) -> str:
        """UUIDs, hashes in hexadecimal and the words of titles stay: they are how a line is found again."""
        if not _DOUBT.search(path, 0, PATH_CHARS):
            return path
        read = path[:PATH_CHARS]
        known = self._known.get(read)
        if known is None:
            known = "/".join(self._segment(one) for one in read.split("/"))
            if len(self._known) >= _KNOWN:
                self._known.clear()
            self._known[read] = known
        return known if len(path) <= PATH_CHARS else known + "..."

    def _segment(self, segment: str) -> str:
        if not _DOUBT.search(segment):
            return segment
        # Marks that are percent-encoded announce a value just as well.
        plain = segment.replace("%3B", ";").replace("%3b", ";").replace("%3D", "=").replace("%3d", "=")
        masked = ";".join(self._parameter(one) for one in plain.split(";"))
        if masked == plain:
            return MASK if self._scrubber.findings(plain) else segment
        return masked

    def _parameter(self, text: str) -> str:
        name, mark, value = text.partition("=")
        if not (_is_generated(value or name) or self._scrubber.findings(text)):
            return text
        return f"{name}={MASK}" if mark and not self._scrubber.findings(name) else MASK


def _is_generated(segment: str) -> bool:
    return looks_generated(segment) and max(map(len, _PARTS.split(segment))) >= _WHOLE_RUN
