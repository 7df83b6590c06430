"""Shop and proxy on loopback ports. The proxy is the one that `saywhy serve` runs: the same relay, the same rules."""

from __future__ import annotations

import errno
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple

from aiohttp import web

from saywhy.core.model import Outcome
from saywhy.core.normalize import Normalizer
from saywhy.core.policy import Policy, Routes
from saywhy.core.scrub import Scrubber
from saywhy.demo import shop
from saywhy.demo.stops import WAREHOUSE
from saywhy.edge.packs import load_rulebook, shipped_rules
from saywhy.edge.settings import Settings
from saywhy.relay import Relay, as_server

HOST = "127.0.0.1"


class Stage(NamedTuple):
    """Where everything listens; URLs without a path."""

    shop: str
    proxy: str
    port: int
    wanted_port_taken: bool


class Ledger:
    """The demo's recorder: hands every finished exchange on, once somebody listens."""

    def __init__(self) -> None:
        self.listener: Callable[[Outcome], None] | None = None

    def record(self, outcome: Outcome) -> None:
        """See relay's Recorder."""
        if self.listener is not None:
            self.listener(outcome)


def normalizer() -> Normalizer:
    """The shipped rules, the opt-in packs too; the paths of the warehouse go to a site that is down."""
    rulebook = load_rulebook([shipped_rules()])
    packs = rulebook.packs
    routes = Routes(
        (
            Policy(name="warehouse", upstream="warehouse", path=(f"{WAREHOUSE}/*",), packs=packs),
            Policy(name="shop", upstream="shop", packs=packs),
        )
    )
    return Normalizer(rulebook, routes, Scrubber())


@asynccontextmanager
async def stage(port: int, ledger: Ledger) -> AsyncIterator[Stage]:
    """Start both, proxy on `port` or, where that is taken, on a free one; stop both at the end."""
    shop_runner = web.AppRunner(shop.build(), access_log=None)
    await shop_runner.setup()
    # Bound and never listening: whoever connects is refused, and nobody else can get the port.
    closed = socket.socket()
    closed.bind((HOST, 0))
    try:
        shop_port = await _listen(shop_runner, 0)
        sites = {"shop": shop_port, "warehouse": closed.getsockname()[1]}
        settings = Settings.model_validate(
            {
                "upstreams": {name: f"http://{HOST}:{port_of_site}" for name, port_of_site in sites.items()},
                "deadlines": {"shutdown_seconds": 1},
            }
        )
        relay = Relay(
            normalizer(), settings.upstreams, settings.limits, settings.deadlines, settings.forwarding, ledger
        )
        runner = web.ServerRunner(as_server(relay), shutdown_timeout=1)
        await runner.setup()
        try:
            taken = False
            try:
                listening = await _listen(runner, port)
            except OSError as why:
                if why.errno != errno.EADDRINUSE:
                    raise
                taken, listening = True, await _listen(runner, 0)
            yield Stage(f"http://{HOST}:{shop_port}", f"http://{HOST}:{listening}", listening, taken)
        finally:
            await runner.cleanup()
    finally:
        closed.close()
        await shop_runner.cleanup()


async def _listen(runner: web.BaseRunner, port: int) -> int:
    site = web.TCPSite(runner, HOST, port)
    await site.start()
    return int(runner.addresses[-1][1])
