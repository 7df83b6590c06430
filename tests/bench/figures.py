"""Samples -> figures. Pure: what the tables and the bars ask."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from typing import Any

from tests.bench.scenarios import SCENARIOS

DISTURBED = 0.08
"""Share of the target's core that others may use before a sample is taken again and, beside cleaner ones, dropped."""
FEWEST_SECONDS = 0.1
"""Of CPU time, below which a sample says nothing: the kernel counts in ticks of 10 ms."""


class Figures:
    """One run's samples by target and scenario."""

    def __init__(self, samples: Iterable[dict[str, Any]]) -> None:
        self._samples: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for one in samples:
            self._samples.setdefault((one["target"], one["scenario"]), []).append(one)

    @property
    def targets(self) -> dict[str, str]:
        """Those that were measured, with their versions."""
        return {
            target: found[-1]["version"]
            for (target, scenario), found in self._samples.items()
            if scenario == "start" and "version" in found[-1]
        }

    @property
    def left_out(self) -> dict[str, str]:
        """What was not measured, and why; a failed sample is that too."""
        return {
            (target if scenario == "start" else scenario if target == "-" else f"{target} {scenario}"): why
            for (target, scenario), found in self._samples.items()
            for one in found
            if (why := one.get("left_out") or one.get("failed"))
        }

    def samples(self, target: str, scenario: str) -> list[dict[str, Any]]:
        """The clean ones; all where none is clean."""
        found = [
            one
            for one in self._samples.get((target, scenario), [])
            if not one.keys() & {"left_out", "failed"}
        ]
        return [one for one in found if one.get("others", 0) <= DISTURBED] or found

    def disturbed(self) -> list[str]:
        """Targets and scenarios without any clean sample."""
        return [
            f"{target} {scenario}"
            for (target, scenario), found in self._samples.items()
            if all(one.get("others", 0) > DISTURBED for one in found)
        ]

    def reconnecting(self) -> list[str]:
        """Who opened more connections to the site than callers had, and one more for every hundred requests."""
        return [
            f"{target} {scenario} ({one['site_connections']:,} for {one['requests']:,.0f} requests)"
            for (target, scenario), found in self._samples.items()
            for one in found
            if "site_connections" in one
            and one["site_connections"] > SCENARIOS[scenario].connections + one["requests"] / 100
        ]

    def values(self, target: str, scenario: str, key: str) -> list[float]:
        """One figure of every sample that has it."""
        return [one[key] for one in self.samples(target, scenario) if one.get(key) is not None]

    def costs(self, target: str, scenario: str) -> list[float]:
        """CPU seconds per 10,000 requests, cheapest first."""
        found = self.samples(target, scenario)
        return sorted(one["cpu10k"] for one in found if one["cpu"] >= FEWEST_SECONDS and "cpu10k" in one)

    def cost(self, target: str, scenario: str) -> float | None:
        """The cheapest: others on the machine only ever add."""
        return next(iter(self.costs(target, scenario)), None)

    def ratio(self, target: str, other: str, scenario: str) -> float | None:
        """How many requests `target` serves with the CPU time in which `other` serves one."""
        cost, beside = self.cost(target, scenario), self.cost(other, scenario)
        return beside / cost if cost and beside else None

    def rate(self, target: str, scenario: str) -> float | None:
        """Answers a second as they were counted, the best sample."""
        return max(self.values(target, scenario, "rps"), default=None)

    def added(self, target: str, quantile: str) -> list[float]:
        """Milliseconds over the site alone at the same rate, a value a sample, least first."""
        found = self.samples(target, "lat")
        return sorted(one[quantile] - one[f"direct_{quantile}"] for one in found if one.get("requests"))

    def added_p99(self, target: str) -> float | None:
        """The median sample's."""
        found = self.added(target, "p99")
        return statistics.median(found) if found else None

    def memory(self, target: str, scenario: str, key: str) -> float | None:
        """Megabytes (10^6), the highest seen."""
        return max(self.values(target, scenario, key), default=None)

    def growth(self, target: str, scenario: str) -> float | None:
        """Megabytes that a scenario added at its peak."""
        found = self.samples(target, scenario)
        return max((one["peak"] - one["resting"] for one in found), default=None)

    def errors(self, target: str) -> int:
        """Transport errors and answers that never came, in all samples."""
        return sum(
            int(one.get("errors", 0))
            for (name, _), found in self._samples.items()
            if name == target
            for one in found
        )


def middle(values: Sequence[float]) -> float | None:
    """The median, None of nothing."""
    return statistics.median(values) if values else None
