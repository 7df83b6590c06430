"""Reloading: build all, test, swap one pointer. A set that does not load never replaces one that works.

Three things ask for it: SIGHUP, POST /-/reload, and a changed content hash of the files, looked at every two seconds.
"""

from __future__ import annotations

import asyncio
import gc
import ssl
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

from saywhy.core.normalize import Normalizer
from saywhy.edge.assemble import digest, identity
from saywhy.edge.heap import give_back
from saywhy.edge.meter import Meter, ReloadGauges
from saywhy.edge.ondisk import doubts_on_disk
from saywhy.edge.packs import RuleErrors
from saywhy.edge.settings import Loaded, Problem, SettingsError
from saywhy.edge.trust import TrustError
from saywhy.serve.mistakes import put_together, with_files

POLL_SECONDS = 2.0

AT_START_ONLY = ("listen", "admin", "workers", "limits", "deadlines", "forwarding", "log")
"""Sections that the relay and the sockets took when they were made."""

_READINGS = 3
"""Of files that change while they are read."""

CHANGED = "The files go on changing while they are read; the set is taken once they rest."


class Build(NamedTuple):
    """A set that may be put in force. `seen` is the hash of its files, `identity` that of all that it came from."""

    loaded: Loaded
    normalizer: Normalizer
    tls: ssl.SSLContext | None
    seen: str
    identity: str


def make_build(load: Callable[[], Loaded]) -> Build:
    """The set of what stands in the files now, all of one moment: read again where they change meanwhile. There must be
    a site to stand in front of. Raises SettingsError or RuleErrors.
    """
    for _ in range(_READINGS):
        try:
            loaded = load()
        except SettingsError as wrong:
            raise with_files(wrong) from None
        # Taken before the rules are read, so that a change while they are is seen by the next poll.
        seen = digest(loaded)
        if not loaded.settings.upstreams:
            remedy = "are missing: there is no site to stand in front of; give --upstream http://host:port, or name one in a settings file."
            raise SettingsError([Problem(str(loaded.file or ""), "upstreams", remedy)])
        normalizer, tls = put_together(loaded)
        if digest(loaded) == seen:
            break
    doubts = (*loaded.doubts, *doubts_on_disk(loaded, serving=True))
    return Build(replace(loaded, doubts=doubts), normalizer, tls, seen, identity(loaded, seen))


class Target(Protocol):
    """Where sets are put in force: one process, or all workers of a parent."""

    async def agree(self, build: Build) -> Sequence[str]:
        """Why `build` cannot be put in force; nothing where it can."""

    async def put_in_force(self, build: Build) -> None:
        """From now on, exchanges begin with `build`."""


class Reloader:
    """Holds the set in force and replaces it. `build` is the set of the start; `busy` is held while a thread makes another."""

    def __init__(
        self,
        build: Build,
        load: Callable[[], Loaded],
        target: Target,
        meter: Meter,
        events: Any,
        busy: asyncio.Lock | None = None,
    ) -> None:
        self.build = build
        self._load = load
        self._target = target
        self._events = events
        self._gauges = ReloadGauges(meter)
        self._gauges.applied(build.identity)
        self._seen = build.seen
        self._doubted = build.loaded.doubts  # told at the start
        self._busy = busy or asyncio.Lock()
        self._turn = asyncio.Lock()
        self._next: asyncio.Task[tuple[str, ...]] | None = None

    async def reload(self, why: str) -> tuple[str, ...]:
        """Load settings and rules anew. The problems that kept the old set in force; none when the new one is.

        Whoever asks while one reload is at work waits for the next, together with all others who do: signals that come
        faster than sets are built must not pile up.
        """
        if self._next is None:
            self._next = asyncio.create_task(self._when_free(why))
        return await asyncio.shield(self._next)

    async def _when_free(self, why: str) -> tuple[str, ...]:
        async with self._turn:
            self._next = None
            return await self._reload(why)

    async def _reload(self, why: str) -> tuple[str, ...]:
        for attempt in range(1, _READINGS + 1):
            problems = await self._try(why, last=attempt == _READINGS)
            if problems is not None:
                break
        return problems or ()

    async def _try(self, why: str, *, last: bool) -> tuple[str, ...] | None:
        """One attempt; None where the files changed meanwhile, and it was not the last."""
        try:
            async with self._busy:
                # What is on disk now was looked at, whatever comes of it: the poll must not try the same content again.
                self._seen = await asyncio.to_thread(digest, self.build.loaded)
                build = await asyncio.to_thread(make_build, self._load)
        except (SettingsError, RuleErrors) as refused:
            return self._refuse(why, str(refused).splitlines())
        except Exception as unforeseen:  # a set that breaks the loader breaks nothing else
            return self._refuse(why, [f"{type(unforeseen).__name__}: {unforeseen}"])
        if problems := await self._target.agree(build):
            if list(problems) == [CHANGED] and not last:
                return None
            self._seen = build.seen
            return self._refuse(why, problems)
        try:
            await self._target.put_in_force(build)
        except TrustError as vanished:  # a file of a site's, since it was tried
            return self._refuse(why, [f"upstreams: {vanished.key} {vanished}"])
        self._seen = build.seen
        self._tell(build, why)
        return ()

    def _refuse(self, why: str, problems: Sequence[str]) -> tuple[str, ...]:
        self._gauges.refused()
        self._events.error(
            "reload refused; the old settings and rules stay in force", why=why, problems=list(problems)
        )
        return tuple(problems)

    def _tell(self, build: Build, why: str) -> None:
        before, after = self.build.loaded.settings, build.loaded.settings
        waiting = [name for name in AT_START_ONLY if getattr(before, name) != getattr(after, name)]
        if before.tls.listen != after.tls.listen:
            waiting.append("tls.listen")
        self.build = build
        self._gauges.applied(build.identity)
        self._events.info(
            "reloaded", why=why, hash=build.identity, rules=len(build.normalizer.rulebook.rules)
        )
        for doubt in [one for one in build.loaded.doubts if one not in self._doubted]:
            self._events.warning(str(doubt))
        self._doubted = build.loaded.doubts
        if waiting:
            self._events.warning("a restart is needed before these take effect", settings=waiting)

    async def watch(self) -> None:
        """Look at the files until cancelled."""
        while True:
            await asyncio.sleep(POLL_SECONDS)
            if await asyncio.to_thread(digest, self.build.loaded) != self._seen:
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
