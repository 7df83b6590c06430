"""A site that is away: a row of failed connections opens the breaker, refusals say so at once, and one connection finds
out whether the site is back. What the site answers never opens it.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
from pathlib import Path
from typing import Any

import pytest
from loopback import (
    CLOSE,
    OK,
    RESET,
    Answer,
    Running,
    Site,
    Step,
    both_loops,
    get,
    listening,
    relaying,
    serving,
)

from saywhy.edge.settings import Upstream
from saywhy.relay.dial import token_of
from saywhy.relay.health import FIRST_SECONDS, WINDOW_SECONDS, Breaker, Health


def _opened(failures: int = 3, most: float = 10, at: float = 100) -> Breaker:
    made = Breaker(failures, most)
    for _ in range(failures):
        made.trying()
        made.failed(at)
    return made


def test_it_opens_after_a_row_and_lets_one_through() -> None:
    made = Breaker(3, 10)
    assert [made.failed(100), made.rest(100), made.failed(101), made.failed(102)] == [False, 0, False, True]
    assert (made.is_open, made.openings, made.rest(102), made.rest(102.5)) == (
        True,
        1,
        FIRST_SECONDS,
        FIRST_SECONDS,
    )
    assert made.rest(103.1) == 0
    made.trying()
    assert made.rest(103.1) > 0  # the next one waits for the first
    assert made.stood()
    assert (made.is_open, made.rest(103.1), made.openings) == (False, 0, 1)


def test_its_pauses_double_up_to_the_most() -> None:
    made, now, pauses = _opened(), 101.0, []
    for _ in range(6):
        made.trying()
        assert not made.failed(now)  # told once
        pauses.append(made.rest(now))
        now += made.rest(now)
    assert pauses == [2, 4, 8, 10, 10, 10]
    made.trying()
    made.stood()
    for _ in range(3):
        made.failed(now)
    assert (made.rest(now), made.openings) == (FIRST_SECONDS, 2)


def test_what_was_under_way_when_it_opened_makes_no_pause_longer() -> None:
    made = _opened()
    for _ in range(20):
        made.failed(100.1)
    assert made.rest(101.0) == 0
    made.trying()
    made.given_up()
    assert made.rest(101.0) == 0


def test_a_success_between_or_much_time_makes_it_no_row() -> None:
    made = Breaker(3, 10)
    made.failed(1), made.failed(2), made.stood(), made.failed(3), made.failed(4)
    assert not made.is_open
    made.failed(5 + WINDOW_SECONDS), made.failed(6 + WINDOW_SECONDS)
    assert not made.is_open
    assert not any(Breaker(0, 10).failed(1) for _ in range(100))  # switched off


def _closed_port() -> socket.socket:
    """A port on which nobody listens, and that nobody else gets."""
    made = socket.socket()
    made.bind(("127.0.0.1", 0))
    return made


def _told(answer: Answer) -> tuple[int, bytes]:
    (said,) = answer.all(b"proxy-status")
    return answer.status, said.partition(b"error=")[2]


def _default(running: Running) -> Any:
    return running.relay.pools["default"]


REFUSED, AWAY = (502, b"connection_refused"), (503, b"destination_unavailable")


@both_loops
async def test_a_socket_that_is_not_there_is_told_of_once_with_its_path(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "gone.sock"
    with caplog.at_level(logging.WARNING, "saywhy.relay"):
        async with relaying(f"unix:{path}") as running:
            for _ in range(3):
                assert (await running.ask(get())).status == 502
    (told,) = caplog.records
    assert f"there is no Unix socket at {path}; start the site, or correct the path" in told.getMessage()
    assert (told.event, told.about["upstream"], told.about["path"]) == (  # type: ignore[attr-defined]
        "upstream_trouble", "default", str(path),
    )  # fmt: skip


@both_loops
async def test_a_site_goes_and_comes_back(caplog: pytest.LogCaptureFixture) -> None:
    with _closed_port() as closed, caplog.at_level(logging.WARNING, "saywhy.relay"):
        port = closed.getsockname()[1]
        site = {"url": f"http://127.0.0.1:{port}", "breaker_failures": 3}
        async with relaying({"default": site}, deadlines={"peek_seconds": 0.1}) as running:
            assert running.relay.pool_health() == {"default": (True, 0)}
            told = [_told(await running.ask(get("/secret", method="POST"))) for _ in range(6)]
            assert told == [REFUSED] * 3 + [AWAY] * 3
            assert running.relay.pool_health() == {"default": (False, 1)}
            assert [outcome.failure for outcome in running.outcomes][3:] == ["destination_unavailable"] * 3
            closed.close()
            back = Site(lambda got: OK)
            async with listening(back.serve, port=port):
                # Nobody asks any more, and still the site is found: who asked in vain is told when to come again.
                for _ in range(300):
                    if running.relay.pool_health() == {"default": (True, 1)}:
                        break
                    await asyncio.sleep(0.01)
                assert (back.connections, back.got) == (1, [])
                assert (await running.ask(get())).status == 200
                assert back.connections == 1  # the trial is the connection that serves
    said = [record.getMessage() for record in caplog.records]
    assert [one.split(")")[1].split()[:2] for one in said] == [["is", "away:"], ["is", "back"]]
    assert "3 connections in a row failed, the last with connection_refused" in said[0]
    assert "secret" not in "".join(said)


@both_loops
async def test_a_site_that_stays_away_is_tried_by_one_at_a_time() -> None:
    with _closed_port() as closed:
        site = {
            "url": f"http://127.0.0.1:{closed.getsockname()[1]}",
            "breaker_failures": 2,
            "breaker_seconds": 1,
        }
        async with relaying({"default": site}) as running:
            told = [_told(await running.ask(get())) for _ in range(3)]
            assert told == [REFUSED] * 2 + [AWAY]
            _default(running).health._until = 1.0  # its pause is over
            _default(running)._asked_in_vain = False
            answers = await asyncio.gather(*(running.ask(get()) for _ in range(10)))
            assert sorted(map(_told, answers)) == sorted([REFUSED] + [AWAY] * 9)


@both_loops
async def test_refusals_say_when_to_come_again() -> None:
    waits: list[int | None] = []
    with _closed_port() as closed:
        site = {"url": f"http://127.0.0.1:{closed.getsockname()[1]}", "breaker_failures": 1}
        async with relaying({"default": site}) as running:
            decider = running.relay.normalizer
            fail = decider.fail

            def note(request: Any, token: str, *, now: float, wait: int | None = None) -> Any:
                waits.append(wait)
                return fail(request, token, now=now, wait=wait)

            decider.fail = note  # type: ignore[method-assign]
            for _ in range(2):
                await running.ask(get())
            _default(running).health._until += 6
            await running.ask(get())
    assert waits == [None, 1, 7]


ANSWERS: dict[str, list[Step]] = {
    "503": [b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"],
    "closes": [CLOSE],
    "resets": [RESET],
    "garbage": [b"what\r\n\r\n", CLOSE],
    "slow": [0.5],
}


@pytest.mark.parametrize("name", ANSWERS)
@both_loops
async def test_what_a_site_answers_never_opens_it(name: str) -> None:
    async with serving(ANSWERS[name]) as site:
        sites = {"default": {"url": f"http://127.0.0.1:{site.port}", "breaker_failures": 1}}
        async with relaying(sites, deadlines={"first_byte_seconds": 0.05}) as running:
            for _ in range(3):
                answer = await running.ask(get("/", method="POST"))
                assert (answer.status >= 500, b"destination_unavailable" in answer.head) == (True, False)
            assert running.relay.pool_health() == {"default": (True, 0)}


@both_loops
async def test_a_queue_that_is_full_for_a_moment_is_waited_for(tmp_path: Path) -> None:
    path = str(tmp_path / "site.sock")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(1)
        sites = {"default": {"url": f"unix:{path}", "breaker_failures": 1}}
        async with relaying(sites) as running:
            asked = [asyncio.ensure_future(running.ask(get("/", method="POST"))) for _ in range(12)]
            await asyncio.sleep(0.1)
            async with await asyncio.start_unix_server(Site(lambda got: OK).serve, sock=listener):
                assert {(await one).status for one in asked} == {200}
            assert running.relay.pool_health() == {"default": (True, 0)}


@pytest.mark.parametrize("number", [errno.EADDRNOTAVAIL, errno.ENOBUFS, errno.ENOMEM, errno.EMFILE])
def test_what_this_machine_is_short_of_never_opens_it(number: int) -> None:
    made = Health("default", Upstream(url="http://127.0.0.1:1", breaker_failures=1))
    error = OSError(number, "short of it")
    assert not made.note(error, token_of(error), 100)
    assert not made.is_open


@both_loops
async def test_a_kept_connection_serves_though_new_ones_fail() -> None:
    async with serving(OK) as site:
        sites = {"default": {"url": f"http://127.0.0.1:{site.port}", "breaker_failures": 1}}
        async with relaying(sites) as running:
            assert (await running.ask(get())).status == 200
            _default(running).health.failed(asyncio.get_running_loop().time())
            assert running.relay.pool_health() == {"default": (False, 1)}
            assert (await running.ask(get())).status == 200
            assert site.connections == 1


@both_loops
async def test_it_can_be_switched_off() -> None:
    with _closed_port() as closed:
        site = {"url": f"http://127.0.0.1:{closed.getsockname()[1]}", "breaker_failures": 0}
        async with relaying({"default": site}) as running:
            assert {_told(await running.ask(get())) for _ in range(30)} == {REFUSED}
