"""Samples -> one Markdown table."""

from __future__ import annotations

import platform
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

DISTURBED = 0.08
"""Share of the proxy's core that others may use before a sample is taken again and, with cleaner ones, dropped."""


def _of(samples: Sequence[dict[str, Any]], target: str, scenario: str) -> list[dict[str, Any]]:
    """A target's clean samples of a scenario; all of them where none is clean."""
    found = [one for one in samples if (one["target"], one["scenario"]) == (target, scenario)]
    return [one for one in found if one.get("others", 0) <= DISTURBED] or found


def _cost(samples: Sequence[dict[str, Any]], target: str, scenario: str) -> float | None:
    """CPU seconds per 10,000 requests: the best sample, as contention only ever adds."""
    costs = [one["cpu10k"] for one in _of(samples, target, scenario) if one["requests"] > 100]
    return min(costs, default=None)


def _cell(value: float | None, form: str = ",.2f") -> str:
    return "-" if value is None else format(value, form)


def _row(samples: Sequence[dict[str, Any]], target: str, scenarios: Sequence[str], version: str) -> str:
    cells = [f"{target} {version}"]
    for scenario in scenarios:
        taken = _of(samples, target, scenario)
        if scenario == "lat":
            latencies = [
                statistics.median(one[q] for one in taken) if taken else None for q in ("p50", "p99")
            ]
            cells.append(" / ".join(_cell(one) for one in latencies))
            continue
        cost, base = _cost(samples, target, scenario), _cost(samples, "nginx", scenario)
        against = f" ({base / cost:.2f} x nginx)" if cost and base and target != "nginx" else ""
        cells.append(_cell(cost, ".3f") + against)
        cells.append(_cell(10_000 / cost if cost else None, ",.0f"))
    errors = sum(one.get("errors", 0) for one in samples if one["target"] == target)
    idle = next(
        (one["peak"] for one in samples if (one["target"], one["scenario"]) == (target, "idle")), None
    )
    peak = max((one["peak"] for one in samples if one["target"] == target), default=None)
    return "| " + " | ".join([*cells, f"{_cell(idle, '.0f')} / {_cell(peak, '.0f')}", str(errors)]) + " |"


def markdown(samples: Sequence[dict[str, Any]], versions: Mapping[str, str], generator: str) -> str:
    """The table, the cheapest target first, with what the figures mean below it."""
    scenarios = list(dict.fromkeys(one["scenario"] for one in samples if one["scenario"] != "idle"))
    heads = ["target"]
    for scenario in scenarios:
        heads += ["p50 / p99 ms"] if scenario == "lat" else [f"{scenario}: CPU s / 10k", "a core's req/s"]
    heads += ["RSS idle / peak MB", "errors"]
    first = scenarios[0]
    order = sorted(versions, key=lambda name: _cost(samples, name, first) or float("inf"))
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += [_row(samples, name, scenarios, versions[name]) for name in order]
    notes = (
        f"Asked by {generator}; Python {platform.python_version()} on {platform.machine()}. CPU is user and system time of "
        "the proxy's processes (best clean sample); a core's requests a second is its inverse, and `x nginx` the "
        "efficiency beside nginx in the same run."
    )
    return "\n".join([*lines, "", notes, ""])
