"""How a connection to a site is made: one address after the other, a slow one overtaken by the next; and which failure
is which.
"""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
from collections.abc import Callable
from typing import Any, Final

from saywhy.relay.names import Address, Names
from saywhy.relay.place import Place

_STAGGER_SECONDS: Final = 0.25
"""After so long without an answer the next address is tried beside (RFC 8305 5)."""
_QUEUE_SECONDS: Final = 0.01
"""Between two looks whether a Unix socket's queue has a place: as long as a site takes for a handful of requests."""
_GOODBYE_SECONDS: Final = 1.0
"""For a site to answer the end of TLS. The default of half a minute would keep a socket open for nobody."""

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

Make = Callable[[Address | None], asyncio.Protocol]
"""Builds the protocol of a connection to an address; None for a Unix socket."""


async def dial(place: Place, names: Names, make: Make) -> None:
    """Connect a new protocol to `place`. Raises OSError (ssl.SSLError included): that of the address tried last."""
    loop = asyncio.get_running_loop()
    tls: dict[str, Any] = {}
    if place.tls is not None:
        tls = {"ssl": place.tls, "server_hostname": place.name, "ssl_shutdown_timeout": _GOODBYE_SECONDS}
    if place.path:
        connected = await _connect_path(place.path)
        try:
            await loop.create_unix_connection(lambda: make(None), sock=connected, **tls)
        except BaseException:
            connected.close()
            raise
        return
    if not names.is_name:
        (address,) = names.addresses
        try:
            await loop.create_connection(lambda: make(address), *address.where[:2], **tls)
        except ConnectionResetError as error:
            if error.errno is None:  # in the TLS handshake
                raise
            # It stood, and its listener went: another may be there already. Nothing has been sent on it.
            await loop.create_connection(lambda: make(address), *address.where[:2], **tls)
        return
    left = await names.current()
    while True:
        connected, address = await _race(left, names)
        try:
            await loop.create_connection(lambda at=address: make(at), sock=connected, **tls)  # type: ignore[misc]
        except OSError:
            connected.close()
            names.shun(address)
            left = [one for one in left if one != address]  # its neighbour may be in order
            if not left:
                raise
        except BaseException:
            connected.close()
            raise
        else:
            return


async def _race(addresses: list[Address], names: Names) -> tuple[socket.socket, Address]:
    """The first socket that connects. Once all addresses were tried in vain, or keep silent, the name is looked up again:
    a site that has moved is found at the first failure.
    """
    ahead = list(addresses)
    tried: set[Address] = set()
    running: dict[asyncio.Future[Any], Address | None] = {}
    renewed = False
    last: OSError | None = None
    try:
        while True:
            if ahead:
                address = ahead.pop(0)
                tried.add(address)
                running[asyncio.ensure_future(_connect(address))] = address
            elif not running:
                if renewed or (renewal := names.renew()) is None:
                    raise last or OSError(errno.EHOSTUNREACH, "no address")
                renewed = True
                running[renewal] = None
            done, _ = await asyncio.wait(
                running,
                timeout=None if renewed and not ahead else _STAGGER_SECONDS,
                return_when=asyncio.FIRST_COMPLETED,
            )
            for one in done:
                at = running.pop(one)
                error = one.exception()
                if at is None:
                    ahead += [new for new in names.addresses if new not in tried]
                elif error is None:
                    return one.result(), at
                else:
                    names.shun(at)
                    last = error if isinstance(error, OSError) else last
            if not done and not ahead and not renewed and (renewal := names.renew()) is not None:
                running[renewal] = None
            renewed = renewed or (not done and not ahead)
    finally:
        for one, at in running.items():
            if at is not None:
                one.add_done_callback(_close_late)
                one.cancel()


async def _connect(address: Address) -> socket.socket:
    made = socket.socket(address.family, socket.SOCK_STREAM)
    try:
        made.setblocking(False)
        made.setsockopt(
            socket.IPPROTO_TCP, socket.TCP_NODELAY, 1
        )  # uvloop does so for those alone that it makes
        await asyncio.get_running_loop().sock_connect(made, address.where)
    except BaseException:
        made.close()
        raise
    return made


async def _connect_path(path: str) -> socket.socket:
    """A Unix socket. Where the queue of those who listen is full, TCP waits for a place in it, but connect(2) says EAGAIN
    here: the site is there, and has more to do than it likes. Waits until the dial is given up.
    """
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        made.setblocking(False)
        while True:
            try:
                made.connect(path)
            except BlockingIOError:
                await asyncio.sleep(_QUEUE_SECONDS)
            else:
                return made
    except BaseException:
        made.close()
        raise


def _close_late(attempt: asyncio.Future[socket.socket]) -> None:
    """An attempt that was overtaken."""
    if not attempt.cancelled() and attempt.exception() is None:
        attempt.result().close()


def token_of(error: BaseException) -> str:
    """The RFC 9209 word for a connection that did not come to be."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return "tls_certificate_error"
    if isinstance(error, ssl.SSLError):
        return "tls_alert_received" if is_alert(error) else "tls_protocol_error"
    if is_hangup(error):
        return "tls_protocol_error"
    if isinstance(error, socket.gaierror):
        return "dns_error"
    if isinstance(error, asyncio.CancelledError | TimeoutError):
        return "connection_timeout"
    if isinstance(error, OSError):
        return _TOKENS.get(error.errno or 0, "connection_terminated")
    return "proxy_internal_error"


def is_hangup(error: BaseException) -> bool:
    """Whether the site closed in the middle of the handshake, without an alert: asyncio and uvloop raise this without a
    number, where the kernel's own resets have one.
    """
    return isinstance(error, ConnectionResetError) and error.errno is None


def is_alert(error: ssl.SSLError) -> bool:
    """Whether the site itself refused (RFC 8446 6): OpenSSL writes the alert's name into its reason."""
    return "_ALERT_" in (getattr(error, "reason", None) or "")
