"""One route's wishes, and the choice of a route by host and path."""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal

Callers = Literal["detect", "everyone", "nobody"]
Mode = Literal["enforce", "shadow", "off"]


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

    def matches(self, host: str, path: str) -> bool:
        """Whether this route is for `host` (no port, lower case) and `path` (raw, no query)."""
        return (not self.host or any(fnmatchcase(host, glob) for glob in self.host)) and (
            not self.path or any(fnmatchcase(path, glob) for glob in self.path)
        )

    def passes_through(self, path: str) -> bool:
        """Whether `path` is one of the paths that are never looked at."""
        return any(fnmatchcase(path, glob) for glob in self.passthrough_paths)


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
        bare = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
        return next((route for route in self.routes if route.matches(bare, path)), None)
