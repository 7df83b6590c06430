"""What a text says once its codings are off: percent-encoding (RFC 3986 2.1) and the escapes of JSON Pointers (RFC 6901 3).

A connection string in an address or in a pointer is the same secret. Findings in the decoded text are findings in the
text as it stands, so that every character knows where it came from.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate, pairwise

from saywhy.core.scrub.patterns import Span

_CODED = re.compile(r"%[0-9A-Fa-f]{2}|~[01]")  # no repetition without an end: linear
_ROUNDS = 2
"""An address within an address is coded twice."""

_POINTED = {"~0": "~", "~1": "/"}

Scan = Callable[[str], Iterable[Span]]


def decoded_spans(text: str, scan: Scan) -> Iterator[Span]:
    """What `scan` finds in `text` after each round of decoding, in offsets of `text`. Traces (what is cut) are left to
    the text itself: nobody encodes them, and decoded words look like them.
    """
    if "%" not in text and "~" not in text:
        return
    places = list(range(len(text) + 1))
    decoded = text
    for _ in range(_ROUNDS):
        if _CODED.search(decoded) is None:
            return
        decoded, lengths = _once(decoded)
        places = [places[at] for at in accumulate(lengths, initial=0)]
        for span in scan(decoded):
            if not span.cut:
                yield Span(places[span.start], places[span.end], span.kind, False)


def _once(text: str) -> tuple[str, list[int]]:
    """`text` with one layer of coding off, and of how many characters each of the new ones was made."""
    parts: list[str] = []
    lengths: list[int] = []
    edges = [0, *(edge for match in _CODED.finditer(text) for edge in match.span()), len(text)]
    for number, (start, end) in enumerate(pairwise(edges)):
        piece = text[start:end]
        if number % 2:
            parts.append(_POINTED.get(piece) or chr(int(piece[1:], 16)))
            lengths.append(end - start)
        else:
            parts.append(piece)
            lengths += [1] * len(piece)
    return "".join(parts), lengths
