"""Listen addresses: the four forms an operator may write, and how each is written back."""

from __future__ import annotations

import ipaddress
from typing import NamedTuple

_Place = ipaddress.IPv4Address | ipaddress.IPv6Address | str
_ANYWHERE: frozenset[_Place] = frozenset((ipaddress.IPv4Address(0), ipaddress.IPv6Address(0)))
_LOOPBACK: frozenset[_Place] = frozenset((ipaddress.IPv4Address("127.0.0.1"), ipaddress.IPv6Address("::1")))
_REMEDY = "write 127.0.0.1:8080, [::1]:8080, :8080 or unix:/path"


class Address(NamedTuple):
    """Where to listen. `path` for a Unix socket, else `host` (None: every address of the machine) and `port` (0: any)."""

    host: str | None
    port: int
    path: str = ""

    @property
    def shown(self) -> str:
        """As an operator would write it."""
        if self.path:
            return f"unix:{self.path}"
        host = self.host or ""
        return f"[{host}]:{self.port}" if ":" in host else f"{host}:{self.port}"

    @property
    def places(self) -> frozenset[_Place]:
        """What `host` stands for, as far as can be told without asking for names."""
        if not self.host:
            return _ANYWHERE
        if self.host.lower() == "localhost":
            return _LOOPBACK
        try:
            return frozenset((ipaddress.ip_address(self.host),))
        except ValueError:
            return frozenset((self.host.lower(),))

    def collides(self, other: Address) -> bool:
        """Whether the two cannot both be listened on. A free port (0) never meets another."""
        if self.path or other.path:
            return self.path == other.path
        if self.port != other.port or not self.port:
            return False
        return any(
            one == two or _covers(one, two) or _covers(two, one)
            for one in self.places
            for two in other.places
        )


def _covers(wide: _Place, narrow: _Place) -> bool:
    """Whether `wide` is every address of the family of `narrow`; a name may be of either."""
    return wide in _ANYWHERE and (isinstance(narrow, str) or type(wide) is type(narrow))


def parse_address(text: str) -> Address:
    """`text` as an address. Raises ValueError with a sentence that says what to write instead."""
    if text.startswith("unix:"):
        path = text.removeprefix("unix:")
        if not path.startswith("/"):
            raise ValueError(f"a Unix socket needs an absolute path; {_REMEDY}")
        # sockaddr_un holds 108 bytes with the final NUL (unix(7)).
        if len(path.encode()) > 107:
            raise ValueError("the path of a Unix socket may have at most 107 bytes")
        return Address(None, 0, path)
    if text.isascii() and text.isdigit():
        raise ValueError(f"it is a port alone; write :{text} (every address) or 127.0.0.1:{text}")
    host, colon, port = text.rpartition(":")
    if not colon or not (port.isascii() and port.isdigit()):
        raise ValueError(f"it has no port; {_REMEDY}")
    if int(port) > 65535:
        raise ValueError(f"ports end at 65535; {_REMEDY}")
    if host.startswith("[") and host.endswith("]"):
        try:
            return Address(str(ipaddress.IPv6Address(host[1:-1])), int(port))
        except ValueError:
            raise ValueError(f"{host} is no IPv6 address; {_REMEDY}") from None
    if ":" in host:
        raise ValueError(f"an IPv6 address needs brackets; {_REMEDY}")
    if "/" in host or "@" in host or host.strip() != host or " " in host:
        raise ValueError(f"it is host and port, no URL; {_REMEDY}")
    return Address(host if host not in ("", "*") else None, int(port))
