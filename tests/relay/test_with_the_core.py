"""The relay with the core it is made for: an agent's envelope, a browser's bytes, the proxy's own failures in both."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket

import pytest
from loopback import OK, Got, both_loops, get, read_answer, relaying, serving

from saywhy import Normalizer, load_rulebook
from saywhy.core.policy import Routes
from saywhy.core.scrub import Scrubber
from saywhy.edge.packs import shipped_rules

PAGE = b"<html><head><title>503 - down for repair</title></head><body>Back soon.</body></html>"
DOWN = (
    b"HTTP/1.1 503 Down\r\nContent-Type: text/html\r\nRetry-After: 7\r\nX-Mine: 1\r\nContent-Length: %d\r\n\r\n%b"
    % (len(PAGE), PAGE)
)
BROWSER = [
    "Accept: text/html,application/xhtml+xml,*/*;q=0.8",
    "Sec-Fetch-Mode: navigate",
    "Sec-Fetch-Dest: document",
]
AGENT = "Accept: application/json"


def _normalizer() -> Normalizer:
    return Normalizer(load_rulebook([shipped_rules()]), Routes(), Scrubber())


@both_loops
async def test_each_gets_an_error_in_its_own_form() -> None:
    def answer(got: Got) -> bytes:
        return DOWN if got.target == b"/down" else OK

    async with serving(answer) as site, relaying(site.port, _normalizer()) as running:
        reader, writer = await running.open()
        for _ in range(2):
            writer.write(get("/down", *BROWSER))
            assert await reader.readexactly(len(DOWN)) == DOWN
            writer.write(get("/down", AGENT))
            envelope = await read_answer(reader)
            assert (envelope.status, envelope.all(b"content-length")) == (
                503,
                [str(len(envelope.body)).encode()],
            )
            error = json.loads(envelope.body)["error"]
            assert (error["code"], error["retry_after"]) == ("temporarily_unavailable", 7)
            writer.write(get("/fine", AGENT))
            assert (await read_answer(reader)).body == b"ok"
        writer.close()
        assert site.connections == 1


@both_loops
async def test_failures_of_our_own_and_refusals_of_requests() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    async with relaying(port, _normalizer()) as running:
        answer = await running.ask(get("/", AGENT))
        assert (answer.status, answer.all(b"proxy-status")) == (502, [b"saywhy; error=connection_refused"])
        assert json.loads(answer.body)["error"]["source"] == "proxy"
        answer = await running.ask(get("/", *BROWSER))
        assert (answer.status, answer.all(b"retry-after")) == (502, [b"10"])
        assert not answer.body.startswith(b"{")
        answer = await running.ask(get("/secret", AGENT, method="TRACE"))
        assert (answer.status, answer.all(b"connection")) == (405, [b"close"])
        assert answer.all(b"proxy-status") == [b"saywhy; error=http_request_error"]
        assert b"secret" not in answer.head + answer.body
        json.loads(answer.body)


@pytest.mark.parametrize("method", ["GET", "DELETE"])
@both_loops
async def test_a_request_that_was_sent_once_is_never_said_not_to_have_been(method: str) -> None:
    """The site takes it, ends, and is gone when it is to be sent once more."""
    taken: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, OSError):
            while True:
                taken.append((await reader.readuntil(b"\r\n\r\n")).split(b" ")[0])
                if taken[-1] == method.encode() and len(taken) > 1:
                    server.close()
                    break
                writer.write(OK)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    asked = get("/", "Accept: application/json", method=method)
    async with relaying(server.sockets[0].getsockname()[1], _normalizer()) as running:
        assert (await running.ask(get())).status == 200
        answer = await running.ask(asked, method)
        assert taken[1:] == [method.encode()]
        assert (answer.status, answer.all(b"proxy-status")) == (502, [b"saywhy; error=connection_terminated"])
        error = json.loads(answer.body)["error"]
        assert "not sent" not in error["message"]
        assert error["side_effects"] == ("none_expected" if method == "GET" else "possible")
        # The next one was never sent, and is told so.
        error = json.loads((await running.ask(asked, method)).body)["error"]
        assert ("not sent" in error["message"], error["side_effects"]) == (True, "none_expected")
