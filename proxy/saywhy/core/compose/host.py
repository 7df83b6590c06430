"""The name of the site as it may stand in a sentence: from the request's authority, and only where it is a host."""

from __future__ import annotations

_SIGNS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-.")


def public_host(authority: str) -> str:
    """`authority` without its port where it is a plain DNS name or address (RFC 9110 7.2), else "".

    The field is the caller's own; anything else in it (spaces, markup, a sentence) must not come back as our words.
    """
    host, colon, port = authority.partition(":")
    if colon and not port.isdigit():
        return ""
    return host if 0 < len(host) <= 253 and _SIGNS.issuperset(host) else ""
