"""The numbers of several processes as those of one: what a scrape of `workers: N` adds up.

A counter never goes back: what a process had counted when it was last heard of stays in the sum after its end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from prometheus_client import ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from saywhy.edge.meter import Key, Meter, Snapshot
from saywhy.edge.metrics import MERGED


def to_json(snapshot: Snapshot) -> Any:
    """`snapshot` in lists and objects: JSON has no tuples for keys."""
    return [{name: [[*key, cell] for key, cell in cells.items()] for name, cells in part.items()}
            for part in snapshot]  # fmt: skip


def from_json(value: Any) -> Snapshot:
    """The other way round. Raises ValueError, TypeError or KeyError where it is none."""
    counts, buckets, gauges = (
        {name: {tuple(row[:-1]): row[-1] for row in rows} for name, rows in part.items()} for part in value
    )
    return Snapshot(counts, buckets, gauges)


Cell = TypeVar("Cell")


class Totals:
    """Shows in `meter` what the processes have counted, the ended ones among them."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._living: dict[int, Snapshot] = {}
        self._ended = Snapshot({}, {}, {})

    def heard(self, process: int, snapshot: Snapshot) -> None:
        """What `process` has counted so far."""
        self._living[process] = snapshot

    def ended(self, process: int) -> None:
        """`process` is no more: its counts stay, its gauges go."""
        last = self._living.pop(process, None)
        if last is not None:
            self._ended = _sum([self._ended, last])._replace(gauges={})

    def show(self) -> None:
        """Put the sum into the meter."""
        self._meter.show(_sum([self._ended, *self._living.values()]))


def _sum(snapshots: Iterable[Snapshot]) -> Snapshot:
    total = Snapshot({}, {}, {})
    for one in snapshots:
        for name, counts in one.counts.items():
            _add(total.counts, name, counts, lambda left, right: left + right)
        for name, gauges in one.gauges.items():
            _add(
                total.gauges, name, gauges, min if MERGED[name] == "min" else lambda left, right: left + right
            )
        for name, cells in one.buckets.items():
            _add(total.buckets, name, cells, _both)
    return total


def _both(left: list[float], right: list[float]) -> list[float]:
    return [one + other for one, other in zip(left, right, strict=True)]


def _add(
    into: dict[str, dict[Key, Cell]], name: str, cells: Mapping[Key, Cell], plus: Callable[[Cell, Cell], Cell]
) -> None:
    known = into.setdefault(name, {})
    for key, cell in cells.items():
        known[key] = plus(known[key], cell) if key in known else cell


class Processes(Collector):
    """What prometheus_client tells of one process (process_*), for this one and its children together.

    CPU time is the sum, that of ended children (`spent`, in seconds) included; memory is the sum, pages that they share
    counted for each; of file descriptors the fullest process counts, for each has the limit for itself.
    """

    def __init__(self, children: Callable[[], Iterable[int]], spent: Callable[[], float]) -> None:
        self._children, self._spent = children, spent
        self._number: int | str = "self"
        self._one = ProcessCollector(pid=lambda: self._number, registry=None)

    def _numbers(self, process: int | str) -> dict[str, Metric]:
        self._number = process
        return {metric.name: metric for metric in self._one.collect()}

    def collect(self) -> Iterator[Metric]:
        """All families, for prometheus_client."""
        own = self._numbers("self")
        others = [self._numbers(child) for child in self._children()]
        for name, metric in own.items():
            values = [one[name].samples[0].value for one in (own, *others) if name in one]
            if name == "process_cpu_seconds":
                yield CounterMetricFamily(name, metric.documentation, value=sum(values) + self._spent())
            elif name in ("process_virtual_memory_bytes", "process_resident_memory_bytes"):
                yield GaugeMetricFamily(name, metric.documentation, value=sum(values))
            elif name == "process_open_fds":
                yield GaugeMetricFamily(name, metric.documentation, value=max(values))
            else:
                yield metric
