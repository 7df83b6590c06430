"""The caller: bytes out as a case says, and whatever comes back, until nothing more is due."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import Literal, NamedTuple

from battery.wire import read_answers

_SETTLE_SECONDS = 0.04
"""After the last answer that is due: a second one, which nobody asked for, follows at once where it comes at all."""


class Got(NamedTuple):
    """What came back, and how the connection ended if it did."""

    data: bytes
    ended: Literal["", "eof", "reset"] = ""


async def converse(
    port: int,
    send: tuple[bytes | float, ...],
    methods: list[bytes],
    *,
    seconds: float,
    settle: float = _SETTLE_SECONDS,
) -> Got:
    """Send `send` (a number waits so many seconds, or until something comes) and read for at most `seconds` more."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 22)
    except OSError:
        return Got(b"", "reset")
    data, ended = bytearray(), ""
    try:
        for step in send:
            if isinstance(step, bytes):
                writer.write(step)
                await writer.drain()
            else:
                with contextlib.suppress(TimeoutError):
                    data += await asyncio.wait_for(reader.read(65536), step)
    except ConnectionError:
        ended = "reset"
    return await _listen(reader, writer, data, methods, ended, seconds, settle)


async def _listen(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    data: bytearray,
    methods: list[bytes],
    ended: str,
    seconds: float,
    settle: float,
) -> Got:
    until = time.monotonic() + seconds
    while True:
        if _is_whole(bytes(data), methods):
            until = min(until, time.monotonic() + settle)
        try:
            piece = await asyncio.wait_for(reader.read(65536), max(0.0, until - time.monotonic()))
        except TimeoutError:
            break
        except ConnectionError:
            ended = "reset"
            break
        if not piece:
            ended = ended or "eof"
            break
        data += piece
    writer.close()
    return Got(bytes(data), "reset" if ended == "reset" else "eof" if ended else "")


def _is_whole(data: bytes, methods: list[bytes]) -> bool:
    answers, _ = read_answers(data, methods, ended=False)
    finals = [answer for answer in answers if answer.status >= 200]
    return len(finals) >= len(methods) and finals[-1].complete
