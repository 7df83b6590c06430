"""The normalizer as the commands use it, outside the proxy: one saved response in, one verdict out."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from saywhy.cli import layers
from saywhy.cli.output import Failure
from saywhy.core.model import Head, Verdict
from saywhy.core.normalize import Normalizer
from saywhy.core.policy import Routes
from saywhy.core.scrub import Scrubber
from saywhy.edge.assemble import assemble
from saywhy.edge.packs import RuleErrors
from saywhy.edge.settings import SettingsError


class Judged(NamedTuple):
    """A verdict (None: triage let the response pass) and the seconds it took."""

    verdict: Verdict | None
    seconds: float


def workbench(
    config: Path | None = None,
    folders: Sequence[Path] | None = None,
    *,
    all_packs: bool = False,
    quiet: bool = False,
) -> Normalizer:
    """What `serve` would run with the same settings; `all_packs` switches the opt-in packs on, on every route. What is
    doubted is told unless `quiet`.

    Raises Failure (exit code 2) with every mistake in settings and rule files.
    """
    loaded = layers.settings(config, layers.flags(rules=folders), quiet=quiet)
    try:
        made = assemble(loaded.settings, loaded.origins)
    except (SettingsError, RuleErrors) as wrong:
        raise Failure(str(wrong), exit_code=2) from None
    if not all_packs:
        return made
    every = made.rulebook.packs
    routes = Routes(
        tuple(
            replace(route, packs=tuple(dict.fromkeys((*(route.packs or ()), *every))))
            for route in made.routes.routes
        )
    )
    return Normalizer(made.rulebook, routes, Scrubber())


def judge(normalizer: Normalizer, head: Head, body: bytes, *, now: float) -> Judged:
    """What the proxy would do with this response, with the body cut where the proxy stops reading."""
    started = time.perf_counter()
    plan = normalizer.triage(head)
    if plan.action == "pass":
        return Judged(None, time.perf_counter() - started)
    complete = len(body) <= plan.limit
    verdict = normalizer.normalize(head, plan, body[: plan.limit], complete=complete, now=now)
    return Judged(verdict, time.perf_counter() - started)
