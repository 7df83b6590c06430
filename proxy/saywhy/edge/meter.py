"""Counts exchanges for the metrics that `metrics` names.

An exchange costs a few dictionary increments: prometheus_client's own `inc` and `observe` take a lock each and cost
several microseconds an exchange, so plain integers are counted here and read by one collector when Prometheus asks.
Written from the event loop's thread alone, and read there.
"""

from __future__ import annotations

import sys
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import inf
from typing import NamedTuple

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from saywhy.core.contract.codes import CODES
from saywhy.core.contract.statuses import code_for_status
from saywhy.core.model import Outcome, Verdict
from saywhy.edge.metrics import (
    CLASSES,
    COUNTERS,
    GAUGES,
    HISTOGRAMS,
    MAX_KINDS,
    MERGED,
    PASS_REASONS,
    STATUS_LABELS,
)

Key = tuple[str, ...]


class Snapshot(NamedTuple):
    """All numbers of one process at one moment: metric -> its labels' values -> number, or bucket counts and sum."""

    counts: dict[str, dict[Key, float]]
    buckets: dict[str, dict[Key, list[float]]]
    gauges: dict[str, dict[Key, float]]


class Meter(Collector):
    """Counts outcomes. `registry` is what /metrics shows; `process` are the numbers of the process itself in it."""

    def __init__(self, *, version: str = "0", process: Collector | None = None) -> None:
        self._counts: dict[str, dict[Key, float]] = {name: {} for name in COUNTERS}
        self._buckets: dict[str, dict[Key, list[float]]] = {name: {} for name in HISTOGRAMS}
        self._watched: dict[str, Callable[[], Mapping[Key, float]]] = {}
        self._shown: Mapping[str, Mapping[Key, float]] = {}
        self._class_keys: dict[str, tuple[Key, ...]] = {}
        self._rules: dict[str, str] = {}
        self._requests = self._counts["saywhy_requests_total"]
        self._upstream_buckets = self._buckets["saywhy_upstream_duration_seconds"]
        self._upstream_bounds = HISTOGRAMS["saywhy_upstream_duration_seconds"][2]
        for reason in PASS_REASONS:
            self._add("saywhy_passthrough_total", (reason,), 0)
        self._histogram_cell("saywhy_rewrite_duration_seconds", ())
        python = ".".join(map(str, sys.version_info[:3]))
        self.watch("saywhy_build_info", lambda: {(version, python): 1})
        self.registry = CollectorRegistry(auto_describe=False)
        self.registry.register(self)
        PlatformCollector(registry=self.registry)
        if process is not None:
            self.registry.register(process)
        else:
            ProcessCollector(registry=self.registry)
            GCCollector(registry=self.registry)

    def know(self, upstreams: Iterable[str], rules: Iterable[tuple[str, str]]) -> None:
        """Say which upstreams and rules (`pack/id`, mode) there are, so that their series stand at 0 from the start:
        the first increase of a series that was not there is lost to `rate()`.
        """
        self._class_keys = {upstream: _class_keys(upstream) for upstream in upstreams}
        self._rules = dict(rules)
        for rule, mode in self._rules.items():
            self._add("saywhy_rule_hits_total", (rule, mode), 0)
        for upstream in self._class_keys:
            for status_class in ("2xx", "3xx", "4xx", "5xx"):
                self._add("saywhy_requests_total", (upstream, status_class), 0)
            for name in (
                "saywhy_original_bytes_total",
                "saywhy_sent_bytes_total",
                "saywhy_tokens_saved_estimate_total",
            ):
                self._add(name, (upstream,), 0)
            self._histogram_cell("saywhy_upstream_duration_seconds", (upstream,))
            for row in CODES.values():
                for source in ("site", "proxy"):
                    self._add(
                        "saywhy_errors_total",
                        (upstream, "agent", row.code, str(row.status), source, "status"),
                        0,
                    )

    def watch(self, name: str, read: Callable[[], Mapping[Key, float]]) -> None:
        """Read the metric `name` from `read` (label values -> number) at each scrape. Raises KeyError for a name that
        is not in the tables.
        """
        if name not in GAUGES and name not in COUNTERS:
            raise KeyError(name)
        self._watched[name] = read

    def snapshot(self) -> Snapshot:
        """What is counted and watched at this moment."""
        return Snapshot(
            {name: dict(self._now(name, counts)) for name, counts in self._counts.items()},
            {name: {key: [*cell] for key, cell in cells.items()} for name, cells in self._buckets.items()},
            {name: dict(read()) for name, read in self._watched.items() if MERGED.get(name, "own") != "own"},
        )

    def show(self, snapshot: Snapshot) -> None:
        """From now on stand at what `snapshot` says, as far as nothing of one's own is watched."""
        for name, counts in snapshot.counts.items():
            self._counts[name].update(counts)
        for name, cells in snapshot.buckets.items():
            self._buckets[name].update(cells)
        self._shown = snapshot.gauges

    def record(self, outcome: Outcome) -> None:
        """Count one exchange."""
        _, _, _, _, upstream, _, _, original, status, _, _, _, site, _, verdict, _ = outcome
        keys = self._class_keys.get(upstream)
        if keys is None:
            upstream = "other" if upstream else "none"
            keys = _class_keys(upstream)
        key = keys[status // 100 if status < 1000 else 0]
        requests = self._requests
        requests[key] = requests.get(key, 0) + 1
        if original:
            cell = self._upstream_buckets.get((upstream,))
            if cell is None:
                cell = self._histogram_cell("saywhy_upstream_duration_seconds", (upstream,))
            cell[bisect_left(self._upstream_bounds, site)] += 1
            cell[-1] += site
        if verdict is not None:
            self._record_verdict(outcome, verdict, upstream)
        elif status >= 400:
            self._record_unread(outcome, upstream)

    def _add(self, name: str, key: Key, amount: float) -> None:
        counts = self._counts[name]
        counts[key] = counts.get(key, 0) + amount

    def _histogram_cell(self, name: str, key: Key) -> list[float]:
        """One count for each bucket, one for what is over, and the sum."""
        cells = self._buckets[name]
        if key not in cells:
            cells[key] = [0.0] * (len(HISTOGRAMS[name][2]) + 2)
        return cells[key]

    def _record_unread(self, outcome: Outcome, upstream: str) -> None:
        """An error that nobody looked at: its status is all there is to say."""
        status = outcome.sent_status
        source = "proxy" if outcome.failure else "site"
        label = STATUS_LABELS.get(status, "other")
        self._add(
            "saywhy_errors_total", (upstream, "other", code_for_status(status), label, source, "status"), 1
        )
        if not outcome.failure:
            self._add("saywhy_passthrough_total", ("not_agent",), 1)

    def _record_verdict(self, outcome: Outcome, verdict: Verdict, upstream: str) -> None:
        own = verdict.original_status if verdict.source == "proxy" else 0
        status = STATUS_LABELS.get(own or outcome.sent_status, "other")
        caller = "agent" if verdict.caller.is_agent else "other"
        if verdict.code or outcome.sent_status >= 400:
            word = verdict.code or code_for_status(outcome.sent_status)
            code = word if word in CODES else "other"
            key = (upstream, caller, code, status, verdict.source, verdict.decided_by)
            self._add("saywhy_errors_total", key, 1)
        if verdict.rule:
            self._hit(verdict.rule, "enforce")
        for rule in verdict.shadow_rules:
            self._hit(rule, "shadow")
        self._record_action(outcome, verdict, upstream, status, caller)

    def _hit(self, rule: str, mode: str) -> None:
        # A rule that a reload took away while the exchange was under way makes no new series.
        self._add(
            "saywhy_rule_hits_total", (rule, self._rules[rule]) if rule in self._rules else ("other", mode), 1
        )

    def _record_action(
        self, outcome: Outcome, verdict: Verdict, upstream: str, status: str, caller: str
    ) -> None:
        if verdict.action == "pass" and verdict.reason:
            self._add(
                "saywhy_passthrough_total",
                (verdict.reason if verdict.reason in PASS_REASONS else "other",),
                1,
            )
        if (
            caller == "agent"
            and verdict.source == "site"
            and verdict.decided_by == "status"
            and outcome.original_status >= 400
        ):
            self._add("saywhy_unmatched_errors_total", (upstream, status), 1)
        if verdict.action == "rewrite" and verdict.source == "site":
            sent = len(verdict.body or b"")
            self._add("saywhy_original_bytes_total", (upstream,), verdict.original_bytes)
            self._add("saywhy_sent_bytes_total", (upstream,), sent)
            self._add(
                "saywhy_tokens_saved_estimate_total", (upstream,), max(0, verdict.original_bytes - sent) // 4
            )
        if outcome.rewrite_duration:
            cell = self._histogram_cell("saywhy_rewrite_duration_seconds", ())
            cell[bisect_left(HISTOGRAMS["saywhy_rewrite_duration_seconds"][2], outcome.rewrite_duration)] += 1
            cell[-1] += outcome.rewrite_duration
        for kind, count in verdict.redactions.items():
            self._add_capped("saywhy_redactions_total", kind, count)
        if verdict.fault:
            self._add_capped("saywhy_faults_total", verdict.fault, 1)

    def _add_capped(self, name: str, word: str, amount: float) -> None:
        known = self._counts[name]
        self._add(name, (word if (word,) in known or len(known) < MAX_KINDS else "other",), amount)

    def collect(self) -> Iterator[Metric]:
        """All families, for prometheus_client."""
        for name, (text, labels) in COUNTERS.items():
            counter = CounterMetricFamily(name, text, labels=labels)
            for key, count in self._now(name, self._counts[name]).items():
                counter.add_metric(key, count)
            yield counter
        for name, (text, labels, bounds) in HISTOGRAMS.items():
            yield self._histogram(name, text, labels, bounds)
        for name, (text, labels) in GAUGES.items():
            gauge = GaugeMetricFamily(name, text, labels=labels)
            for key, number in self._now(name, self._shown.get(name, {})).items():
                gauge.add_metric(key, number)
            yield gauge

    def _now(self, name: str, counted: Mapping[Key, float]) -> Mapping[Key, float]:
        return self._watched[name]() if name in self._watched else counted

    def _histogram(
        self, name: str, text: str, labels: Key, bounds: tuple[float, ...]
    ) -> HistogramMetricFamily:
        family = HistogramMetricFamily(name, text, labels=labels)
        for key, cell in self._buckets[name].items():
            total, buckets = 0.0, []
            for bound, count in zip((*bounds, inf), cell, strict=False):
                total += count
                buckets.append((_written(bound), total))
            family.add_metric(key, buckets, sum_value=cell[-1])
        return family


def _class_keys(upstream: str) -> tuple[Key, ...]:
    """The labels of saywhy_requests_total by the status' first digit."""
    return tuple((upstream, word) for word in CLASSES)


def _written(bound: float) -> str:
    """As OpenMetrics writes an upper bound: 1.0, +Inf."""
    return "+Inf" if bound == inf else repr(float(bound))


class ReloadGauges:
    """The state of the settings in force, for the three `config` gauges."""

    def __init__(self, meter: Meter) -> None:
        self.successful = True
        self.loaded_at = time.time()
        self.hash = ""
        meter.watch("saywhy_config_last_reload_successful", lambda: {(): int(self.successful)})
        meter.watch("saywhy_config_last_reload_success_timestamp_seconds", lambda: {(): self.loaded_at})
        meter.watch("saywhy_config_info", lambda: {(self.hash,): 1})

    def applied(self, digest: str) -> None:
        """A set was put in force."""
        self.successful, self.loaded_at, self.hash = True, time.time(), digest

    def refused(self) -> None:
        """A set was refused; the old one stays."""
        self.successful = False
