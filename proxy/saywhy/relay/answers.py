"""Heads of answers that are not the site's own bytes: a rewritten page, an annotated head, a failure of ours."""

from __future__ import annotations

from email.utils import formatdate
from http import HTTPStatus
from typing import Final

from saywhy.core.model import Verdict
from saywhy.relay.lines import CRLF
from saywhy.relay.reply import ResponseHead

_FRAMING: Final = frozenset(
    (b"content-length", b"transfer-encoding", b"connection", b"keep-alive", b"trailer")
)
_PHRASES: Final = {status.value: status.phrase.encode() for status in HTTPStatus}
_FORWARDED_METHODS: Final = b"Allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\n"


def continued(keep: bool, old: bool) -> bytes:
    """The Connection line of an answer, empty where HTTP/1.1 needs none (RFC 9112 9.3)."""
    if not keep:
        return b"Connection: close\r\n"
    return b"Connection: keep-alive\r\n" if old else b""


def composed(verdict: Verdict, reply: ResponseHead | None, bodyless: bool, extra: bytes) -> bytes:
    """A whole answer of ours, in place of the site's `reply` or, None, where there is none; HEAD gets no content. The reason
    is the registered one: a site's may hold secrets.
    """
    body = verdict.body or b""
    lines = [b"HTTP/1.1 %d %b" % (verdict.status, _PHRASES.get(verdict.status, b""))]
    lines += [b"%b: %b" % pair for pair in verdict.fields.lines if pair[0].lower() not in _FRAMING]
    if reply is None:  # nobody else has said when (RFC 9110 6.6.1)
        lines.append(b"Date: " + formatdate(usegmt=True).encode())
        if verdict.status == 405:
            extra = _FORWARDED_METHODS + extra  # RFC 9110 15.5.6: must say what would do
    if bodyless:
        # No length either: what a GET would have answered is not known, for no page was read (RFC 9110 8.6).
        return CRLF.join(lines) + CRLF + extra + CRLF
    lines.append(b"Content-Length: %d" % len(body))
    return CRLF.join(lines) + CRLF + extra + CRLF + body


def adapted(reply: ResponseHead, verdict: Verdict, extra: bytes) -> bytes:
    """The site's status line and framing around the fields that the core decided on."""
    sent = reply.lines if reply.lines is not None else reply.raw[:-4].split(CRLF)
    lines = [sent[0]]
    lines += [b"%b: %b" % pair for pair in verdict.fields.lines if pair[0].lower() not in _FRAMING]
    lines += [line for line in sent[1:] if line.partition(b":")[0].lower() in _FRAMING]
    return CRLF.join(lines) + CRLF + extra + CRLF
