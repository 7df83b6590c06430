"""The settings of one site: where it is, how its certificate is judged, how long its addresses hold, and when it is left
alone.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, field_validator

from saywhy.edge.settings.model import Section

_LABEL = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(?<!-)")
_NAME_CHARS = 253  # RFC 1035 2.3.4, as it is written
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")
FILES = ("ca_file", "certificate_file", "key_file", "key_password_file")
"""Settings that name a file; relative ones are taken from the settings file's folder."""


def _named(name: str) -> str:
    # The name is a metric label and a word in the log: short, and nothing that needs quoting there.
    if not _NAME.fullmatch(name):
        raise ValueError("cannot be an upstream's name; use letters, digits, dots and dashes, at most 63")
    return name


UpstreamName = Annotated[str, AfterValidator(_named)]


class Upstream(Section):
    """One site. In a file a bare URL will do."""

    url: str = Field(
        description="http://host[:port], https://host[:port] or unix:/path; no path, no credentials. Alone it may stand for the whole: `shop: http://host:3000`."
    )
    tls: bool = Field(
        default=False, description="TLS over a Unix socket, with `server_name`. A URL says it by https."
    )
    server_name: str = Field(
        default="",
        description="The name that the site's certificate must be for, and that is asked for (SNI); empty: the URL's host. For sites that are reached by an address or a name inside.",
    )
    ca_file: Path | None = Field(
        default=None,
        description="Certificates (PEM) of those who may vouch for the site. Without: those that the system trusts.",
    )
    verify: bool = Field(
        default=True,
        description="Whether the site's certificate is looked at. Off, anybody on the way can be the site: a warning at every start says so. Better give `ca_file`.",
    )
    certificate_file: Path | None = Field(
        default=None,
        description="Our own certificate (PEM, with its chain), for a site that asks for one. Read anew when it changes.",
    )
    key_file: Path | None = Field(
        default=None, description="Its private key; without, it is in `certificate_file`."
    )
    key_password_file: Path | None = Field(
        default=None,
        description="A file with the key's password: a secret in a setting would be in every listing of them.",
    )
    dns_seconds: float = Field(
        default=10,
        gt=0,
        description="How long the addresses of the site's name are taken for good; then it is looked up again, without a restart. The system does not tell a name's own TTL; 10 is what nginx users and cluster DNS live with.",
    )
    breaker_failures: int = Field(
        default=10,
        ge=0,
        description="So many connections in a row, within a minute, that did not come to be (refused, timed out, no address, TLS that failed), and callers are told at once that the site is away (503) instead of waiting. What the site answers never counts, a 5xx neither. Each worker process counts for itself. 0 switches it off. Ten: fewer would say it of a site that restarts.",
    )
    breaker_seconds: float = Field(
        default=10,
        ge=1,
        description="The longest pause before a connection is tried again; the first is a second, each further one twice as long. A site that is back is noticed within this time.",
    )

    @field_validator("url")
    @classmethod
    def _usable(cls, url: str) -> str:
        if url.startswith("unix:"):
            if not url.removeprefix("unix:").startswith("/"):
                raise ValueError("a Unix socket needs an absolute path; write unix:/run/site.sock")
            return url
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("it must be a URL; write http://host:port, https://host:port or unix:/path")
        if parts.username is not None or parts.password is not None:
            raise ValueError("credentials do not belong in it; write the host and port alone")
        if parts.path not in ("", "/") or parts.query or parts.fragment:
            raise ValueError(
                "a path cannot be put before the site's own paths; write the scheme, host and port alone"
            )
        try:
            usable = parts.port != 0
        except ValueError:
            usable = False
        if not usable:
            raise ValueError("its port must be a number from 1 to 65535")
        return url.rstrip("/")

    @field_validator(*FILES, mode="before")
    @classmethod
    def _empty_is_none(cls, file: Any) -> Any:
        return None if file == "" else file

    @field_validator("server_name")
    @classmethod
    def _name(cls, name: str) -> str:
        if name and not _is_address(name) and not all(map(_LABEL.fullmatch, name.rstrip(".").split("."))):
            raise ValueError("it must be a host name or an address; write shop.example, without port")
        if len(name.rstrip(".")) > _NAME_CHARS:
            raise ValueError(f"host names end at {_NAME_CHARS} characters; write the certificate's name")
        return name.rstrip(".")

    @property
    def encrypted(self) -> bool:
        """Whether TLS is spoken to the site."""
        return self.url.startswith("https:") or (self.tls and self.url.startswith("unix:"))


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def contradictions(upstream: Upstream) -> Iterator[tuple[str, str]]:
    """(setting, sentence) for what cannot be meant together."""
    local = upstream.url.startswith("unix:")
    if upstream.tls and not local:
        if not upstream.encrypted:
            yield "tls", "is true beside a URL with http; write https:// in the URL instead."
    elif local and upstream.encrypted and upstream.verify and not upstream.server_name:
        yield "server_name", "is missing: a socket's path is no name to verify; write the certificate's name."
    if not upstream.encrypted:
        remedy = "write tls: true beside it" if local else "write https:// in the URL"
        for key in ("server_name", *FILES):
            if getattr(upstream, key):
                yield (
                    key,
                    f"is for sites that are reached by TLS, and this one is not; {remedy}, or remove it.",
                )
    elif upstream.ca_file and not upstream.verify:
        yield "ca_file", "has no effect while verify is false; remove one of the two."
    if upstream.key_file and not upstream.certificate_file:
        yield "key_file", "is given without certificate_file; add the certificate that it belongs to."
    elif upstream.key_password_file and not upstream.certificate_file:
        yield "key_password_file", "is given without certificate_file; add the certificate and its key."


def doubts(upstream: Upstream) -> Iterator[tuple[str, str]]:
    """(setting, sentence) for what works, and is perhaps not wanted."""
    if upstream.encrypted and not upstream.verify:
        yield (
            "verify",
            "is false: the site's certificate is not looked at, so anybody on the way can read and answer everything;"
            " give ca_file (and server_name) instead.",
        )
