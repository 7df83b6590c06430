"""Who left while nobody looked: a connection whose reading is paused is not watched by the loop, and of others it learns
when it comes to it.
"""

from __future__ import annotations

import select
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from saywhy.relay.downstream import Downstream

_GONE: Final = getattr(select, "POLLRDHUP", 0) | select.POLLHUP | select.POLLERR | select.POLLNVAL


def look_for_the_departed(paused: Iterable[Downstream]) -> None:
    """Abort the connections among `paused` that their callers have closed or reset; one system call for all of them.

    An end that waits behind bytes which the kernel had no room for cannot be seen, by anybody: there the idle deadline
    has to do.
    """
    by_number = {down.descriptor: down for down in paused if not down.transport.is_closing()}
    by_number.pop(-1, None)
    if not by_number:
        return
    poll = select.poll()
    for number in by_number:
        poll.register(number, _GONE & ~select.POLLNVAL)
    for number, events in poll.poll(0):
        if events & _GONE:
            by_number[number].abort()


def has_left(descriptor: int) -> bool:
    """Whether the other end has closed or reset its connection, as the kernel knows before the loop does."""
    if descriptor < 0:
        return True
    poll = select.poll()
    poll.register(descriptor, _GONE & ~select.POLLNVAL)
    return bool(poll.poll(0))
