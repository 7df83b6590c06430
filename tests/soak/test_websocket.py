"""Autobahn's WebSocket cases (RFC 6455) through the tunnel, run by kosoku: as many pass as of the site alone.

Without 9.* (how fast), 12.* and 13.* (compression, which is between the two ends).
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import kosoku
from aiohttp import WSMsgType, web
from stage.serving import serving

EXCLUDED = ["9.*", "12.*", "13.*"]
AT_LEAST = 240
"""Of 247 cases; aiohttp fails one, of a close code that nobody may send."""


async def echo(request: web.Request) -> web.WebSocketResponse:
    """The site: what comes goes back."""
    socket = web.WebSocketResponse(max_msg_size=0, compress=False)
    await socket.prepare(request)
    async for message in socket:
        if message.type is WSMsgType.TEXT:
            await socket.send_str(message.data)
        elif message.type is WSMsgType.BINARY:
            await socket.send_bytes(message.data)
    return socket


async def cases(port: int) -> dict[str, bool]:
    """Case -> whether it passed."""
    try:
        results = await kosoku.run_fuzzingclient(f"127.0.0.1:{port}", None, EXCLUDED, concurrency=16)
    except kosoku.FailureError as failure:
        results = failure.results
    return {one.case_id: one.passed for one in results}


async def test_as_many_cases_pass_as_directly(tmp_path: Path) -> None:
    app = web.Application()
    app.router.add_get("/{path:.*}", echo)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        port = runner.addresses[0][1]
        through = serving(port, tmp_path)
        proxy = await asyncio.to_thread(through.__enter__)
        try:
            directly, tunnelled = await asyncio.gather(cases(port), cases(proxy.port))
        finally:
            await asyncio.to_thread(through.__exit__, None, None, None)
    finally:
        await runner.cleanup()
    assert sum(directly.values()) >= AT_LEAST
    assert [case for case, passed in directly.items() if passed and not tunnelled[case]] == []
    print(
        f"{sum(directly.values())} of {len(directly)} directly, {sum(tunnelled.values())} of {len(tunnelled)} through saywhy"
    )
