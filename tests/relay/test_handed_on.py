"""A connection that goes from one exchange straight to the next that waits: it may be as stale as one that was idle."""

from __future__ import annotations

import asyncio

import pytest
from loopback import CLOSE, OK, Got, Step, both_loops, get, read_answer, relaying, serving


def _one_answer_a_connection(got: Got) -> list[Step]:
    if got.target == b"/first":
        return [0.1, OK]
    return [OK] if got.connection > 1 else [CLOSE]


@pytest.mark.parametrize(("method", "status"), [("GET", 200), ("PUT", 200), ("POST", 502), ("PATCH", 502)])
@both_loops
async def test_who_gets_a_dead_one_is_tried_once_more_unless_it_may_not(method: str, status: int) -> None:
    limits = {"upstream_connections": 1}
    async with serving(_one_answer_a_connection) as site, relaying(site.port, limits=limits) as running:
        reader, writer = await running.open()
        writer.write(get("/first"))
        await asyncio.sleep(0.03)
        assert (await running.ask(get("/second", method=method))).status == status
        assert (await read_answer(reader)).status == 200
        writer.close()
        assert site.connections == (2 if status == 200 else 1)


def _the_first_two_are_dying(got: Got) -> list[Step]:
    if got.target in (b"/warm", b"/slow"):
        return [0.1, OK]
    return [0.03, CLOSE] if got.connection <= 2 else [0.2, OK]


@both_loops
async def test_once_more_means_on_a_new_connection() -> None:
    limits = {"upstream_connections": 2}
    async with serving(_the_first_two_are_dying) as site, relaying(site.port, limits=limits) as running:
        await asyncio.gather(*(running.ask(get("/warm")) for _ in range(2)))
        # One connection dies under its exchange while another exchange waits; then the second is handed on, and dies.
        answers = await asyncio.gather(
            *(running.ask(get(target)) for target in ("/slow", "/first", "/second"))
        )
        assert [one.status for one in answers] == [200] * 3
        assert site.connections == 4
