"""The sections of the settings as frozen models: name, unit in the name, default, and in the description why.

What spans two sections (a route that names an upstream) is checked in `crosscheck`, not here.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, field_validator

from saywhy.edge.settings.listening import Listeners, Tls, Workers, as_address, check_listeners
from saywhy.edge.settings.model import Folders, Mode, Scrub, Section, Words
from saywhy.edge.settings.upstreams import Upstream, UpstreamName

_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}")
"""A field name (RFC 9110 5.6.2), shorter than any that servers refuse."""


# What one worker process takes at most, in bytes, where callers and sites do their worst at the same time:
#
#   130 MB                                                       itself, once an agent's first error was read
#   1.2 * (held_bytes_budget + waiting_bytes_budget + unsent_bytes_budget)      the allocator's holes are the fifth
#   upstream_connections * (stream_buffer_bytes + 256 KB)        uploads that the sites do not take, each site's
#   caller_connections * 15 KB                                   idle ones; 4 KB of it a head that is not whole
#
# A memory limit of 256 MB fits the defaults with up to 256 slow downloads, or a thousand agents' errors, or thousands of
# callers who send half a head; all uploads stalling as well would take 80 MB more. In such a container set
# unsent_bytes_budget to 64 MiB: two hundred large downloads at once, and no more. Halving the other budgets costs a site
# of usual size nothing.


class Limits(Section):
    """Sizes in bytes unless the name says otherwise, for each worker process. Each default argues itself in the description."""

    head_bytes: int = Field(
        default=65536,
        ge=1024,
        description="One header section, either side. Sites with OIDC cookies need 64 KiB.",
    )
    line_bytes: int = Field(
        default=16384, ge=512, description="One line of a header section, the request line included."
    )
    fields_count: int = Field(default=200, ge=10, description="Header fields in one section.")
    held_body_bytes: int = Field(
        default=262144,
        ge=1024,
        description="How much of an agent's error page is read, as it comes on the wire. An error page and its report fit in 256 KiB.",
    )
    held_bytes_budget: int = Field(
        default=33554432,
        ge=65536,
        description="All bodies held at one time, by each worker process; over it, the status decides.",
    )
    waiting_bytes_budget: int = Field(
        default=33554432,
        ge=65536,
        description="All bytes of requests that wait, in each worker process: heads that are not whole, pipelined requests, requests and bodies without a connection yet. Over it, the next gets 503.",
    )
    unsent_bytes_budget: int = Field(
        default=268435456,
        ge=1048576,
        description="What callers who do not keep up may leave with us, in each worker process, `stream_buffer_bytes` and a quarter of a megabyte each; over it, who has taken nothing for longest is cut off, so that all others live. 256 MiB: eight hundred large downloads at once, each with megabytes in the kernel's buffers before it counts. Lower it where memory is limited.",
    )
    upstream_connections: int = Field(
        default=256, ge=1, description="Connections of each worker process to one site, idle and busy."
    )
    upstream_waiting: int = Field(
        default=10000,
        ge=0,
        description="Exchanges of each worker process that may wait for one; the next gets 503, and so does who waits for connect_seconds in vain. As many as callers may connect: at 1,024, 5,000 callers at once were refused more often than served.",
    )
    caller_connections: int = Field(
        default=10000,
        ge=1,
        description="Connections from callers to each worker process; the next is closed.",
    )
    pipelined_requests: int = Field(
        default=16, ge=1, description="Requests read ahead on one connection before reading pauses."
    )
    stream_buffer_bytes: int = Field(
        default=65536, ge=4096, description="Bytes in flight per direction before the sender is paused."
    )


class Deadlines(Section):
    """Durations in seconds."""

    connect_seconds: float = Field(default=5, gt=0, description="Until a connection to the site stands.")
    first_byte_seconds: float = Field(
        default=60, gt=0, description="From the last byte of the request to the head of the answer."
    )
    idle_seconds: float = Field(
        default=60, gt=0, description="Without a byte in either direction in the middle of a message."
    )
    hold_seconds: float = Field(
        default=5,
        gt=0,
        description="For an agent's error page to come whole; then what has come of it is read.",
    )
    peek_seconds: float = Field(
        default=1,
        gt=0,
        description="For the beginning of a success that a rule wants to look into; then it is sent on.",
    )
    tunnel_idle_seconds: float = Field(
        default=3600, gt=0, description="Without a byte in a tunnel (WebSocket)."
    )
    request_head_seconds: float = Field(
        default=15, gt=0, description="For a caller to send a whole request head."
    )
    caller_keepalive_seconds: float = Field(default=75, gt=0, description="An idle connection of a caller.")
    upstream_keepalive_seconds: float = Field(
        default=30, gt=0, description="An idle pooled connection to the site."
    )
    drain_seconds: float = Field(
        default=2, ge=0, description="After SIGTERM: not ready, still accepting, so that balancers notice."
    )
    shutdown_seconds: float = Field(
        default=25,
        ge=0,
        description="For exchanges in flight to finish after `drain_seconds`, to which it adds: the platform must wait longer than both together (27 s; Kubernetes waits 30).",
    )


class Forwarding(Section):
    """What the site is told about the caller."""

    trusted_proxies: Words = Field(
        default=(),
        description="Addresses and networks whose X-Forwarded-* and Forwarded are believed; unix: whoever comes over a Unix socket.",
    )
    style: Literal["x-forwarded", "forwarded"] = Field(
        default="x-forwarded", description="x-forwarded or forwarded (RFC 7239)."
    )
    via: bool = Field(
        default=False,
        description="Add Via. Off: on requests it turns nginx's gzip off, and so changes browsers' bytes.",
    )
    request_id_field: str = Field(
        default="x-request-id", description="Sent to the site unless the caller sent one."
    )

    @field_validator("trusted_proxies")
    @classmethod
    def _networks(cls, proxies: tuple[str, ...]) -> tuple[str, ...]:
        for proxy in proxies:
            if proxy == "unix":
                continue
            try:
                ipaddress.ip_network(proxy, strict=False)
            except ValueError:
                raise ValueError(
                    f"{proxy!r} is no address or network; write 10.0.0.0/8, 192.0.2.7, fd00::/8 or unix"
                ) from None
        return proxies

    @field_validator("request_id_field")
    @classmethod
    def _field_name(cls, name: str) -> str:
        if not _TOKEN.fullmatch(name):
            raise ValueError("a field name is letters, digits and dashes, at most 64; write x-request-id")
        return name


class Route(Section):
    """One route; the first whose host and path match wins. Globs: `*` is any run of characters."""

    name: str = Field(
        default="",
        max_length=64,
        description="For messages alone; without one a route is called by its place.",
    )
    host: Words = Field(
        default=(),
        description="Host globs, without scheme and port; `*` is any run of characters, dots too: `*.shop.example` matches a.shop.example and a.b.shop.example, and not shop.example. None: every host. The first route whose host and path match wins; what none matches goes to the only upstream or the one called default, and where there is neither, gets 404.",
    )
    path: Words = Field(
        default=(),
        description="Globs over the raw path without query; `/api/*` matches all below /api/, and not /api. None: every path.",
    )
    upstream: str = Field(
        default="",
        description="A name of `upstreams`. May be left out where there is one alone, or one called default.",
    )
    callers: Literal["detect", "everyone", "nobody"] = Field(
        default="detect", description="Who gets envelopes. `everyone` is for hosts that only agents reach."
    )
    structured_errors: Literal["keep", "envelope"] = Field(
        default="keep",
        description="The site's own JSON errors, for callers known by Accept alone: its apps read them.",
    )
    signed_browsers: Literal["headers", "envelope"] = Field(
        default="headers",
        description="Signed agents that drive a browser: headers alone, so that a person's view stays whole.",
    )
    useragents: bool = Field(
        default=False, description="Also known by User-Agent. Off: the word is easily borrowed."
    )
    scrub: Scrub = Field(
        default="agents",
        description="Whose errors lose traces and secrets. `everyone` changes browsers' bytes too.",
    )
    packs: Words = Field(default=(), description="As `rules.packs`, for this route alone and in its place.")
    mode: Mode = Field(
        default="enforce",
        description="enforce; shadow counts and logs what would have been done, and sends the original; off leaves everything as it is and looks at nothing.",
    )
    passthrough_paths: Words = Field(default=(), description="Path globs that are never looked at.")


class Rules(Section):
    """Where rules come from."""

    folders: Folders = Field(
        default=(),
        description="Folders of rule packs, each of which holds a folder a pack.",
    )
    shipped: bool = Field(
        default=True, description="Also the packs that come with saywhy; yours are asked first."
    )
    packs: Words = Field(
        default=(),
        description="Packs that are tried first, in this order, opt-in ones among them switched on; every other pack that is not opt-in follows. For routes that name none.",
    )
    disable: Words = Field(
        default=(), description="What is never tried: a rule as pack/id, or all of a pack by its name."
    )
    shadow: Words = Field(
        default=(), description="Rules that are tried and counted and never answer, as pack/id."
    )


class Log(Section):
    """Exchanges go to standard output, events of the process to standard error."""

    format: Literal["auto", "json", "text"] = Field(
        default="auto",
        description="auto is text on a terminal, else one JSON line an exchange. Text is coloured on a terminal, unless NO_COLOR is set.",
    )
    level: Literal["info", "warning", "error"] = Field(
        default="info",
        description="warning leaves out what went well; error leaves the proxy's own failures.",
    )


def _bare_urls(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {name: {"url": one} if isinstance(one, str) else one for name, one in value.items()}


class Settings(Section):
    """All settings. Empty `admin` switches the admin port off; `upstreams` is name -> site."""

    listen: Listeners = Field(
        default=("127.0.0.1:8080",),
        description="host:port, [v6]:port, :port (every address) or unix:/path; several with commas. Loopback: nobody is reached by accident.",
    )
    admin: str = Field(
        default="127.0.0.1:9180",
        description="Health, reload and metrics, as `listen`; empty switches it off. Loopback: reload is not for callers.",
    )
    public_url: str = Field(
        default="", description="How the outside reaches this proxy; makes problem+json's `type` absolute."
    )
    edge_safe_status: bool = Field(
        default=False,
        description="The proxy's own 502 and 504 are sent as 503, for sites behind a CDN that puts its own page in their place: a site that is down is 503 instead of 502 to callers, and a 502 that the site sent itself stays 502. Envelope, log and metrics keep the original. Off: it hides from balancers which of the two it was.",
    )
    tls: Tls = Field(default_factory=Tls, description="HTTPS for callers.")
    workers: Workers
    upstreams: Annotated[dict[UpstreamName, Upstream], BeforeValidator(_bare_urls)] = Field(
        default_factory=dict, description="Name -> URL of a site. `--upstream` sets the one called default."
    )
    routes: tuple[Route, ...] = Field(
        default=(), description="Routes by host and path. None: everything goes to the default upstream."
    )
    rules: Rules = Field(default_factory=Rules, description="Where rules come from.")
    limits: Limits = Field(default_factory=Limits, description="Sizes and counts, for each worker process.")
    deadlines: Deadlines = Field(default_factory=Deadlines, description="Durations.")
    forwarding: Forwarding = Field(
        default_factory=Forwarding, description="What the site is told about the caller."
    )
    log: Log = Field(default_factory=Log, description="What is written down.")

    @field_validator("listen")
    @classmethod
    def _listen(cls, listeners: tuple[str, ...]) -> tuple[str, ...]:
        return check_listeners(listeners)

    @field_validator("admin", mode="before")
    @classmethod
    def _admin_off(cls, admin: Any) -> Any:
        return "" if admin is False or admin is None or admin == "off" else as_address(admin)

    @field_validator("admin")
    @classmethod
    def _admin(cls, admin: str) -> str:
        check_listeners((admin,) if admin else ())
        return admin

    @field_validator("public_url")
    @classmethod
    def _absolute(cls, url: str) -> str:
        parts = urlsplit(url)
        if url and (
            parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment
        ):
            raise ValueError("it must be an absolute URL; write https://shop.example")
        return url.rstrip("/")
