"""The tour: shop and proxy up, every stop visited and shown, then on serving until somebody has seen enough."""

from __future__ import annotations

import asyncio
import json
import signal
import time
from contextlib import suppress
from typing import Any

from saywhy.core.model import Outcome
from saywhy.demo.drawing import Painter, head_lines
from saywhy.demo.stage import Ledger, Stage, stage
from saywhy.demo.stops import STOPS
from saywhy.demo.visits import Visit, Visitor, session


async def run(port: int, *, once: bool, as_json: bool) -> int:
    """Give the tour; gives 0, or 1 when a stop did not show what it promises.

    With `once` it ends there; else the stage stays up until SIGINT or SIGTERM, which is a clean end.
    """
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    ledger = Ledger()
    async with stage(port, ledger) as standing:
        touring = asyncio.create_task(_tell(standing) if as_json else _show(standing, port))
        waiting = asyncio.create_task(stop.wait())
        await asyncio.wait({touring, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if not touring.done():
            touring.cancel()
            with suppress(asyncio.CancelledError):
                await touring
            return 130
        broken = touring.result()
        if not once:
            _keep_serving(standing, ledger)
            await waiting
            Painter().say("\nThe shop is closed.")
        waiting.cancel()
    return 1 if broken else 0


async def _show(standing: Stage, port: int) -> int:
    painter = Painter()
    painter.opening(standing, port, len(STOPS), sum(bool(stop.code) for stop in STOPS))
    visits: list[Visit] = []
    async with session() as http:
        visitor = Visitor(standing, http)
        for number, stop in enumerate(STOPS, 1):
            visits.append(await visitor.visit(stop))
            painter.stop(number, len(STOPS), visits[-1], standing.proxy)
        painter.events(await visitor.events())
    painter.closing(visits)
    return sum(not visit.as_promised for visit in visits)


async def _tell(standing: Stage) -> int:
    broken = 0
    async with session() as http:
        visitor = Visitor(standing, http)
        for stop in STOPS:
            visit = await visitor.visit(stop)
            broken += not visit.as_promised
            print(json.dumps(_line(visit), ensure_ascii=False), flush=True)
    return broken


def _line(visit: Visit) -> dict[str, Any]:
    before, after = visit.before, visit.after
    envelope = (
        json.loads(after.body) if visit.stop.action == "rewrite" and after.media.endswith("json") else None
    )
    return {
        "title": visit.stop.title,
        "method": visit.stop.method,
        "path": visit.stop.path,
        "accept": visit.stop.accept,
        "before": {"status": before.status, "media": before.media, "bytes": len(before.body)}
        if before
        else None,
        "after": {
            "status": after.status,
            "media": after.media,
            "bytes": len(after.body),
            "code": visit.code or None,
        },
        "fields": head_lines(after)[1:-1],
        "envelope": envelope,
        "browser_untouched": visit.browser_untouched,
        "as_promised": visit.as_promised,
    }


def _keep_serving(standing: Stage, ledger: Ledger) -> None:
    painter = Painter()
    painter.say()
    painter.say(
        f"Still serving on {standing.proxy}: paste a line from above, or open it in a browser. Ctrl-C ends it.",
        "bold",
    )
    painter.say()

    def show(outcome: Outcome) -> None:
        clock = time.strftime("%H:%M:%S", time.localtime(outcome.started))
        came = outcome.original_status or outcome.failure
        painter.say(
            f"{clock}  {outcome.method} {outcome.path}  {came} -> {outcome.sent_status}  {_fate(outcome)}"
        )

    ledger.listener = show


def _fate(outcome: Outcome) -> str:
    verdict = outcome.verdict
    if verdict is None or verdict.action == "pass":
        return (
            "untouched, the caller is no agent"
            if verdict is not None and not verdict.caller.is_agent
            else "untouched"
        )
    return f"{verdict.action}: {verdict.code} by {verdict.rule or verdict.decided_by}"
