"""Opening the sockets, before anything serves them: what cannot be opened is said before a process is started for it.

A TCP address has a socket for each worker, in one SO_REUSEPORT group: the kernel deals connections out evenly, and no
worker is woken for another's. All of them belong to the process that opened them. So a worker that ends takes no
waiting connection with it: whoever replaces it goes on accepting from the same socket. A Unix socket has no such
groups (unix(7)); there all workers accept from one.
"""

from __future__ import annotations

import errno
import os
import socket
import stat
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from typing import Final, NamedTuple

from saywhy.edge.settings import Address, Settings, parse_address
from saywhy.serve.sockets import UnixSockets

BACKLOG: Final = 4096
"""Connections that the kernel keeps while the loop is busy; it caps this at net.core.somaxconn."""

_PORT_TRIES: Final = 20
"""For a free port (0) that has to be free on several addresses at once."""


class StartError(Exception):
    """The process cannot start; the message is for the operator and says what to do."""


class Listener(NamedTuple):
    """One listener of the settings, open. `shares` has the sockets of each worker; `url` is how it is reached."""

    url: str
    tls: bool
    shares: tuple[tuple[socket.socket, ...], ...]


class Listeners:
    """All listeners of a process, and the files of the Unix sockets among them."""

    def __init__(self, opened: Sequence[Listener], files: UnixSockets) -> None:
        self.opened = tuple(opened)
        self._files = files

    @property
    def urls(self) -> list[str]:
        """How each is reached."""
        return [one.url for one in self.opened]

    def share(self, worker: int) -> list[tuple[socket.socket, bool]]:
        """(socket, whether it speaks TLS) of one worker."""
        return [(sock, one.tls) for one in self.opened for sock in one.shares[worker]]

    def all_sockets(self) -> set[socket.socket]:
        """Every socket, each once."""
        return {sock for one in self.opened for share in one.shares for sock in share}

    def remove_files(self) -> None:
        """Nobody finds the Unix sockets any more. To be called while they are open; see UnixSockets."""
        self._files.remove()

    def close(self) -> None:
        """Close this process's hold on all."""
        for sock in self.all_sockets():
            sock.close()


def open_listeners(settings: Settings) -> Listeners:
    """What callers connect to. Raises StartError, with everything closed again."""
    wanted = [("listen", text, False) for text in settings.listen]
    wanted += [("tls.listen", text, True) for text in settings.tls.listen]
    return _open_all(wanted, settings.workers)


def open_admin(settings: Settings) -> Listeners:
    """The admin port's; empty where it is switched off. Raises StartError."""
    return _open_all([("admin", settings.admin, False)] if settings.admin else [], 1)


def _open_all(wanted: Sequence[tuple[str, str, bool]], workers: int) -> Listeners:
    files = UnixSockets()
    opened: list[Listener] = []
    try:
        for setting, text, tls in wanted:
            address = parse_address(text)
            try:
                if address.path:
                    opened.append(Listener(address.shown, tls, ((_open_unix(address),),) * workers))
                    files.remember(address.path)
                else:
                    opened.append(_open_tcp(address, tls, workers))
            except OSError as refused:
                raise StartError(_why_not(setting, address, refused)) from None
    except BaseException:
        files.remove()
        Listeners(opened, files).close()
        raise
    return Listeners(opened, files)


def _open_unix(address: Address) -> socket.socket:
    """A listening Unix socket. The file of one that nobody serves any more is replaced."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with suppress(FileNotFoundError):
            if stat.S_ISSOCK(os.stat(address.path).st_mode):
                _refuse_if_served(address.path)
                os.unlink(address.path)
        sock.bind(address.path)
        sock.listen(BACKLOG)
        sock.setblocking(False)
    except BaseException:
        sock.close()
        raise
    return sock


def _refuse_if_served(path: str) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1)
        try:
            probe.connect(path)
        except (ConnectionRefusedError, FileNotFoundError):
            return
        except OSError:  # it is full, or not ours to ask: somebody is there
            pass
    raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))


def _open_tcp(address: Address, tls: bool, workers: int) -> Listener:
    for attempt in range(_PORT_TRIES):
        try:
            port, shares = _bind(address, workers)
            break
        except OSError as refused:
            if address.port or refused.errno != errno.EADDRINUSE or attempt == _PORT_TRIES - 1:
                raise
    scheme = "https" if tls else "http"
    shown = address._replace(host=address.host or "*", port=port).shown
    return Listener(f"{scheme}://{shown}", tls, shares)


def _bind(address: Address, workers: int) -> tuple[int, tuple[tuple[socket.socket, ...], ...]]:
    """The port, and for each worker a socket on every address that the host stands for."""
    places = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    port = address.port
    shares: list[list[socket.socket]] = [[] for _ in range(workers)]
    absent: OSError | None = None
    with ExitStack() as undo:
        for family, _, _, _, place in dict.fromkeys(places):
            for share in shares:
                try:
                    if workers > 1 and share is shares[0] and port:
                        # A second parent would join the group of the first one unnoticed, and take half its callers.
                        _tcp(family, (place[0], port, *place[2:]), group=False).close()
                    sock = _tcp(family, (place[0], port, *place[2:]), group=workers > 1)
                except OSError as refused:
                    # A host of several addresses, one of which this machine does not have (no IPv6).
                    if refused.errno not in (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL) or len(places) == 1:
                        raise
                    absent = refused
                    break
                undo.callback(sock.close)
                share.append(sock)
                port = sock.getsockname()[1]
        if absent is not None and not shares[0]:
            raise absent
        for share in shares:
            for sock in share:
                sock.listen(BACKLOG)
        undo.pop_all()
    return port, tuple(map(tuple, shares))


def _tcp(family: int, place: tuple[str | int, ...], *, group: bool) -> socket.socket:
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        # Without it a restart would have to wait until the last connection of the old process is forgotten (tcp(7)).
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if group:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family == socket.AF_INET6:
            # IPv4 has a socket of its own, or was not asked for (RFC 3493 5.3).
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        sock.setblocking(False)
        sock.bind(place)
    except BaseException:
        sock.close()
        raise
    return sock


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.lstat(path).st_mode)
    except OSError:
        return True  # it has gone meanwhile


def _why_not(setting: str, address: Address, refused: OSError) -> str:
    where = f"Cannot listen on {address.shown} ({setting})"
    if isinstance(refused, socket.gaierror):
        return f"{where}: the host {address.host} has no address here; write an address of this machine."
    match refused.errno:
        case errno.EADDRINUSE if address.path and not _is_socket(address.path):
            return f"{where}: something that is no socket is there; remove it, or choose another path."
        case errno.EADDRINUSE:
            another = "in the settings" if "." in setting else f"with --{setting}"
            return f"{where}: it is in use; stop what listens there or choose another {another}."
        case errno.EACCES:
            return (
                f"{where}: permission denied; choose a port from 1024 up, or a folder that may be written to."
            )
        case errno.EADDRNOTAVAIL:
            return f"{where}: that address is none of this machine's; write one that is, or :{address.port} for all of them."
        case errno.ENOENT | errno.ENOTDIR:
            return f"{where}: the folder of the socket does not exist; create it."
    return f"{where}: {refused.strerror or refused}."
