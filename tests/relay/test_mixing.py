"""No byte of one exchange reaches another: many callers on kept connections, half of them pipelining, answers tagged with
the request's own name, callers that leave, sites that hang up, and bytes from both sides that nobody asked for.
"""

from __future__ import annotations

import asyncio
import json

import pytest
import uvloop
from loopback import Decider, relaying
from storm.callers import Tally, storm
from storm.site import TaggingSite

from saywhy.core.model import Fields, Head, Plan, Verdict

CALLERS = 200
EXCHANGES = 100_000
CONNECTIONS = 64
"""To the site: fewer than callers, so that exchanges wait for them too."""


class Naming(Decider):
    """Writes envelopes that name whose page they were made of."""

    def normalize(self, head: Head, plan: Plan, body: bytes, *, complete: bool, now: float) -> Verdict:
        fields = Fields([*head.response.fields.lines, (b"Agent-Error", b"conflict")])
        named = body[body.find(b"Order ") : body.find(b" was changed") + 12]
        return Verdict(
            action="rewrite",
            status=head.response.status,
            fields=fields,
            body=json.dumps({"error": named.decode()}, separators=(",", ":")).encode(),
            caller=plan.caller,
            original_status=head.response.status,
        )


class Nobody:
    def record(self, outcome: object) -> None:
        pass


async def _storm() -> Tally:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(TaggingSite, "127.0.0.1", 0, backlog=1024)
    site = server.sockets[0].getsockname()[1]
    async with relaying(site, Naming(), limits={"upstream_connections": CONNECTIONS}) as running:
        running.relay.recorder = Nobody()
        async with asyncio.timeout(180):
            tally = await storm(running.port, Tally(EXCHANGES), range(CALLERS))
        assert running.relay.inflight == 0
        assert running.relay.budget.held == 0
    server.close()
    return tally


@pytest.mark.filterwarnings("default::ResourceWarning")
def test_a_hundred_thousand_exchanges_and_not_one_answer_at_the_wrong_caller() -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        tally = runner.run(_storm())
    assert tally.wrong == []
    assert tally.right >= EXCHANGES
    # The storm was one: sites hung up, callers left, pages were held, and none of it kept the rest from being served.
    assert min(tally.seen[what] for what in ("torn", "failed", "rewritten", "mischief")) > 500, tally.seen
