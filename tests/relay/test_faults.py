"""Every fault of the fault site: what a caller sees of it, what an agent gets, and that nothing stays behind."""

from __future__ import annotations

import asyncio
import json
import sys

import pytest
from faultsite import FAULTS, failing
from loopback import Decider, Running, both_loops, get, read_answer, relaying

from saywhy.core.policy import Policy, Routes
from saywhy.relay.hold import Budget, Hold

WHOLE, TORN, ENDLESS = "whole", "torn", "endless"
DEADLINES = {"first_byte_seconds": 1.6, "idle_seconds": 0.8, "hold_seconds": 0.4, "request_head_seconds": 0.4}
AGENT = "Accept: application/json"
ALL_OF_IT, SOME_OF_IT = True, False

# fault: what a caller sees of a 200 (WHOLE, TORN, ENDLESS, or the status of ours that came instead), and what an agent's
# envelope of a 500 is made from (all of the page, some of it, or the status of ours).
SEEN: dict[str, tuple[str | int, bool | int]] = {
    "good": (WHOLE, ALL_OF_IT),
    "hang-before-head": (504, 504),
    "hang-in-head": (504, 504),
    "hang-in-body": (TORN, SOME_OF_IT),
    "hang-in-chunks": (TORN, SOME_OF_IT),
    "drip-head": (WHOLE, ALL_OF_IT),
    "drip-body": (WHOLE, SOME_OF_IT),  # an agent is not kept waiting for the last drop
    "chunks-of-one-byte": (WHOLE, ALL_OF_IT),
    "segments-of-one-byte": (WHOLE, ALL_OF_IT),
    "close-before-head": (502, 502),
    "close-in-head": (502, 502),
    "close-in-body": (TORN, SOME_OF_IT),
    "close-in-chunks": (TORN, SOME_OF_IT),
    "close-after-the-last-byte": (WHOLE, ALL_OF_IT),
    "body-until-close": (WHOLE, ALL_OF_IT),
    "reset-before-head": (502, 502),
    "reset-in-head": (502, 502),
    "reset-in-body": (TORN, SOME_OF_IT),
    "reset-after-the-answer": (WHOLE, ALL_OF_IT),
    "length-too-long": (TORN, SOME_OF_IT),
    "length-too-short": (WHOLE, ALL_OF_IT),
    "two-answers": (WHOLE, ALL_OF_IT),
    "length-beside-chunks": (502, 502),
    "garbage": (502, 502),
    "garbage-in-chunks": (TORN, SOME_OF_IT),
    "switch-unasked": (502, 502),
    "endless-with-length": (ENDLESS, SOME_OF_IT),
    "endless-chunks": (ENDLESS, SOME_OF_IT),
    "endless-until-close": (ENDLESS, SOME_OF_IT),
    "endless-head": (502, 502),
    "endless-line": (502, 502),
    "endless-chunk-extension": (TORN, SOME_OF_IT),
    "endless-trailers": (TORN, SOME_OF_IT),
    "interim-flood": (502, 502),
    "answer-before-upload": (WHOLE, ALL_OF_IT),
    "refuse-upload": (WHOLE, ALL_OF_IT),
    "never-read-upload": (504, 504),
    "bomb-gzip": (WHOLE, ALL_OF_IT),
    "bomb-gzip-of-gzip": (WHOLE, ALL_OF_IT),
    "bomb-empty-members": (ENDLESS, SOME_OF_IT),
    "bomb-brotli": (WHOLE, ALL_OF_IT),
    "bomb-zstd": (WHOLE, ALL_OF_IT),
}
QUERY = {"drip-head": "seconds=0", "drip-body": "seconds=0.2&bytes=5", "segments-of-one-byte": "bytes=500"}
FLOODS = {name for name in SEEN if name.startswith(("endless", "interim", "bomb"))}
MOST = 1 << 20


def test_every_fault_has_its_row() -> None:
    assert SEEN.keys() - {"good"} == FAULTS.keys()


async def _see(running: Running, name: str) -> str | int:
    """A 200 of the site, as a caller who gives up after `MOST` bytes sees it."""
    reader, writer = await running.open()
    writer.write(get(f"/{name}?{QUERY.get(name, '')}", "Connection: close"))
    head = await reader.readuntil(b"\r\n\r\n")
    while head.startswith(b"HTTP/1.1 103"):
        head = await reader.readuntil(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200"):
        writer.close()
        return int(head[9:12])
    size, body, ended = 0, bytearray(), False
    try:
        async with asyncio.timeout(6):  # longer than idle_seconds: what hangs is torn by the relay
            while size < MOST and not ended:
                piece = await reader.read(1 << 18)
                ended = not piece
                size += len(piece)
                body = (body + piece)[-1024:]
    except ConnectionResetError:
        return TORN
    except TimeoutError:
        return f"stuck after {size} bytes"
    finally:
        writer.close()
    lower = head.lower()
    if size >= MOST:
        return ENDLESS
    if b"chunked" in lower:
        return WHOLE if body.endswith(b"0\r\n\r\n") else TORN
    length = lower.partition(b"content-length: ")[2].split(b"\r\n")[0]
    return WHOLE if (size == int(length) if length else ended) else TORN


async def _ask(running: Running, name: str) -> bool | int:
    """A 500 of the site, as an agent gets it."""
    reader, writer = await running.open()
    writer.write(get(f"/{name}?status=500&{QUERY.get(name, '')}", AGENT))
    answer = await read_answer(reader)
    while answer.status == 103:
        answer = await read_answer(reader)
    writer.close()
    assert answer.complete
    return bool(json.loads(answer.body)["complete"]) if answer.status == 500 else answer.status


@both_loops
async def test_what_is_seen_of_every_fault() -> None:
    """All of them at once, and a bystander: each gets what is due to it, whatever happens beside it."""
    # A pool for each: what one fault does to kept connections is another test's matter.
    routes = Routes(tuple(Policy(name=name, upstream=name, path=(f"/{name}",)) for name in SEEN))
    async with (
        failing() as site,
        relaying(
            dict.fromkeys(SEEN, f"http://127.0.0.1:{site.port}"), Decider(routes), deadlines=DEADLINES
        ) as running,
    ):
        stop = False

        async def stand_by() -> int:
            reader, writer = await running.open()
            count = 0
            while not stop:
                writer.write(get(f"/good?bytes={count % 1000 + 100}"))
                answer = await read_answer(reader)
                assert (answer.status, len(answer.body)) == (200, count % 1000 + 100)
                count += 1
                await asyncio.sleep(0.005)
            writer.close()
            return count

        bystander = asyncio.create_task(stand_by())
        wrong = {}
        # What waits is timed, and floods make everybody wait: those one by one.
        for group in (sorted(SEEN.keys() - FLOODS), *([flood] for flood in sorted(FLOODS))):
            seen, asked = await asyncio.gather(
                asyncio.gather(*(_see(running, name) for name in group)),
                asyncio.gather(*(_ask(running, name) for name in group)),
            )
            got = zip(group, zip(seen, asked, strict=True), strict=True)
            wrong |= {name: one for name, one in got if one != SEEN[name]}
        stop = True
        assert await bystander > 20
        assert wrong == {}
        async with asyncio.timeout(3):
            while running.relay.inflight or running.busy:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        assert running.relay.held_bytes == 0
        assert not running.relay.tunnels


UPLOADS = {
    "good": (200, 1_000_000),
    "answer-before-upload": (200, 1_000_000),
    "refuse-upload": (200, 1_000_000),
    "never-read-upload": (504, 8_000_000),
}


@pytest.mark.parametrize("name", UPLOADS)
@both_loops
async def test_what_becomes_of_uploads(name: str) -> None:
    status, size = UPLOADS[name]
    async with failing() as site, relaying(site.port, deadlines=DEADLINES) as running:
        reader, writer = await running.open()
        writer.write(get(f"/{name}", f"Content-Length: {size}", method="POST") + b"x" * size)
        assert (await read_answer(reader)).status == status
        writer.transport.abort()
        async with asyncio.timeout(1):
            while running.relay.inflight:  # noqa: ASYNC110
                await asyncio.sleep(0.01)


@pytest.mark.parametrize(("chunked", "piece"), [(True, b"1\r\nx\r\n"), (False, b"xy")])
def test_tiny_pieces_are_held_in_the_room_of_their_bytes(chunked: bool, piece: bytes) -> None:
    """Counting a byte and keeping an object for it would be forty times what the budget says."""
    budget = Budget(1 << 25)
    hold = Hold(1 << 18, chunked, budget, 0.0)
    while not hold.full:
        hold.add(piece)
    assert _room(hold) < 1.3 * budget.held + 4096


def _room(held: object) -> int:
    total = 0
    for name in type(held).__slots__:  # type: ignore[attr-defined]
        value = getattr(held, name)
        total += sys.getsizeof(value) if isinstance(value, bytes | bytearray | list) else 0
        if isinstance(value, list):
            total += sum(map(sys.getsizeof, {id(one): one for one in value}.values()))
    return total
