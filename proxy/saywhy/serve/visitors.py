"""The connections of the admin port: a few at once. It shares the process's file descriptors with callers, and aiohttp waits
without end for the first request of a connection: whoever opened many and asked nothing would shut out the probes.
"""

from __future__ import annotations

import asyncio
import logging

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError


class Visitors:
    """Makes the protocols of `server`'s connections. Where there are too many, the one that has been there for longest
    goes: a new one is let in whatever the others are up to.
    """

    def __init__(self, server: web.Server, most: int) -> None:
        self._server, self._most = server, most

    def __call__(self) -> asyncio.Protocol:
        standing = [one for one in self._server.connections if one.transport is not None]
        for oldest in standing[: max(0, len(standing) + 1 - self._most)]:
            transport = oldest.transport
            oldest.force_close()
            if isinstance(transport, asyncio.WriteTransport):
                transport.abort()  # to close it would wait for a visitor who does not read
        return self._server()


def log_of_visits() -> logging.Logger:
    """A logger for aiohttp's server that keeps to itself what was wrong with a request: the visitor is told, and a
    scanner of ports would write a trace with every try.
    """
    log = logging.getLogger("saywhy.admin")
    log.addFilter(_our_fault)
    return log


def _our_fault(record: logging.LogRecord) -> bool:
    return not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError))
