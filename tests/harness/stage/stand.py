"""A stand: a site, the recording wire behind the proxy, and the proxy; and one exchange seen from both ends."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from stage.callers import Caller, Lines, request
from stage.forwarder import Forwarder
from stage.serving import Saywhy
from stage.wire import Message, ask, parse


class Exchange(NamedTuple):
    """What the site was asked, what it said, and what the caller got."""

    asked: bytes
    site: Message
    got: Message


class Stand(NamedTuple):
    """`wire` leads to the site; `proxy` stands before the wire."""

    wire: Forwarder
    proxy: Saywhy

    def exchange(
        self, path: str, caller: Caller, *, method: str = "GET", fields: Lines = (), body: bytes = b""
    ) -> Exchange:
        """One request through the proxy, on a connection of its own."""
        asked = request(self.proxy.port, path, caller, method=method, fields=fields, body=body)
        with self.wire.record() as recording:
            got = ask(self.proxy.port, asked, method=method)
        answered = bytes(recording.answered)
        site = parse(answered, method=method, ended=True)
        assert site is not None, f"the site's answer is not whole: {answered[:300]!r}"
        assert site.raw == answered, "the site answered more than once"
        return Exchange(bytes(recording.asked), site, got)


class OpenStand(Protocol):
    """Site name -> its stand. Settings, as environment variables, ask for another proxy before the same site."""

    def __call__(self, name: str, **settings: str) -> Stand: ...
