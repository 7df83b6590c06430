"""Figures -> the Markdown tables. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tests.bench.bars import judged
from tests.bench.figures import Figures, middle
from tests.bench.scenarios import SCENARIOS

NAMES = {
    "saywhy": "**saywhy**", "saywhy-2": "**saywhy**, 2 workers", "nginx": "nginx", "haproxy": "HAProxy",
    "haproxy-lua": "HAProxy, a Lua action on responses", "envoy": "Envoy", "caddy": "Caddy", "traefik": "Traefik",
    "mitmproxy": "mitmproxy", "aiohttp": "a plain proxy with aiohttp",
}  # fmt: skip
FULL = [name for name, scenario in SCENARIOS.items() if scenario.kind == "full"]


def _cell(value: float | None, form: str = ".2f") -> str:
    return "-" if value is None else format(value, form)


def _lines(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    aligned = ["---", *["---:"] * (len(heads) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in (heads, aligned, *rows))


def _by_cost(figures: Figures) -> list[str]:
    return sorted(figures.targets, key=lambda name: figures.cost(name, "1k") or float("inf"))


def _named(figures: Figures, target: str) -> str:
    return f"{NAMES[target]} {figures.targets[target]}"


def summary(figures: Figures) -> str:
    """The table for readers: who, how many requests a core serves, and beside nginx; the cheapest first."""
    heads = ["one core, 64 connections, access log on", "1 KB requests a second of CPU", "x nginx", "100 KB x nginx",
             "10 MB x nginx", "404 x nginx", "agent's 404 a second (each a new page)", "added p99, ms", "RSS idle, MB"]  # fmt: skip
    rows = []
    for target in _by_cost(figures):
        cost = figures.cost(target, "1k")
        beside = [_cell(figures.ratio(target, "nginx", name)) for name in ("1k", "100k", "10m", "404")]
        agent, fresh = (_cell(figures.rate(target, name), ",.0f") for name in ("404agent", "404fresh"))
        rows.append([
            _named(figures, target), _cell(1e4 / cost if cost else None, ",.0f"), *beside, "-" if agent == "-" else f"{agent} ({fresh})",
            _cell(figures.added_p99(target)), _cell(figures.memory(target, "start", "resting"), ".0f"),
        ])  # fmt: skip
    return _lines(heads, rows)


def bars(figures: Figures) -> str:
    """Every bar with its figure."""
    return _lines(
        ["bar", "figure", ""], ([promise, figure, verdict] for promise, figure, verdict in judged(figures))
    )


def ratios(figures: Figures) -> str:
    """saywhy beside each target: how many requests it serves with the CPU time in which the other serves one."""
    others = [name for name in _by_cost(figures) if name != "saywhy"]
    measured = [name for name in FULL if any(figures.ratio("saywhy", other, name) for other in others)]
    return _lines(
        ["saywhy's efficiency beside", *(NAMES[other] for other in others)],
        (
            [
                f"{name}: {SCENARIOS[name].about}",
                *(_cell(figures.ratio("saywhy", other, name)) for other in others),
            ]
            for name in measured
        ),
    )


def costs(figures: Figures) -> str:
    """CPU seconds per 10,000 requests: the best clean sample, the median in brackets; answers a second as wrk saw them."""
    targets = _by_cost(figures)
    measured = [name for name in FULL if any(figures.cost(target, name) for target in targets)]

    def cell(target: str, name: str) -> str:
        found = figures.costs(target, name)
        if not found:
            return "-"
        return f"{found[0]:.3f} ({middle(found):.3f}), {_cell(figures.rate(target, name), ',.0f')}/s"

    rows = ([name, *(cell(target, name) for target in targets)] for name in measured)
    return _lines(["CPU s / 10,000", *(NAMES[target] for target in targets)], rows)


def latencies(figures: Figures) -> str:
    """Open loop at half of each target's own throughput: what each adds to the site alone at the same rate."""
    rows = []
    for target in _by_cost(figures):
        found = figures.samples(target, "lat")
        if found:
            through, alone = (middle([one[key] for one in found]) for key in ("p99", "direct_p99"))
            added = figures.added(target, "p99")
            rows.append([
                _named(figures, target), _cell(middle([one["rate"] for one in found]), ",.0f"), _cell(through),
                _cell(alone), _cell(middle(added)), _cell(added[0] if added else None), _cell(middle(figures.added(target, "p50"))),
            ])  # fmt: skip
    heads = ["", "rate, /s", "p99, ms", "p99 of the site alone", "added p99", "best sample's", "added p50"]
    return _lines(heads, rows)


def memory(figures: Figures) -> str:
    """Resident megabytes (10^6), all processes of a target together."""
    heads = [
        "RSS, MB",
        "idle",
        "after an agent's error",
        "64 x 10 MB add",
        "5,000 idle connections",
        "peak at 1 KB",
        "peak at c5000",
    ]
    return _lines(heads, (
        [
            _named(figures, target), _cell(figures.memory(target, "start", "resting"), ".0f"),
            _cell(figures.memory(target, "start", "after_error"), ".0f"), _cell(figures.growth(target, "streams64"), "+.1f"),
            _cell(figures.memory(target, "idle5000", "kept"), ".0f"), _cell(figures.memory(target, "1k", "peak"), ".0f"),
            _cell(figures.memory(target, "c5000", "peak"), ".0f"),
        ]
        for target in _by_cost(figures)
    ))  # fmt: skip


def transfers(figures: Figures) -> str:
    """One GiB on one connection."""
    rows = []
    for target in _by_cost(figures):
        for name in ("down1g", "up1g"):
            if found := figures.samples(target, name):
                fastest = min(found, key=lambda one: one["seconds"])
                whole = all(one["bytes"] == 1 << 30 for one in found)
                rows.append([
                    _named(figures, target), SCENARIOS[name].about, _cell(fastest["bytes"] / fastest["seconds"] / 1e6, ",.0f"),
                    _cell(min(one["cpu"] for one in found)), "yes" if whole else "NO",
                ])  # fmt: skip
    return _lines(["", "", "MB/s", "CPU s", "whole"], rows)
