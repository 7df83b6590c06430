"""The plain way to write a proxy with aiohttp: a web.Application before a ClientSession. A peer, not a part.

python aiohttp_proxy.py PORT HOST:PORT, which logs a line of JSON an exchange to standard output.
"""

from __future__ import annotations

import json
import sys
import time
import uuid
from collections.abc import AsyncIterator

import uvloop
from aiohttp import ClientSession, DummyCookieJar, TCPConnector, web
from aiohttp.abc import AbstractAccessLogger
from multidict import CIMultiDict

HOP_BY_HOP = {"connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"}
SESSION = web.AppKey("session", ClientSession)
SITE = web.AppKey("site", str)


def _end_to_end(fields: CIMultiDict[str]) -> CIMultiDict[str]:
    return CIMultiDict((name, value) for name, value in fields.items() if name.lower() not in HOP_BY_HOP)


class JsonLog(AbstractAccessLogger):
    """Buffered, a line an exchange; written out once a second."""

    flushed = 0.0

    def log(self, request: web.BaseRequest, response: web.StreamResponse, duration: float) -> None:
        """aiohttp calls this at the end of an exchange; `duration` in seconds."""
        now = time.time()
        line = {
            "time": now, "method": request.method, "path": request.path, "status": response.status,
            "bytes": response.body_length, "duration": duration, "id": request.get("id"),
        }  # fmt: skip
        sys.stdout.write(json.dumps(line) + "\n")
        if now - self.flushed > 1:
            sys.stdout.flush()
            self.flushed = now


async def _session(app: web.Application) -> AsyncIterator[None]:
    async with ClientSession(
        auto_decompress=False, cookie_jar=DummyCookieJar(), connector=TCPConnector(limit=0)
    ) as session:
        app[SESSION] = session
        yield


async def forward(request: web.Request) -> web.StreamResponse:
    """One exchange, streamed both ways."""
    fields = _end_to_end(CIMultiDict(request.headers))
    fields.add("X-Forwarded-For", request.remote or "")
    fields["X-Request-Id"] = request["id"] = str(uuid.uuid4())
    body = request.content if request.body_exists else None
    url = f"http://{request.app[SITE]}{request.path_qs}"
    async with request.app[SESSION].request(
        request.method, url, headers=fields, data=body, allow_redirects=False
    ) as answer:
        response = web.StreamResponse(
            status=answer.status, reason=answer.reason, headers=_end_to_end(CIMultiDict(answer.headers))
        )
        await response.prepare(request)
        async for piece in answer.content.iter_any():
            await response.write(piece)
        await response.write_eof()
        return response


def main() -> None:
    """Serve until ended."""
    app = web.Application(client_max_size=1 << 40)
    app[SITE] = sys.argv[2]
    app.cleanup_ctx.append(_session)
    app.router.add_route("*", "/{path:.*}", forward)
    uvloop.install()
    web.run_app(
        app, host="127.0.0.1", port=int(sys.argv[1]), print=None, access_log_class=JsonLog, backlog=8192
    )


if __name__ == "__main__":
    main()
