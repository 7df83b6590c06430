"""The requests of the tour: each stop once as a browser, straight to the shop and through the proxy, and once as an
agent through the proxy. Real ones, over real sockets.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

import aiohttp

from saywhy.demo.pages import PLANTED
from saywhy.demo.stage import Stage
from saywhy.demo.stops import WAREHOUSE, Stop

BROWSER = {
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
    "Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document", "Sec-Fetch-User": "?1",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer as it came."""

    status: int
    fields: Mapping[str, str]  # names compare without case
    body: bytes

    @property
    def media(self) -> str:
        """The media type without parameters."""
        return self.fields.get("Content-Type", "").partition(";")[0]

    def leaks(self) -> list[str]:
        """Which of the planted secrets stand in it, in the body or in a field."""
        everything = self.body.decode("utf-8", "replace") + "\n".join(self.fields.values())
        return [secret for secret in PLANTED if secret in everything]


@dataclass(frozen=True, slots=True)
class Visit:
    """One stop, visited. `before` is None where there is no site to ask."""

    stop: Stop
    before: Answer | None
    browser: Answer
    after: Answer

    @property
    def browser_untouched(self) -> bool:
        """Whether the browser got through the proxy what the site sends: status and every byte of the body."""
        return self.before is None or (self.browser.status, self.browser.body) == (
            self.before.status,
            self.before.body,
        )

    @property
    def code(self) -> str:
        """The code that the agent is told: the first word of the Agent-Error field."""
        return self.after.fields.get("Agent-Error", "").partition(";")[0]

    @property
    def as_promised(self) -> bool:
        """Whether status and code are those of the table, nothing leaked and no browser noticed."""
        promised = (self.stop.status, self.stop.code)
        return (
            (self.after.status, self.code) == promised and self.browser_untouched and not self.after.leaks()
        )


class Visitor:
    """Makes the requests."""

    def __init__(self, stage: Stage, session: aiohttp.ClientSession) -> None:
        self._stage, self._session = stage, session

    async def visit(self, stop: Stop) -> Visit:
        """All requests of one stop."""
        site_up = not stop.path.startswith(WAREHOUSE)
        before = await self._ask(self._stage.shop, stop, BROWSER) if site_up else None
        browser = await self._ask(self._stage.proxy, stop, BROWSER)
        after = await self._ask(self._stage.proxy, stop, {"Accept": stop.accept})
        return Visit(stop, before, browser, after)

    async def _ask(self, base: str, stop: Stop, fields: dict[str, str]) -> Answer:
        if stop.body:
            fields = fields | {"Content-Type": stop.body_type}
        async with self._session.request(
            stop.method, base + stop.path, headers=fields, data=stop.body or None, allow_redirects=False
        ) as answer:
            return Answer(answer.status, answer.headers, await answer.read())

    async def events(self) -> list[tuple[float, str]]:
        """The shop's event stream through the proxy: seconds since the request, and the data of each event."""
        started, seen = time.monotonic(), []
        async with self._session.get(
            self._stage.proxy + "/events", headers={"Accept": "text/event-stream"}
        ) as stream:
            async for line in stream.content:
                if line.startswith(b"data: "):
                    seen.append((time.monotonic() - started, line[6:].decode().strip()))
        return seen


def session() -> aiohttp.ClientSession:
    """A session that remembers no cookie and decodes nothing, so that bytes can be compared."""
    return aiohttp.ClientSession(
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        skip_auto_headers=("User-Agent", "Accept-Encoding"),
        timeout=aiohttp.ClientTimeout(total=20),
    )
