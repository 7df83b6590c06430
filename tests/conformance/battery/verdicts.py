"""What counts as right. Each accepts every behaviour that the RFCs allow, so that any proxy can be put to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from battery.case import Note, Seen, Verdict


def unheard(seen: Seen) -> bool:
    """An error or no answer at all, and not a byte reached the site."""
    return not seen.asked and (seen.status == 0 or 400 <= seen.status < 600)


def refused(seen: Seen) -> bool:
    """As `unheard`; or an error, and no whole request reached the site."""
    whole = any(request.whole for request in seen.requests)
    return unheard(seen) or (400 <= seen.status < 600 and not whole)


def framed(seen: Seen) -> bool:
    """One request reached the site, and it can be read in one way only."""
    if len(seen.requests) != 1 or not seen.request.whole or not seen.request.sound:
        return False
    codings, sizes = seen.request.all(b"transfer-encoding"), seen.request.all(b"content-length")
    return (
        len(codings) + len(sizes) <= 1
        and all(coding.lower() == b"chunked" for coding in codings)
        and all(size.isdigit() for size in sizes)
    )


def refused_or_framed(seen: Seen) -> bool:
    """Either of the two."""
    return refused(seen) or framed(seen)


def one(seen: Seen) -> bool:
    """One request reached the site, whole."""
    return len(seen.requests) == 1 and seen.request.whole


def failed(seen: Seen) -> bool:
    """The proxy answered for the site."""
    return seen.status in (500, 502, 504)


def cut_short(seen: Seen) -> bool:
    """The proxy answered for the site, or the caller can tell that the answer is not whole."""
    return failed(seen) or not seen.final.complete


def bare(seen: Seen) -> bool:
    """The final answer has no content, and nothing follows it."""
    return not seen.final.body and not seen.extra and seen.statuses.count(seen.status) == 1


def either(*verdicts: Verdict) -> Verdict:
    """One of them holds."""
    return lambda seen: any(verdict(seen) for verdict in verdicts)


def both(*verdicts: Verdict) -> Verdict:
    """All of them hold."""
    return lambda seen: all(verdict(seen) for verdict in verdicts)


def status(*statuses: int) -> Verdict:
    """The final status is one of these."""
    return lambda seen: seen.status in statuses


def target(wanted: bytes) -> Verdict:
    """The request reached the site with this target."""
    return lambda seen: seen.request.target == wanted


def method(wanted: bytes) -> Verdict:
    """One request reached the site, with this method."""
    return lambda seen: one(seen) and seen.request.method == wanted


def asked(name: bytes, *values: bytes) -> Verdict:
    """The site got these lines of field `name`, with these values, and no others."""
    return lambda seen: bool(seen.requests) and seen.request.all(name) == list(values)


def not_asked(*names: bytes) -> Verdict:
    """A request reached the site without these fields."""
    return lambda seen: bool(seen.requests) and not any(seen.request.all(name) for name in names)


def body(content: bytes) -> Verdict:
    """One request reached the site, unambiguous, with this content."""
    return lambda seen: framed(seen) and seen.request.body == content


def told(name: bytes, *values: bytes) -> Verdict:
    """The caller got these lines of field `name`, with these values, and no others."""
    return lambda seen: seen.final.all(name) == list(values)


def content(wanted: bytes) -> Verdict:
    """The caller got this content, whole, and nothing after it."""
    return lambda seen: seen.final.complete and seen.final.body == wanted and not seen.extra


def answers(*statuses: int) -> Verdict:
    """The caller got these answers in this order, interim ones among them, and nothing else."""
    return lambda seen: seen.statuses == list(statuses) and not seen.extra


def heads_without(*pieces: bytes) -> Verdict:
    """No request that reached the site holds one of these in its head (line ends do not count)."""
    return lambda seen: (
        not any(
            piece in b"\0".join([asked.first, *asked.lines]) for asked in seen.requests for piece in pieces
        )
    )


def out_without(*pieces: bytes) -> Verdict:
    """The head of no answer holds one of these."""
    return lambda seen: (
        not any(
            piece in line
            for answer in seen.answers
            for line in (answer.first, *answer.lines)
            for piece in pieces
        )
    )


def note(look: Callable[[Seen], Any]) -> Verdict:
    """No verdict: what `look` found is written down."""
    return lambda seen: Note(str(look(seen)))
