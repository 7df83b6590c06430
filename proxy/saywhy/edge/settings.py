"""The settings: what an operator may write, as frozen models. Reading them from a file, the environment and flags
happens here too; nothing else in the package looks at the environment.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Limits(_Section):
    """Sizes in bytes unless the name says otherwise. Each default argues itself in the description."""

    head_bytes: int = Field(65536, ge=1024, description="One header section, either side. Sites with OIDC cookies need 64 KiB.")
    line_bytes: int = Field(16384, ge=512, description="One line of a header section, the request line included.")
    fields_count: int = Field(200, ge=10, description="Header fields in one section.")
    held_body_bytes: int = Field(65536, ge=1024, description="How much of an agent's error page is read before it is answered.")
    held_bytes_budget: int = Field(33554432, ge=65536, description="All bodies held at one time; over it, the status decides.")
    upstream_connections: int = Field(256, ge=1, description="Connections to one site, idle and busy.")
    upstream_waiting: int = Field(1024, ge=0, description="Exchanges that may wait for one; the next gets 503.")
    caller_connections: int = Field(10000, ge=1, description="Connections from callers; the next is closed.")
    pipelined_requests: int = Field(16, ge=1, description="Requests read ahead on one connection before reading pauses.")
    stream_buffer_bytes: int = Field(65536, ge=4096, description="Bytes in flight per direction before the sender is paused.")


class Deadlines(_Section):
    """Durations in seconds."""

    connect_seconds: float = Field(5, gt=0, description="Until a connection to the site stands.")
    first_byte_seconds: float = Field(60, gt=0, description="From the last byte of the request to the head of the answer.")
    idle_seconds: float = Field(60, gt=0, description="Without a byte in either direction in the middle of a message.")
    tunnel_idle_seconds: float = Field(3600, gt=0, description="Without a byte in a tunnel (WebSocket).")
    request_head_seconds: float = Field(15, gt=0, description="For a caller to send a whole request head.")
    caller_keepalive_seconds: float = Field(75, gt=0, description="An idle connection of a caller.")
    upstream_keepalive_seconds: float = Field(30, gt=0, description="An idle pooled connection to the site.")
    drain_seconds: float = Field(2, ge=0, description="After SIGTERM: not ready, still accepting, so that balancers notice.")
    shutdown_seconds: float = Field(25, ge=0, description="For exchanges in flight to finish after that.")


class Upstream(_Section):
    """One site."""

    url: str = Field(description="http://host[:port], https://host[:port] or unix:/path; no path.")


class Forwarding(_Section):
    """What the site is told about the caller."""

    trusted_proxies: tuple[str, ...] = Field((), description="Addresses and networks whose X-Forwarded-* and Forwarded are believed.")
    style: str = Field("x-forwarded", description="x-forwarded or forwarded (RFC 7239).")
    via: bool = Field(False, description="Add Via. Off: on requests it turns nginx's gzip off, and so changes browsers' bytes.")
    request_id_field: str = Field("x-request-id", description="Sent to the site unless the caller sent one.")
