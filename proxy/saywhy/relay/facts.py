"""Reading a caller's next head by what its last one said: most requests of a kept connection repeat all but one line."""

from __future__ import annotations

from typing import Final, NamedTuple

from saywhy.edge.settings import Limits
from saywhy.relay.head import RequestHead
from saywhy.relay.lines import CRLF
from saywhy.relay.target import settle_target

_REMEMBERED_BYTES: Final = 2048
"""A browser's head with its cookies. Each connection remembers one: ten thousand of them, 20 MB at the very most."""


class Facts(NamedTuple):
    """What the fields of one request said. `section` is what followed its first line: while that comes again, byte for
    byte, all else here holds again.
    """

    section: bytes
    host: bytes
    kind: int
    length: int
    request_id: bytes
    trace: bytes
    keep: bool
    discarded: bool
    kept: list[bytes] | None  # the lines to send on; None: all of them


def facts_of(head: RequestHead) -> Facts | None:
    """What may be taken for granted when the same fields come again; None where their meaning hangs on the first line
    (RFC 9110 7.6.2, RFC 9112 3.2.2), or they are rare.
    """
    rare = (
        head.old
        or head.codings
        or head.upgrades
        or head.trailers
        or head.loops
        or head.forwarded
        or head.shown
        or head.binds
    )
    section = head.raw[head.raw.find(CRLF) :]
    absolute = not head.raw.startswith(head.method + b" /")
    if rare or absolute or head.hops is not None or len(section) > _REMEMBERED_BYTES:
        return None
    kept = head.lines[1:] if head.lines is not None else None
    return Facts(
        section,
        head.host,
        head.kind,
        head.length,
        head.request_id,
        head.trace,
        head.keep,
        head.discarded,
        kept,
    )


def read_again(raw: bytes, facts: Facts, limits: Limits, *, trusted: bool) -> RequestHead | None:
    """Read a head by what the last one of its connection said; None where it has to be read anew. Raises BadHead."""
    section = facts.section
    cut = raw.find(CRLF)
    if len(raw) - cut != len(section) or cut > limits.line_bytes or not raw.endswith(section):
        return None
    first = raw[:cut]
    method, _, rest = first.partition(b" ")
    target, _, version = rest.rpartition(b" ")
    if version != b"HTTP/1.1" or target[:1] != b"/" or method == b"OPTIONS":
        return None
    head = RequestHead(raw, method, target, trusted)
    _, head.host, head.kind, head.length, head.request_id, head.trace, head.keep, head.discarded, kept = facts
    head.hosts = 1
    if kept is not None:
        head.lines = [first, *kept]
    settle_target(head, [])
    return head
