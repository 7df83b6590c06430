"""Reloading: build all, test, swap one pointer. A set that does not load never replaces one that works.

Three things ask for it: SIGHUP, POST /-/reload, and a changed content hash of the files, looked at every two seconds.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from saywhy.core.normalize import Normalizer
from saywhy.edge.assemble import assemble, digest, identity
from saywhy.edge.heap import give_back
from saywhy.edge.meter import Meter, ReloadGauges
from saywhy.edge.packs import RuleErrors
from saywhy.edge.settings import Loaded, Problem, SettingsError, Upstream
from saywhy.edge.trust import TrustError, require_usable

POLL_SECONDS = 2.0

AT_START_ONLY = ("listen", "admin", "limits", "deadlines", "forwarding", "log")
"""Sections that the relay and the sockets took when they were made."""


class Swaps(Protocol):
    """The relay, as far as a reload goes."""

    normalizer: Any

    def replace_upstreams(self, upstreams: Mapping[str, Upstream]) -> None:
        """Take over other sites; what is unchanged keeps its connections."""


def build(loaded: Loaded) -> Normalizer:
    """The set for a proxy that is to run: as `assemble`, and there must be a site."""
    if not loaded.settings.upstreams:
        remedy = "are missing: there is no site to stand in front of; give --upstream http://host:port, or name one in a settings file."
        raise SettingsError([Problem(str(loaded.file or ""), "upstreams", remedy)])
    require_usable(loaded.settings, loaded.origins)
    return assemble(loaded.settings, loaded.origins)


class Reloader:
    """Holds the set in force and replaces it. `loaded` and `normalizer` are the set of the start."""

    def __init__(
        self,
        loaded: Loaded,
        load: Callable[[], Loaded],
        relay: Swaps,
        meter: Meter,
        events: Any,
    ) -> None:
        self.loaded = loaded
        self._load = load
        self._relay = relay
        self._meter = meter
        self._events = events
        self._gauges = ReloadGauges(meter)
        self._busy = asyncio.Lock()
        self._gauges.applied(identity(loaded))
        self._seen = digest(loaded)
        self._doubted = loaded.doubts  # told at the start

    async def reload(self, why: str) -> tuple[str, ...]:
        """Load settings and rules anew. The problems that kept the old set in force; none when the new one is."""
        async with self._busy:
            try:
                # What is on disk now was looked at, whatever comes of it: the poll must not try the same content again.
                self._seen = await asyncio.to_thread(digest, self.loaded)
                loaded, normalizer, seen = await asyncio.to_thread(self._build)
            except (SettingsError, RuleErrors) as refused:
                return self._refuse(why, str(refused).splitlines())
            except Exception as unforeseen:  # a set that breaks the loader breaks nothing else
                return self._refuse(why, [f"{type(unforeseen).__name__}: {unforeseen}"])
            try:
                self._put_in_force(loaded, normalizer, why)
            except TrustError as vanished:  # a file of a site's, since it was tried
                return self._refuse(why, [f"upstreams: {vanished.key} {vanished}"])
            self._seen = seen
            return ()

    def _refuse(self, why: str, problems: Sequence[str]) -> tuple[str, ...]:
        self._gauges.refused()
        self._events.error(
            "reload refused; the old settings and rules stay in force", why=why, problems=list(problems)
        )
        return tuple(problems)

    def _build(self) -> tuple[Loaded, Normalizer, str]:
        loaded = self._load()
        # Taken before the rules are read, so that a change while they are is seen by the next poll.
        seen = digest(loaded)
        return loaded, build(loaded), seen

    def _put_in_force(self, loaded: Loaded, normalizer: Normalizer, why: str) -> None:
        before, after = self.loaded.settings, loaded.settings
        waiting = [name for name in AT_START_ONLY if getattr(before, name) != getattr(after, name)]
        self._relay.replace_upstreams(after.upstreams)
        self._meter.know(after.upstreams, known_rules(normalizer))
        self._relay.normalizer = normalizer
        self.loaded = loaded
        self._gauges.applied(identity(loaded))
        settle()
        self._events.info("reloaded", why=why, hash=self._gauges.hash, rules=len(normalizer.rulebook.rules))
        for doubt in [one for one in loaded.doubts if one not in self._doubted]:
            self._events.warning(str(doubt))
        self._doubted = loaded.doubts
        if waiting:
            self._events.warning("a restart is needed before these take effect", settings=waiting)

    async def watch(self) -> None:
        """Look at the files until cancelled."""
        while True:
            await asyncio.sleep(POLL_SECONDS)
            if await asyncio.to_thread(digest, self.loaded) != self._seen:
                await self.reload("changed files")


def settle() -> None:
    """Let go of what nothing refers to any more, and take all that is left (rules, modules) out of the collector's
    sight: it is there for good, and walking it would stop the loop for tens of milliseconds now and then.
    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    give_back()


def known_rules(normalizer: Normalizer) -> list[tuple[str, str]]:
    """(pack/id, mode) of every rule, as the meter wants them."""
    return [(f"{rule.pack}/{rule.id}", rule.mode) for rule in normalizer.rulebook.rules]
