"""What is asked, one row each. What a kind means is in `samples`."""

from __future__ import annotations

from typing import Literal, NamedTuple

AGENT = "Accept: application/problem+json"
"""What an agent sends here; for every target that rewrites errors it is the sign."""

FAILING = frozenset({"/missing", "/gone", "/down", "/denied60k", "/oops500k"})
"""The site's paths that answer with an error."""

Kind = Literal["full", "paced", "idle", "streams", "download", "upload"]


class Scenario(NamedTuple):
    """A path, on how many kept connections, with which field beside the usual ones."""

    kind: Kind
    about: str
    path: str = "/1k"
    connections: int = 64
    field: str = "Accept: */*"
    body_bytes: int = 0
    """Where set, requests are counted by the bytes that came: one sample holds few whole bodies, and many begun."""

    @property
    def fails(self) -> bool:
        """Whether the site's answer is an error."""
        return self.path in FAILING

    @property
    def for_agents(self) -> bool:
        """Whether an agent asks."""
        return self.field == AGENT

    @property
    def once(self) -> bool:
        """Memory does not drift as time does: it is looked at in the first round alone."""
        return self.kind in ("idle", "streams")


SCENARIOS: dict[str, Scenario] = {
    "idle5000": Scenario(
        "idle", "memory with 5,000 connections that have had an answer and are kept", connections=5000
    ),
    "streams64": Scenario(
        "streams", "memory while 64 callers take 10 MB each, and read nothing at first", "/10m"
    ),
    "1k": Scenario("full", "1 KB"),
    "100k": Scenario("full", "100 KB", "/100k"),
    "10m": Scenario("full", "10 MB", "/10m", body_bytes=10 * 1024 * 1024),
    "404": Scenario("full", "an 8 KB error page, for a browser", "/missing"),
    "503": Scenario("full", "a 503 of 8 KB, for a browser", "/down"),
    "1kagent": Scenario("full", "1 KB, for an agent", "/1k", 64, AGENT),
    "404agent": Scenario("full", "the 8 KB error page, for an agent", "/missing", 64, AGENT),
    "404fresh": Scenario(
        "full", "the same with a reference that is new each time, for an agent", "/gone", 64, AGENT
    ),
    "503agent": Scenario("full", "the 503, for an agent", "/down", 64, AGENT),
    "60kagent": Scenario("full", "an error page of 60 KB, for an agent", "/denied60k", 64, AGENT),
    "500kagent": Scenario("full", "an error page of 500 KB, for an agent", "/oops500k", 64, AGENT),
    "c1000": Scenario("full", "1 KB on 1,000 connections", connections=1000),
    "c5000": Scenario("full", "1 KB on 5,000 connections", connections=5000),
    "lat": Scenario("paced", "latency at half of what was measured at 1 KB, open loop", connections=32),
    "down1g": Scenario("download", "1 GiB down, one stream", "/1g"),
    "up1g": Scenario("upload", "1 GiB up, one stream", "/upload"),
}
