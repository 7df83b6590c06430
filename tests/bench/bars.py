"""The bars that the relay is held to, and whether a run meets them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from tests.bench.figures import Figures

Verdict = Literal["met", "missed", "not measured"]


class Bar(NamedTuple):
    """What is promised: a figure, at least or at most (or strictly more than) a limit."""

    promise: str
    figure: Callable[[Figures], float | None]
    is_met: Callable[[float], bool]
    form: str = "{:.2f}"


def _beside(peer: str, scenario: str) -> Callable[[Figures], float | None]:
    return lambda figures: figures.ratio("saywhy", peer, scenario)


def _of_workers(figures: Figures) -> float | None:
    """Percent that a request costs more with two workers than with one."""
    ratio = figures.ratio("saywhy", "saywhy-2", "1k")
    return (ratio - 1) * 100 if ratio else None


BARS = (
    Bar("1 KB: at least 0.55 of nginx's efficiency (0.7 is wished for)", _beside("nginx", "1k"), lambda x: x >= 0.55),
    Bar("1 KB: at least 1.2 times Envoy", _beside("envoy", "1k"), lambda x: x >= 1.2),
    Bar("1 KB: ahead of Caddy", _beside("caddy", "1k"), lambda x: x > 1),
    Bar("1 KB: ahead of HAProxy with Lua", _beside("haproxy-lua", "1k"), lambda x: x > 1),
    Bar("1 KB: ahead of Traefik", _beside("traefik", "1k"), lambda x: x > 1),
    Bar("1 KB: 25 times mitmproxy", _beside("mitmproxy", "1k"), lambda x: x >= 25, "{:.1f}"),
    Bar("100 KB: at least 0.8 of nginx", _beside("nginx", "100k"), lambda x: x >= 0.8),
    Bar("10 MB: at least 0.8 of nginx", _beside("nginx", "10m"), lambda x: x >= 0.8),
    Bar(
        "an agent's 8 KB HTML 404 rewritten at least 2,000 times a second",
        lambda figures: figures.rate("saywhy", "404agent"), lambda x: x >= 2000, "{:,.0f}/s",
    ),
    Bar(
        "the same where every page is a new one",
        lambda figures: figures.rate("saywhy", "404fresh"), lambda x: x >= 2000, "{:,.0f}/s",
    ),
    Bar(
        "added p99 under 1 ms at half load (open loop)",
        lambda figures: figures.added_p99("saywhy"), lambda x: x < 1, "{:.2f} ms",
    ),
    Bar(
        "RSS idle under 85 MB",
        lambda figures: figures.memory("saywhy", "start", "resting"), lambda x: x < 85, "{:.0f} MB",
    ),
    Bar(
        "RSS under 130 MB after the first agent error",
        lambda figures: figures.memory("saywhy", "start", "after_error"), lambda x: x < 130, "{:.0f} MB",
    ),
    Bar(
        "64 streams of 10 MB add at most 20 MB",
        lambda figures: figures.growth("saywhy", "streams64"), lambda x: x <= 20, "{:+.1f} MB",
    ),
    Bar(
        "RSS with 5,000 idle connections under 150 MB",
        lambda figures: figures.memory("saywhy", "idle5000", "kept"), lambda x: x < 150, "{:.0f} MB",
    ),
    Bar("two workers: CPU a request within 10 % of one's", _of_workers, lambda x: x <= 10, "{:+.1f} %"),
)  # fmt: skip


def judged(figures: Figures) -> Iterator[tuple[str, str, Verdict]]:
    """Each bar: the promise, the figure as text, and whether it was met."""
    for bar in BARS:
        value = bar.figure(figures)
        if value is None:
            yield bar.promise, "-", "not measured"
        else:
            yield bar.promise, bar.form.format(value), "met" if bar.is_met(value) else "missed"
