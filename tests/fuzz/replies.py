"""What the site of a script says: the storm's shapes, and some more. The number at the end of a tag chooses."""

from __future__ import annotations

from collections.abc import Callable

from storm.shapes import CLOSE, NEXT, POISON, RESET, SHAPES, shape_of
from storm.shapes import answer as shaped


def _page(tag: bytes, size: int) -> bytes:
    return b"HTTP/1.1 500 Oops\r\nX-Id: %b\r\nContent-Length: %d\r\n\r\n" % (tag, size) + b"p" * size


def _steps(tag: bytes, method: bytes) -> list[bytes | str]:
    number = int(tag.rpartition(b"-")[2])
    if number < _FIRST_EXTRA:
        return shaped(tag, method)
    steps = _EXTRA[number - _FIRST_EXTRA](tag)
    if method == b"HEAD" and steps and isinstance(steps[0], bytes) and steps[0][9:10] != b"1":
        return [steps[0][: steps[0].index(b"\r\n\r\n") + 4]]
    return steps


def is_early(tag: bytes) -> bool:
    """Whether it answers an upload before it has read it."""
    number = int(tag.rpartition(b"-")[2])
    return number < _FIRST_EXTRA and shape_of(tag).early


_FIRST_EXTRA = 1000
_SAME = b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n"
_EXTRA: tuple[Callable[[bytes], list[bytes | str]], ...] = (
    lambda tag: [
        b"HTTP/1.1 101 Switching Protocols\r\nX-Id: %b\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nfirst"
        % tag
    ],
    lambda tag: [b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 20],
    lambda tag: [_page(tag, 6000)[:3000], NEXT, _page(tag, 6000)[3000:]],
    lambda tag: [_page(tag, 600000)[:9000]],
    lambda tag: [_page(tag, 3000)[:200]],
    lambda tag: [b"HTTP/1.1 200 OK\r\nX-Id: %b\r\nContent-Length: 40000\r\n\r\n" % tag + b"." * 40000],
    lambda tag: [b"HTTP/1.1 200 OK\r\nX-Id: %b\r\nContent-Length: 40000\r\n\r\n." % tag],
    lambda tag: [],
    lambda tag: [
        b"HTTP/1.1 404 Not Found\r\nX-Id: %b\r\nTransfer-Encoding: chunked\r\n\r\n" % tag
        + b"2\r\nab\r\n" * 3000,
        NEXT,
        b"0\r\n\r\n",
    ],
    # The same head each time, which the relay reads once on a connection.
    lambda tag: [_SAME + tag.ljust(20, b".")],
    lambda tag: [_SAME + tag.ljust(20, b".") + POISON],
    lambda tag: [_SAME + tag[:3], NEXT, tag.ljust(20, b".")[3:] + POISON],
    lambda tag: [_SAME.replace(b"200 OK", b"404 Not Found") + tag.ljust(20, b".")],
    lambda tag: [_SAME.replace(b"20\r", b"0\r")],
)
"""Shapes for what takes more than an exchange's own bytes: tunnels, floods, silence, more than is held or buffered."""

_ENDLESS = (3, 4, 6, 7)
"""Which of them keep a caller waiting."""

ROWS: list[int] = []
"""What a tag may end with: the first number of each shape."""

_at = 0
for _shape in SHAPES:
    ROWS.append(_at)
    _at += _shape.weight
ROWS += range(_FIRST_EXTRA, _FIRST_EXTRA + len(_EXTRA))


def is_endless(tag: bytes) -> bool:
    """Whether the site keeps everybody waiting."""
    return int(tag.rpartition(b"-")[2]) - _FIRST_EXTRA in _ENDLESS


def segments(tag: bytes, method: bytes) -> list[bytes]:
    """What the site says to a request for `tag`, as it is cut; b"" is its end, polite or not."""
    out: list[bytes] = []
    fresh = True
    for step in _steps(tag, method):
        if step == NEXT:
            fresh = True
        elif step in (CLOSE, RESET):
            out.append(b"")
        elif isinstance(step, bytes):
            if fresh or not out:
                out.append(step)
            else:
                out[-1] += step
            fresh = False
    return out
