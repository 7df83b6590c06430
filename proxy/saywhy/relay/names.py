"""The addresses of a site's name: looked up when there is need, again after a while, and kept while nobody answers.

getaddrinfo blocks the thread that calls it, for half a minute where a name server is silent. Each name has a thread of
its own while it is looked up, and one at most: a name that hangs holds up nobody but those who want it.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
import time
from collections.abc import Callable
from itertools import chain, zip_longest
from typing import Any, Final, NamedTuple

from saywhy.edge.events import named

_LOG: Final = logging.getLogger("saywhy.relay")

STALE_SECONDS: Final = 600.0
"""Addresses are used on while looking up fails (RFC 8767 3): longer than a name server's restart, shorter than it takes
until somebody else may have the address.
"""
_PATIENCE_SECONDS: Final = 0.5
"""Whoever has old addresses waits so long for new ones (RFC 8767 5 says 1.8: for people, not for a site's callers)."""
_APART_SECONDS: Final = 1.0
"""Between two look-ups that failures ask for."""


class Address(NamedTuple):
    """As getaddrinfo has it: AF_INET or AF_INET6, and what `connect` takes."""

    family: int
    where: tuple[Any, ...]


LookUp = Callable[[str, int], list[Address]]
"""Host and port -> addresses, in the order in which they are to be tried. Blocks; raises OSError."""


def system_addresses(host: str, port: int) -> list[Address]:
    """What the system says (hosts file, name servers), in the order of RFC 6724."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [Address(family, where) for family, _, _, _, where in found]


def _literal(host: str, port: int) -> tuple[Address, ...]:
    """The one address that `host` is, nothing where it is a name."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    except OSError:
        return ()
    return tuple(Address(family, where) for family, _, _, _, where in found[:1])


class Names:
    """The addresses of `host`, for `seconds` at a time. `changed` is called when a look-up gave others than the last;
    `upstream` is whose name it is, for the operator.
    """

    def __init__(
        self,
        host: str,
        port: int,
        seconds: float,
        changed: Callable[[], None],
        look_up: LookUp,
        upstream: str = "",
    ) -> None:
        self.host = host
        self._upstream = upstream
        self._port = port
        self._seconds = seconds
        self._changed = changed
        self._look_up = look_up
        self.addresses = _literal(host, port) if host else ()
        self.is_name = bool(host) and not self.addresses
        self._error = OSError()
        self._learned = float("-inf")
        self._due = float("-inf")
        self._pending: asyncio.Future[list[Address]] | None = None
        self._shunned: dict[Address, float] = {}
        self._turn = 0
        self._told = False

    @property
    def is_unknown(self) -> bool:
        """Whether there is no address, and one is being looked for."""
        return self._pending is not None and not self.addresses

    async def current(self) -> list[Address]:
        """The addresses in the order in which to try them. Raises OSError where there are none."""
        if self.is_name and time.monotonic() >= self._due:
            pending = self._begin()
            await asyncio.wait((pending,), timeout=_PATIENCE_SECONDS if self.addresses else None)
        if not self.addresses:
            raise self._error
        return self._ordered()

    def renew(self) -> asyncio.Future[list[Address]] | None:
        """Look again because an address did not answer; None where that was done a moment ago."""
        if not self.is_name or time.monotonic() < self._learned + _APART_SECONDS:
            return None
        return self._begin()

    def keep_fresh(self) -> None:
        """Look again where it is time, for connections that are kept."""
        if self.is_name and self._pending is None and time.monotonic() >= self._due:
            self._begin()

    def shun(self, address: Address) -> None:
        """`address` did not answer: others are tried before it for a while."""
        self._shunned[address] = time.monotonic() + self._seconds

    def _ordered(self) -> list[Address]:
        """Families alternate (RFC 8305 4), the system's first choice leads, and within a family each has its turn: a
        name with many addresses is a site with many servers.
        """
        if len(self.addresses) == 1:
            return list(self.addresses)
        self._turn += 1
        families: dict[int, list[Address]] = {}
        for address in self.addresses:
            families.setdefault(address.family, []).append(address)
        turned = []
        for members in families.values():
            first = self._turn % len(members)
            turned.append(members[first:] + members[:first])
        order = [one for one in chain.from_iterable(zip_longest(*turned)) if one is not None]
        now = time.monotonic()
        return sorted(order, key=lambda address: self._shunned.get(address, 0) > now)

    def _begin(self) -> asyncio.Future[list[Address]]:
        if self._pending is not None:
            return self._pending
        loop = asyncio.get_running_loop()
        pending: asyncio.Future[list[Address]] = loop.create_future()
        self._pending = pending
        pending.add_done_callback(self._ended)

        def settle(found: list[Address], error: OSError | None) -> None:
            if pending.done():
                return
            if error is None:
                pending.set_result(found)
            else:
                pending.set_exception(error)

        def run() -> None:
            found: list[Address] = []
            failure: OSError | None = None
            try:
                found = self._look_up(self.host, self._port)
                failure = None if found else socket.gaierror(socket.EAI_NONAME, "the name has no address")
            except OSError as error:
                failure = error
            except UnicodeError:  # a label too long for IDNA
                failure = socket.gaierror(socket.EAI_NONAME, "it is no host name")
            try:
                loop.call_soon_threadsafe(settle, found, failure)
            except RuntimeError:
                pass  # the loop is closed: nobody wants to know any more

        # A daemon: a process that is to end does not wait for a name server.
        threading.Thread(target=run, name=f"look up {self.host}", daemon=True).start()
        return pending

    def _ended(self, pending: asyncio.Future[list[Address]]) -> None:
        self._pending = None
        now = time.monotonic()
        error = None if pending.cancelled() else pending.exception()
        if pending.cancelled() or error is not None:
            self._due = now + min(_APART_SECONDS, self._seconds)
            self._failed(error if isinstance(error, OSError) else OSError("cancelled"), now)
            return
        self._learned, self._due = now, now + self._seconds
        before, self.addresses = self.addresses, tuple(dict.fromkeys(pending.result()))
        self._shunned = {one: until for one, until in self._shunned.items() if until > now}
        if self._told:
            self._told = False
            _LOG.warning(
                "Upstream %s: the name %s is found again.",
                self._upstream, self.host, extra=named("name_found", upstream=self._upstream, host=self.host),
            )  # fmt: skip
        if before and set(before) != set(self.addresses):
            self._changed()

    def _failed(self, error: OSError, now: float) -> None:
        self._error = error
        if now - self._learned > STALE_SECONDS:
            self.addresses = ()
        if not self._told:
            self._told = True
            what = (
                f"its last addresses are used on, for {STALE_SECONDS / 60:.0f} minutes at most"
                if self.addresses
                else "its site cannot be reached"
            )
            _LOG.warning(
                "Upstream %s: the name %s cannot be looked up (%s): %s. Check the name and this machine's name servers.",
                self._upstream, self.host, error.strerror or error, what,
                extra=named("name_not_found", upstream=self._upstream, host=self.host),
            )  # fmt: skip
