"""Globs that match nothing, ever: what is no host name or no path was meant to be one, and would silently do nothing."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from urllib.parse import urlsplit

from saywhy.edge.settings.sections import Route


def unreachable(route: Route) -> Iterator[tuple[str, str]]:
    """(setting of the route, sentence) for each glob that no request can match."""
    for glob in route.host:
        name = host_in(glob)
        if name != glob:
            remedy = f"write {name}" if name else "write a host name such as shop.example or *.shop.example"
            yield (
                "host",
                f"has {glob!r}, which can never match: it is compared with the name alone; {remedy}.",
            )
    for key, globs in (("path", route.path), ("passthrough_paths", route.passthrough_paths)):
        for glob in globs:
            # The others may stand for the slash (fnmatch).
            if not glob.startswith(("/", "*", "?", "[")):
                parts = urlsplit(glob) if "://" in glob else None
                better = (parts.path or "/") if parts else f"/{glob}"
                yield key, f"has {glob!r}, which can never match: a path begins with /; write {better}."


def host_in(glob: str) -> str:
    """The host glob that was meant by `glob`: `glob` itself where it is one, empty where none can be made out."""
    if _is_v6(glob):
        return f"[{glob}]"
    name = glob.partition("://")[2] or glob
    name = name.partition("/")[0].rpartition("@")[2]
    if not name.startswith("[") or "]:" in name:
        head, colon, port = name.rpartition(":")
        name = head if colon and (not port or port.isdigit() or port == "*") else name
    return "" if " " in name or (":" in name and not name.startswith("[")) else name


def _is_v6(text: str) -> bool:
    try:
        return ipaddress.ip_address(text).version == 6
    except ValueError:
        return False
