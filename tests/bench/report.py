"""Samples -> RESULTS.md: the tables, where and when, what was left out, and what makes the comparison a fair one."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from pathlib import Path
from typing import Any

from tests.bench import table
from tests.bench.figures import DISTURBED, Figures
from tests.bench.peers import PEERS
from tests.bench.place import program
from tests.bench.publish import BEGIN, END

NOTES = """
- **Pinned and interleaved.** Who asks and the site (nginx, static files, one worker) share the first core; each proxy has
  the last one to itself, and one core only. All are started once, and every round visits them in turn. `saywhy, 2 workers`
  has the last two cores; on a machine of two it shares the first one with who asks.
- **CPU, not speed.** The figure is user and system time of all of a proxy's processes from /proc, a request; `x nginx` is
  nginx's over it in the same run. Requests a second of CPU is its inverse: on this machine who asks is busy before a fast
  proxy is. The best clean sample counts, as others on the machine only ever add; `costs` has the median beside it.
- **A clean sample** is one in which others used at most {disturbed:.0%} of the core; each waits for a quiet machine and is taken
  again where it was not. Latencies are medians of the clean samples.
- **Every target proves itself first**: the site's bytes as they were and not compressed, 200 requests are 200 at the site (no
  cache) on kept connections, 200 lines in its access log, every thread on its cores. What fails is left out and named.
- **Access logs are on everywhere**, a line of JSON an exchange with time, method, path, status, bytes, duration and id, into a file.
  nginx, Envoy, saywhy, mitmproxy and aiohttp write them in batches of up to a second; Caddy writes each; HAProxy too, as it does
  in containers; Traefik hands them to a thread (1,000 lines of buffer). Caddy's leaves out the header fields that it would log.
- **A request id** for the site is made by all but Traefik and mitmproxy, which have none; X-Forwarded-For is added by all but mitmproxy.
- **Bodies stream** in all: nginx without files and with its request buffering off, mitmproxy from 64 KB on.
- **Limits** on connections are raised where a default is below 5,000 (saywhy's `limits.upstream_waiting`, Envoy's circuit
  breakers, HAProxy's `maxconn`): a refusal costs less than an answer.
- **Go's proxies** have GOMAXPROCS=1; HAProxy one thread, Envoy --concurrency 1, nginx one worker.
- **HAProxy with Lua** calls its action on every response, as error rewriting in Lua does; for an agent's error it makes problem
  details of the page's title, nothing more. saywhy's agents get the whole: rules, dialects, scrubbing.
- **Errors that come again**: saywhy reads a page that it has seen byte for byte only once. `404agent` is one page over and over;
  `404fresh` has a reference in it that is new each time, and is what a site with such pages gets.
- **Bodies of 10 MB** are counted by the bytes that came, since a sample ends amid many.
- **Latency** is an open loop: a request counts from when it was due. Each target has half of the rate it reached at 1 KB; `added` is
  its p99 less that of the site alone, asked at the same rate just before.
- **Memory** is resident megabytes (10^6) of all processes. `64 x 10 MB`: callers that ask at once, read nothing for a second, then all.
"""


def machine() -> dict[str, Any]:
    """Where a run takes place, as a line among its samples."""
    return {
        "target": "-", "scenario": "machine", "date": time.strftime("%Y-%m-%d"), "kernel": platform.release(),
        "cpu": _cpu_model(), "cores": os.cpu_count(), "python": platform.python_version(),
        "wrk": _first_line([program("wrk"), "-v"]), "site": _first_line([program("nginx"), "-v"]),
    }  # fmt: skip


def markdown(samples: list[dict[str, Any]], asked: str) -> str:
    """The whole file. `asked` says how the run was begun."""
    figures = Figures(samples)
    where = next((one for one in samples if one["scenario"] == "machine"), {})
    said = (
        f"{where.get('date', '?')}, {where.get('cpu', '?')}, {where.get('cores', '?')} cores, Linux {where.get('kernel', '?')}, "
        f"Python {where.get('python', '?')}"
    )
    errors = {name: count for name in figures.targets if (count := figures.errors(name))}
    sections = [
        "# What a request costs\n",
        f"Made by `{asked}`; not edited by hand. Below the tables is how it was measured.\n",
        BEGIN, table.summary(figures), "", f"Measured {said}. x nginx: more is better.", END, "",
        "## Bars\n", table.bars(figures), "",
        "## saywhy beside each\n", "More than 1: saywhy needs less CPU.\n", table.ratios(figures), "",
        "## CPU a request\n", table.costs(figures), "",
        "## Latency\n", table.latencies(figures), "",
        "## Memory\n", table.memory(figures), "",
        "## One stream\n", table.transfers(figures), "",
        "## Left out\n", _left_out(figures), "",
        "## Doubts\n", _doubts(figures, errors), "",
        "## How it was measured\n",
        f"The site is {where.get('site', '?')}; {where.get('wrk', '?')} asks, at a fixed rate native/paced.c does.",
        NOTES.format(disturbed=DISTURBED), _origins(figures), "",
    ]  # fmt: skip
    return "\n".join(sections)


def _left_out(figures: Figures) -> str:
    return "\n".join(f"- {name}: {why}" for name, why in figures.left_out.items()) or "Nothing."


def _doubts(figures: Figures, errors: dict[str, int]) -> str:
    said = [
        f"- {name}: {count} requests got no answer or another than they should have"
        for name, count in errors.items()
    ]
    said += [f"- connections to the site were not kept: {one}" for one in figures.reconnecting()]
    if disturbed := figures.disturbed():
        said.append(f"- no sample without others on the core: {', '.join(disturbed)}")
    return (
        "\n".join(said) or "None: every figure has an undisturbed sample, and every request got its answer."
    )


def _origins(figures: Figures) -> str:
    return "\n".join(
        f"- {table.NAMES[peer.name]} {figures.targets[peer.name]}: {peer.comes_from}"
        for peer in PEERS
        if peer.name in figures.targets
    )


def _cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _first_line(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    line = (done.stdout + done.stderr).splitlines()[0]
    return line.partition(" Copyright")[0].removeprefix("nginx version: ").strip()
