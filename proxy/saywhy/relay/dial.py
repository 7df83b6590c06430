"""Connections to a site: where it is (http, https, unix), how a connection is made, and which failure is which."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
from collections.abc import Callable
from typing import Final, NamedTuple
from urllib.parse import urlsplit

_TOKENS: Final = {
    errno.ECONNREFUSED: "connection_refused",
    errno.ENOENT: "connection_refused",  # no such Unix socket
    errno.ENETUNREACH: "destination_ip_unroutable",
    errno.EHOSTUNREACH: "destination_ip_unroutable",
    errno.EADDRNOTAVAIL: "destination_ip_unroutable",
    errno.ETIMEDOUT: "connection_timeout",
    errno.ECONNRESET: "connection_terminated",
    errno.EPIPE: "connection_terminated",
    errno.EMFILE: "connection_limit_reached",
    errno.ENFILE: "connection_limit_reached",
}


class Place(NamedTuple):
    """Where a site listens. `path` is a Unix socket's; `tls` None for plain HTTP; `authority` fits a Host field."""

    url: str
    host: str
    port: int
    path: str
    tls: ssl.SSLContext | None
    authority: bytes


def place_of(url: str) -> Place:
    """Read http://host[:port], https://host[:port] or unix:/path. Raises ValueError with a sentence."""
    if url.startswith("unix:"):
        path = "/" + url.removeprefix("unix:").lstrip("/")
        return Place(url, "", 0, path, None, b"localhost")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{url!r} is not http://host[:port], https://host[:port] or unix:/path")
    tls = ssl.create_default_context() if parts.scheme == "https" else None
    if tls is not None:
        tls.set_alpn_protocols(["http/1.1"])
    port = parts.port or (443 if tls else 80)
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    authority = host if parts.port is None else f"{host}:{port}"
    return Place(url, parts.hostname, port, "", tls, authority.encode("latin-1", "replace"))


async def dial(place: Place, make: Callable[[], asyncio.Protocol]) -> None:
    """Connect a new protocol to `place`, one address after the other. Raises OSError (ssl.SSLError included)."""
    loop = asyncio.get_running_loop()
    if place.path:
        await loop.create_unix_connection(make, place.path)
        return
    found = await loop.getaddrinfo(place.host, place.port, type=socket.SOCK_STREAM)
    last: OSError | None = None
    for _, _, _, _, address in found:
        try:
            await loop.create_connection(
                make,
                str(address[0]),
                place.port,
                ssl=place.tls,
                server_hostname=place.host if place.tls else None,
            )
        except OSError as error:
            last = error
        else:
            return
    raise last or OSError(errno.EHOSTUNREACH, "no address")


def token_of(error: BaseException) -> str:
    """The RFC 9209 word for a connection that did not come to be."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return "tls_certificate_error"
    if isinstance(error, ssl.SSLError):
        return "tls_protocol_error"
    if isinstance(error, socket.gaierror):
        return "dns_error"
    if isinstance(error, asyncio.CancelledError | TimeoutError):
        return "connection_timeout"
    if isinstance(error, OSError):
        return _TOKENS.get(error.errno or 0, "connection_terminated")
    return "proxy_internal_error"
