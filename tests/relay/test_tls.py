"""TLS on either side: the site's certificate is verified, and a caller's https is told to the site."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path

import pytest
from aiohttp import web
from certificates import self_signed
from loopback import OK, both_loops, get, read_answer, relaying, serving


@both_loops
async def test_a_sites_certificate_must_be_one_that_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = self_signed(tmp_path)
    public, context = pair.certificate, pair.context()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                writer.write(OK)
        except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    url = f"https://localhost:{server.sockets[0].getsockname()[1]}"
    async with relaying(url) as running:
        answer = await running.ask(get())
        assert (answer.status, answer.all(b"proxy-status")) == (502, [b"saywhy; error=tls_certificate_error"])
    monkeypatch.setenv("SSL_CERT_FILE", str(public))
    async with relaying(url) as running:
        for _ in range(3):
            assert (await running.ask(get())).body == b"ok"
        assert running.relay.pool_counts()["default"]["idle"] == 1
    server.close()
    await asyncio.sleep(0.05)


@both_loops
async def test_a_callers_https_is_told_to_the_site(tmp_path: Path) -> None:
    pair = self_signed(tmp_path)
    public, context = pair.certificate, pair.context()
    trusting = ssl.create_default_context(cafile=str(public))
    async with serving(OK) as site, relaying(site.port) as running:
        await web.TCPSite(running.runner, "127.0.0.1", 0, ssl_context=context).start()
        port = running.runner.addresses[1][1]
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trusting)
        for _ in range(2):
            writer.write(get())
            assert (await read_answer(reader)).body == b"ok"
        assert site.got[0].all(b"x-forwarded-proto") == [b"https"]
        writer.close()
        await asyncio.sleep(0.05)
