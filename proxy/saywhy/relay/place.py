"""Where a site is: an address or a name and a port, or a Unix socket; and how it is spoken to."""

from __future__ import annotations

import ssl
from typing import NamedTuple
from urllib.parse import urlsplit

from saywhy.edge.fingerprint import fingerprint
from saywhy.edge.settings import Upstream
from saywhy.edge.trust import client_context, files


class Place(NamedTuple):
    """Where a site listens. `path` is a Unix socket's; `tls` None for plain HTTP, `name` what its certificate is for;
    `authority` fits a Host field. `upstream` and `prints` are what all of it was made from.
    """

    url: str
    host: str
    port: int
    path: str
    tls: ssl.SSLContext | None
    name: str
    authority: bytes
    upstream: Upstream
    prints: str

    def is_of(self, upstream: Upstream) -> bool:
        """Whether `upstream`, and the files that it names, say what they said when this was made."""
        return self.upstream == upstream and self.prints == _prints(upstream)


def place_of(upstream: Upstream) -> Place:
    """The place of a site. Raises edge.trust.TrustError for files that cannot be used."""
    url = upstream.url
    prints = _prints(upstream)  # before the files are read: a change in between is seen the next time
    tls = client_context(upstream)
    if url.startswith("unix:"):
        path = "/" + url.removeprefix("unix:").lstrip("/")
        name = upstream.server_name or "localhost"
        return Place(url, "", 0, path, tls, name, name.encode(), upstream, prints)
    parts = urlsplit(url)
    assert parts.hostname  # the settings see to that
    port = parts.port or (443 if tls else 80)
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    authority = host if parts.port is None else f"{host}:{port}"
    name = upstream.server_name or parts.hostname
    return Place(
        url, parts.hostname, port, "", tls, name, authority.encode("latin-1", "replace"), upstream, prints
    )


def _prints(upstream: Upstream) -> str:
    return fingerprint(files(upstream))
