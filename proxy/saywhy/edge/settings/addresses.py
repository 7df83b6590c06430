"""Listen addresses: the four forms an operator may write, and how each is written back."""

from __future__ import annotations

import ipaddress
from typing import NamedTuple

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
