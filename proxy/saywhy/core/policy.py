"""One route's wishes, and the choice of a route by host and path."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal

Callers = Literal["detect", "everyone", "nobody"]
Mode = Literal["enforce", "shadow", "off"]


_CODED = re.compile(r"%(?:25)?(2e|2f|5c)", re.IGNORECASE)
_SIGNS = {"2e": ".", "2f": "/", "5c": "/"}


def _segments(path: str) -> list[str]:
    """The segments of `path` as a lenient site reads them: dots and slashes decoded, once and twice."""
    return _CODED.sub(lambda code: _SIGNS[code[1].lower()], path).replace("\\", "/").split("/")


def _has_dots(path: str) -> bool:
    """Whether `path` has a dot segment (RFC 3986 3.3), hidden or with parameters behind it (`..;a`) too."""
    if "/." not in path and "%" not in path and "\\" not in path:
        return False
    return any(segment.partition(";")[0] in (".", "..") for segment in _segments(path))


def without_dots(path: str) -> str:
    """`path` with its dot segments taken out (RFC 3986 5.2.4), as the site will read it; others as they are."""
    if not _has_dots(path):
        return path
    kept: list[str] = []
    segments = _segments(path)
    for segment in segments:
        plain = segment.partition(";")[0]
        if plain == "..":
            del kept[max(1, len(kept) - 1) :]  # the first is what stands before the first slash: nothing
        elif plain != ".":
            kept.append(segment)
    ends = segments[-1].partition(";")[0] in (".", "..")
    return "/".join(kept) + ("/" if ends else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How the exchanges of one route are treated. `upstream` is a name of the settings' upstreams.

    `host` and `path` are globs (`*` any run of characters); an empty tuple matches everything. `packs` are names of
    rule packs in the order in which they are tried; `passthrough_paths` are globs that are never looked at.
    """

    name: str = "default"
    upstream: str = "default"
    host: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    callers: Callers = "detect"
    structured_errors: Literal["keep", "envelope"] = "keep"
    signed_browsers: Literal["headers", "envelope"] = "headers"
    useragents: bool = False
    scrub: Literal["agents", "everyone", "off"] = "agents"
    packs: tuple[str, ...] | None = None  # None: every pack that is not opt-in
    mode: Mode = "enforce"
    passthrough_paths: tuple[str, ...] = ()
    public_url: str = ""  # makes problem+json's `type` absolute
    edge_safe_status: bool = False  # our own 502 and 504 leave as 503

    def matches(self, host: str, path: str) -> bool:
        """Whether this route is for `host` (no port, lower case) and `path` (raw, no query)."""
        name = host.removesuffix(".")  # the same name, written absolute (RFC 1034 3.1)
        # A bracket is an IPv6 address's here, and no set of characters.
        globs = (glob.removesuffix(".").replace("[", "[[]") for glob in self.host)
        if self.host and not any(fnmatchcase(name, glob) for glob in globs):
            return False
        if not self.path:
            return True
        plain = without_dots(path)
        return any(fnmatchcase(plain, glob) for glob in self.path)

    def passes_through(self, path: str) -> bool:
        """Whether `path` is one of the paths that are never looked at. One that the site will take for another path is
        none of them.
        """
        return (
            bool(self.passthrough_paths)
            and any(fnmatchcase(path, glob) for glob in self.passthrough_paths)
            and not _has_dots(path)
        )


@dataclass(frozen=True, slots=True)
class Routes:
    """All routes; the first that matches wins, and the last has no conditions."""

    routes: tuple[Policy, ...] = field(default_factory=lambda: (Policy(),))

    @property
    def only(self) -> Policy | None:
        """The single unconditional route, or None when the head must be asked. The relay's shortcut."""
        first = self.routes[0]
        return first if not first.host and not first.path else None

    def pick(self, host: str, path: str) -> Policy | None:
        """The first route for `host` and `path`; None where no route is meant for it."""
        name, colon, port = host.rpartition(":")
        bare = name if colon and (not port or port.isdigit()) else host  # RFC 3986 3.2.3: a port may be empty
        return next((route for route in self.routes if route.matches(bare, path)), None)
