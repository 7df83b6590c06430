"""A socket that is open already, served by aiohttp's runner: plain or with TLS."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from typing import Any

from aiohttp import web

from saywhy.serve.doorway import Doorway
from saywhy.serve.listening import BACKLOG

GOODBYE_SECONDS = 2.0
"""For a caller to answer the end of a TLS connection (RFC 8446 6.1); most never do."""


class SocketSite(web.BaseSite):
    """Serves `sock`. It works on a copy of the number, so that the socket stays open where somebody else holds it: the
    same socket may be served again, with another `tls`, or by another process. A handshake has `handshake_seconds`;
    `protocols` makes what serves a connection, where it is not the runner's server.
    """

    __slots__ = ("_handshake_seconds", "_protocols", "_sock", "listener")

    def __init__(
        self,
        runner: web.BaseRunner,
        sock: socket.socket,
        *,
        tls: ssl.SSLContext | None = None,
        handshake_seconds: float = 15.0,
        backlog: int = BACKLOG,
        protocols: Callable[[], asyncio.Protocol] | None = None,
    ) -> None:
        super().__init__(runner, ssl_context=tls, backlog=backlog)
        self.listener = sock
        self._sock = sock.dup()
        self._sock.setblocking(False)
        self._handshake_seconds = handshake_seconds
        self._protocols = protocols

    @property
    def tls(self) -> ssl.SSLContext | None:
        """With what callers are spoken to."""
        return self._ssl_context

    @property
    def name(self) -> str:
        """See web.BaseSite."""
        return str(self.listener.getsockname())

    async def start(self) -> None:
        """See web.BaseSite."""
        await super().start()
        if self._ssl_context is not None:
            self._server: Any = Doorway(self._sock, self.let_in)
            return
        loop = asyncio.get_running_loop()
        # The loop listens once more, and the last word about a socket's backlog counts.
        create: Any = loop.create_unix_server if self._sock.family == socket.AF_UNIX else loop.create_server
        self._server = await create(
            self._protocol, sock=self._sock, backlog=self._backlog, ssl=self._ssl_context, **self._deadlines
        )

    async def let_in(self, caller: socket.socket) -> asyncio.BaseTransport:
        """Serve a caller whom somebody else has accepted. Raises OSError."""
        loop = asyncio.get_running_loop()
        transport, _ = await loop.connect_accepted_socket(
            self._protocol, caller, ssl=self._ssl_context, **self._deadlines
        )
        return transport

    @property
    def _protocol(self) -> Callable[[], asyncio.Protocol]:
        server = self._runner.server
        assert server is not None
        return self._protocols or server

    @property
    def _deadlines(self) -> dict[str, float]:
        """As asyncio's functions take them: not at all without TLS."""
        if self._ssl_context is None:
            return {}
        return {"ssl_handshake_timeout": self._handshake_seconds, "ssl_shutdown_timeout": GOODBYE_SECONDS}
