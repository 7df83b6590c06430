"""Who left while nobody looked: a connection whose reading is paused is not watched by the loop, and of others it learns
when it comes to it.
"""

from __future__ import annotations

import select
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from saywhy.relay.downstream import Downstream
    from saywhy.relay.tunnel import Tunnel

_GONE: Final = select.POLLHUP | select.POLLERR
"""Reset, or closed by both sides."""

_ENDED: Final = _GONE | getattr(select, "POLLRDHUP", 0)
"""The same, or the other side says nothing more: a caller of HTTP has left then, in a tunnel it may still listen."""


def look_for_the_departed(paused: Iterable[Downstream], tunnels: Iterable[Tunnel]) -> None:
    """Abort the connections among `paused` that their callers have closed or reset, and `tunnels` of which an unread
    end was reset; one system call for all of them.

    An end that waits behind bytes which our kernel had no room for has not left the caller's machine, and TLS's own
    goodbye is among the bytes that nobody reads: neither can be seen, by anybody. There the idle deadline has to do.
    """
    watched: dict[int, tuple[int, Callable[[], None]]] = {
        down.descriptor: (_ENDED, down.abort) for down in paused if not down.transport.is_closing()
    }
    for tunnel in tunnels:
        watched.update((number, (_GONE, tunnel.abort)) for number in tunnel.unread())
    watched.pop(-1, None)
    if not watched:
        return
    poll = select.poll()
    for number, (events, _) in watched.items():
        poll.register(number, events)
    for number, events in poll.poll(0):
        mask, abort = watched[number]
        if events & mask:
            abort()


def has_left(descriptor: int) -> bool:
    """Whether the other end has closed or reset its connection, as the kernel knows before the loop does."""
    if descriptor < 0:
        return True
    poll = select.poll()
    poll.register(descriptor, _ENDED)
    return bool(poll.poll(0))
