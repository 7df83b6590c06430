"""File descriptors (getrlimit(2), RLIMIT_NOFILE): how many a process may have, and how many callers that is enough for.

A proxy that has none left serves nobody, and the first whom it turns away is the probe that asks whether it is well.
"""

from __future__ import annotations

import contextlib
import resource
from typing import Final

from saywhy.edge.settings import Limits, Settings

_OWN: Final = 128
"""For what is neither caller nor site: listeners, the log, the admin port's connections, files that a reload reads."""

_VISITORS: Final = 64
"""Of the admin port at once. A node's probes, two Prometheus servers and a person with a browser open some ten."""


def take_enough(settings: Settings) -> None:
    """Raise the soft limit to what the settings need, where the hard one allows: it is 1,024 nearly everywhere, for the
    sake of programs that use select(2), which cannot count further. No more than that: it bounds the handshakes that
    nobody ends, too.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return
    limits = settings.limits
    # A tunnel takes two.
    wanted = 2 * limits.caller_connections + limits.upstream_connections * len(settings.upstreams) + _OWN
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    with contextlib.suppress(OSError, ValueError):  # macOS has a limit below its own "unlimited"
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))


def affordable(settings: Settings) -> Limits:
    """The limits, with no more callers than descriptors are left for beside the sites' connections and our own."""
    limits = settings.limits
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return limits
    # Where there are few, a caller and a connection to a site for it have equal parts.
    sites = min(limits.upstream_connections * len(settings.upstreams), soft // 3)
    callers = max(1, soft - sites - min(_OWN, soft // 3))
    if callers >= limits.caller_connections:
        return limits
    return limits.model_copy(update={"caller_connections": callers})


def visitors() -> int:
    """How many may be connected to the admin port."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _VISITORS if soft == resource.RLIM_INFINITY else max(1, min(_VISITORS, soft // 4))


def doubt(settings: Settings) -> str:
    """The sentence for an operator whose limit is lower than the settings; empty where it is not."""
    callers = affordable(settings).caller_connections
    if callers == settings.limits.caller_connections:
        return ""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return (
        f"limits.caller_connections is {settings.limits.caller_connections}, but a process may open {soft} files"
        f" here: the limit is {callers} connections; raise it (ulimit -n, LimitNOFILE, --ulimit nofile)."
    )
