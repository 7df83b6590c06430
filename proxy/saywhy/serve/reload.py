"""Reloading: build all, test, swap one pointer. A set that does not load never replaces one that works.

Three things ask for it: SIGHUP, POST /-/reload, and a changed content hash of the files, looked at every two seconds.
"""

from __future__ import annotations

import asyncio
import gc
import ssl
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

from saywhy.core.normalize import Normalizer
from saywhy.edge.assemble import digest, identity, watched
from saywhy.edge.fingerprint import Prints, differing, folded
from saywhy.edge.heap import give_back
from saywhy.edge.meter import Meter, ReloadGauges
from saywhy.edge.ondisk import doubts_on_disk
from saywhy.edge.packs import RuleErrors
from saywhy.edge.settings import Loaded, Problem, Settings, SettingsError, Unpaired
from saywhy.edge.trust import TrustError
from saywhy.serve.certificates import ends_at
from saywhy.serve.mistakes import put_together, with_files

POLL_SECONDS = 2.0

AT_START_ONLY = ("listen", "admin", "workers", "limits", "deadlines", "forwarding", "log")
"""Sections that the relay and the sockets took when they were made."""

_MOST_NAMES = 20
"""Of changed files in one line; a checkout changes hundreds."""

_READINGS = 3
"""Of files that change while they are read."""

UNPAIRED_LOOKS = 5
"""So often a key and a certificate that do not match are only looked at. Whoever renews them writes one after the other,
perhaps seconds apart; an error at each renewal would teach operators to overlook it. The old pair serves all the
while, so ten seconds cost nothing, and whoever asks for a reload himself is told at once.
"""

_BY_ITSELF = "changed files"

CHANGED = "The files go on changing while they are read; the set is taken once they rest."


class Build(NamedTuple):
    """A set that may be put in force. `files` are the hashes of its files, `seen` is that of them all, `identity` that of
    all that it came from.
    """

    loaded: Loaded
    normalizer: Normalizer
    tls: ssl.SSLContext | None
    files: Prints
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
        files = watched(loaded)
        seen = folded(files)
        if not loaded.settings.upstreams:
            remedy = "are missing: there is no site to stand in front of; give --upstream http://host:port, or name one in a settings file."
            raise SettingsError([Problem(str(loaded.file or ""), "upstreams", remedy)])
        normalizer, tls = put_together(loaded)
        if digest(loaded) == seen:
            break
    doubts = (*loaded.doubts, *doubts_on_disk(loaded, serving=True))
    return Build(replace(loaded, doubts=doubts), normalizer, tls, files, seen, identity(loaded, seen))


class Target(Protocol):
    """Where sets are put in force: one process, or all workers of a parent."""

    async def agree(self, build: Build) -> Sequence[str]:
        """Why `build` cannot be put in force; nothing where it can."""

    async def put_in_force(self, build: Build) -> None:
        """From now on, exchanges begin with `build`."""


class Reloader:
    """Holds the set in force and replaces it. `build` is the set of the start; `busy` is held while a thread makes another.
    `needs_restart` are the settings that are not what runs, and that a reload does not change.
    """

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
        self._started = build.loaded.settings
        self.needs_restart: tuple[str, ...] = ()
        self._unpaired = 0
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
        except Unpaired as half:
            problems = str(half).splitlines()
            return self._wait_for_the_other(problems) if why == _BY_ITSELF else self._refuse(why, problems)
        except (SettingsError, RuleErrors) as refused:
            return self._refuse(why, str(refused).splitlines())
        except Exception as unforeseen:  # a set that breaks the loader breaks nothing else
            return self._refuse(why, [f"{type(unforeseen).__name__}: {unforeseen}"])
        if build.tls is None:  # sockets that were opened for TLS go on until the restart
            build = build._replace(tls=self.build.tls)
        if refusals := await self._target.agree(build):
            if list(refusals) == [CHANGED] and not last:
                return None
            self._seen = build.seen
            return self._refuse(why, refusals)
        try:
            await self._target.put_in_force(build)
        except TrustError as vanished:  # a file of a site's, since it was tried
            return self._refuse(why, [f"upstreams: {vanished.key} {vanished}"])
        self._seen = build.seen
        self._tell(build, why)
        return ()

    def _wait_for_the_other(self, problems: Sequence[str]) -> tuple[str, ...]:
        """Half a renewal, seen by a look at the files: look again before it is called an error."""
        self._unpaired += 1
        if self._unpaired > UNPAIRED_LOOKS:
            return self._refuse(_BY_ITSELF, problems)
        if self._unpaired == 1:
            seconds = UNPAIRED_LOOKS * POLL_SECONDS
            self._events.info(
                "reload_waits",
                f"A certificate and its key do not match; waiting up to {seconds:g} s for the other of a renewal.",
                problems=list(problems),
            )
        self._seen = ""  # whatever is there by the next look is looked at
        return tuple(problems)

    def _refuse(self, why: str, problems: Sequence[str]) -> tuple[str, ...]:
        self._unpaired = 0
        self._gauges.refused()
        self._events.error(
            "reload_refused",
            "Reload refused; the old settings and rules stay in force.",
            why=why,
            problems=list(problems),
        )
        return tuple(problems)

    def _tell(self, build: Build, why: str) -> None:
        before, self.build = self.build, build
        settings = build.loaded.settings
        self.needs_restart = tuple(_waiting(self._started, settings))
        self._unpaired = 0
        self._gauges.applied(build.identity)
        changed = differing(before.files, build.files)
        about: dict[str, Any] = {}
        certificate = settings.tls.certificate_file
        if build.tls is not None and certificate is not None and str(certificate) in changed:
            about["certificate_until"] = ends_at(certificate) or "unknown"
        self._events.info(
            "reloaded",
            "Settings and rules were loaded anew.",
            why=why, changed=changed[:_MOST_NAMES], hash=build.identity,
            rules=len(build.normalizer.rulebook.rules), **about,
        )  # fmt: skip
        for doubt in [one for one in build.loaded.doubts if one not in self._doubted]:
            self._events.warning("doubt", str(doubt))
        self._doubted = build.loaded.doubts
        if self.needs_restart:
            sentence = restart_sentence(self.needs_restart)
            self._events.warning("restart_needed", sentence, settings=list(self.needs_restart))

    async def watch(self) -> None:
        """Look at the files until cancelled."""
        while True:
            await asyncio.sleep(POLL_SECONDS)
            if await asyncio.to_thread(digest, self.build.loaded) != self._seen:
                await self.reload(_BY_ITSELF)


def _waiting(started: Settings, now: Settings) -> Iterator[str]:
    """The settings of `now` that are not those of the start, which run."""
    for name in AT_START_ONLY:
        if getattr(started, name) != getattr(now, name):
            yield name
    if started.tls.listen != now.tls.listen:
        yield "tls.listen"


def as_started(build: Build, started: Settings) -> Build:
    """`build` for a process that takes the place of one that runs since the start: what a reload does not change there is
    what it was at the start here, too.
    """
    settings = build.loaded.settings.model_copy(
        update={name: getattr(started, name) for name in AT_START_ONLY}
    )
    return build._replace(loaded=replace(build.loaded, settings=settings))


def restart_sentence(waiting: Sequence[str]) -> str:
    """What to do about settings that wait for a restart; empty where none does."""
    if not waiting:
        return ""
    names = " and ".join(filter(None, (", ".join(waiting[:-1]), waiting[-1])))
    return f"A restart is needed before {names} take{'s' if len(waiting) == 1 else ''} effect."


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
