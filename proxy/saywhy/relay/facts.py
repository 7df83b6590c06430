"""Reading a caller's next head by what its last one said: most requests of a kept connection repeat all but one line."""

from __future__ import annotations

from typing import Final

from saywhy.core.model import Fields
from saywhy.edge.settings import Limits
from saywhy.relay.head import RequestHead
from saywhy.relay.lines import CRLF, NONE

_REMEMBERED_BYTES: Final = 2048
"""A browser's head with its cookies. Each connection remembers one, as the site gets it: ten thousand of them, 25 MB
at the very most.
"""

_METHODS: Final = {b"GET": "GET", b"HEAD": "HEAD", b"POST": "POST", b"PUT": "PUT", b"DELETE": "DELETE", b"PATCH": "PATCH"}  # fmt: skip
"""Methods that llhttp knows and that change nothing about the fields after them."""

_IN_TARGETS: Final = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/?[]@!$&'()*+,;=%"
"""RFC 3986 without the "#": llhttp takes each of these bytes in a target. All others are left to it."""


class Facts:
    """What the fields of one request said. `section` is what followed its first line: while that comes again, byte for
    byte, all else here holds again, llhttp's judgement included. `rest` is what the site gets after the first line, up
    to the request id, and `fields` what the core gets, once they were made.
    """

    __slots__ = (
        "discarded", "fields", "host", "host_text", "keep", "kept", "ordinary", "request_id", "rest", "section", "size", "trace",
    )  # fmt: skip

    def __init__(self, head: RequestHead, section: bytes) -> None:
        self.section = section
        self.size = len(section)
        self.host = head.host
        self.host_text = head.host.decode("latin-1")
        self.request_id = head.request_id
        self.trace = head.trace
        self.keep = head.keep
        self.discarded = head.discarded
        self.kept = (
            head.lines[1:] if head.lines is not None else None
        )  # the lines to send on; None: all of them
        self.ordinary = head.keep and not (head.request_id or head.trace or head.discarded)
        self.rest: bytes | None = None
        self.fields: Fields | None = None


def facts_of(head: RequestHead) -> Facts | None:
    """What may be taken for granted when the same fields come again; None where their meaning hangs on the first line
    (RFC 9110 7.6.2, RFC 9112 3.2.2), or they are rare, or a body follows (seldom twice of the same length).
    """
    rare = (
        head.old
        or head.kind != NONE
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
    return Facts(head, section)


def read_again(raw: bytes, facts: Facts, limits: Limits, *, trusted: bool) -> RequestHead | None:
    """Read a head by what the last one of its connection said; None where it has to be read anew.

    Costs a third of reading it anew. What is returned llhttp would accept: of its first line each byte is looked at
    here, and the rest of it llhttp has seen.
    """
    if not raw.endswith(facts.section):
        return None
    cut = len(raw) - facts.size
    words = raw[:cut].split(b" ")
    if len(words) != 3:
        return None
    method, target, version = words
    if (
        version != b"HTTP/1.1"
        or method not in _METHODS
        or target[:1] != b"/"
        or target.translate(None, _IN_TARGETS)
        or cut > limits.line_bytes
        or len(raw) > limits.head_bytes
    ):
        return None
    head = RequestHead(raw, method, target, trusted)
    head.facts = facts
    head.host = facts.host
    head.hosts = 1
    if not facts.ordinary:
        head.request_id = facts.request_id
        head.trace = facts.trace
        head.keep = facts.keep
        head.discarded = facts.discarded
    return head
