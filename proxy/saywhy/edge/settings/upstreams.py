"""The settings of one site: where it is."""

from __future__ import annotations

from urllib.parse import urlsplit

from pydantic import Field, field_validator

from saywhy.edge.settings.model import Section


class Upstream(Section):
    """One site. In a file a bare URL will do."""

    url: str = Field(
        description="http://host[:port], https://host[:port] or unix:/path; no path, no credentials."
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
