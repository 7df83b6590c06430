"""Cases through a proxy: in lanes, each with a site of its own, so that they need not wait for one another.

A lane is a host name that the proxy leads to the lane's site. Cases that play with Host or the target run alone, on the
site to which everything else leads; nothing may reach that one while the lanes are busy.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import NamedTuple

from battery.caller import converse
from battery.case import HOST, Case, Note, Seen
from battery.site import Script, Site, listening

LANES = 12


class Result(NamedTuple):
    """What became of one case. `word` is pass, fail or note."""

    case: Case
    word: str
    seen: Seen
    text: str = ""

    def __str__(self) -> str:
        """All that a failing test has to say."""
        return (
            f"{self.case.name} ({self.case.rule}): {self.text or self.word}\n  sent     {self.case.send!r:.300}\n"
            f"  at site  {self.seen.asked!r:.600}\n  answered {self.seen.answered!r:.600} {self.seen.ended}"
        )


class Sites(NamedTuple):
    """Where everything leads, and the lanes' sites."""

    rest: Site
    lanes: tuple[Site, ...]


@contextlib.asynccontextmanager
async def sites(lanes: int) -> AsyncIterator[Sites]:
    """So many lanes' sites, and the one for the rest."""
    async with contextlib.AsyncExitStack() as stack:
        made = [await stack.enter_async_context(listening()) for _ in range(lanes + 1)]
        yield Sites(made[0], tuple(made[1:]))


_LETTERS = b"cdefghijkmno"
"""First letters of the lanes' names: no case has a name that ends like one (evil.example ends like l.example)."""


def lane_host(lane: int) -> bytes:
    """The name of a lane: as long as HOST, so that lengths stay right."""
    return _LETTERS[lane : lane + 1] + HOST[1:]


async def run(cases: Iterable[Case], port: int, where: Sites, *, patience: float = 1.0) -> list[Result]:
    """Every case through the proxy at `port`; `patience` stretches all waits, for proxies that are slow to answer."""
    waiting = list(cases)
    if not where.lanes:
        return [await run_one(case, port, where.rest, HOST, patience) for case in waiting]
    where.rest.begin(Script())
    shared = [case for case in waiting if not case.alone]
    results: list[Result] = []

    async def drive(lane: int, site: Site) -> None:
        while shared:
            results.append(await run_one(shared.pop(0), port, site, lane_host(lane), patience))

    await asyncio.gather(*(drive(lane, site) for lane, site in enumerate(where.lanes)))
    strays = Seen(b"", "", tuple(where.rest.records))
    word = "fail" if strays.asked else "pass"
    results.append(Result(Case("nothing_strays", "9112 6", b"", lambda seen: not seen.asked), word, strays))
    results += [await run_one(case, port, where.rest, HOST, patience) for case in waiting if case.alone]
    return results


async def run_one(case: Case, port: int, site: Site, host: bytes, patience: float) -> Result:
    """One case."""
    steps = (case.send,) if isinstance(case.send, bytes) else case.send
    sent = tuple(step.replace(HOST, host) if isinstance(step, bytes) else step for step in steps)
    site.begin(case.site)
    got = await converse(
        port, sent, list(case.methods), seconds=case.seconds * patience, settle=0.04 * patience
    )
    await asyncio.sleep(0.01 * patience)
    seen = Seen(
        got.data.replace(host, HOST),
        got.ended,
        tuple(one.replace(host, HOST) for one in site.records),
        case.methods,
    )
    try:
        verdict = case.right(seen)
    except Exception as error:  # a verdict that stumbles over what it saw has not found it right
        return Result(case, "fail", seen, repr(error))
    if isinstance(verdict, Note):
        return Result(case, "note", seen, verdict.text)
    return Result(case, "pass" if verdict else "fail", seen)


Opened = Callable[[Sites], contextlib.AbstractContextManager[int]]
"""Starts a proxy before these sites; its port."""


async def battery(
    cases: Sequence[Case], opened: Opened, *, lanes: int, patience: float = 1.0
) -> list[Result]:
    """All of it, for a proxy that `opened` starts."""
    async with sites(lanes) as where:
        with contextlib.ExitStack() as stack:
            port = await asyncio.to_thread(stack.enter_context, opened(where))
            try:
                return await run(cases, port, where, patience=patience)
            finally:
                await asyncio.to_thread(stack.close)
