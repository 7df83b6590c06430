"""What the site is told about the caller: X-Forwarded-* or Forwarded, a request id, CDN-Loop, Via where asked for."""

from __future__ import annotations

import hashlib
import ipaddress
import logging
import os
from collections.abc import Iterable
from itertools import count
from typing import TYPE_CHECKING, Final

from saywhy.edge.events import named
from saywhy.edge.settings import Forwarding
from saywhy.relay.head import RequestHead, request_names
from saywhy.relay.lines import CRLF, tokens

if TYPE_CHECKING:
    from saywhy.relay.facts import Facts

_LOG: Final = logging.getLogger("saywhy.relay")
_REMEMBERED_PEERS: Final = 4096


class Peer:
    """One caller's connection as far as the site is told of it: `address` is empty for a Unix socket."""

    __slots__ = ("address", "opening", "scheme", "trusted")

    def __init__(self, address: str, tls: bool, trusted: bool) -> None:
        self.address = address.encode("latin-1", "replace")
        self.scheme = "https" if tls else "http"
        self.trusted = trusted
        lines = (b"X-Forwarded-For: " + self.address + CRLF) if address else b""
        self.opening = lines + b"X-Forwarded-Proto: " + self.scheme.encode() + b"\r\nX-Forwarded-Host: "


class Onward:
    """Turns a caller's head into the head that the site gets. One a relay."""

    def __init__(self, forwarding: Forwarding, deployment: str) -> None:
        self.names = request_names(forwarding.request_id_field)
        self._networks = [
            ipaddress.ip_network(entry, strict=False)
            for entry in forwarding.trusted_proxies
            if entry != "unix"
        ]
        self._trust_unix = "unix" in forwarding.trusted_proxies
        self._rfc7239 = forwarding.style == "forwarded"
        self._known: dict[str, bool] = {}
        self._warned = False
        self.loop_id = b"saywhy-" + deployment.encode("ascii")
        self._id_field = forwarding.request_id_field.encode("latin-1")
        self._id_start = os.urandom(8).hex().encode()
        self._counter = count(1)
        via = b"Via: 1.1 saywhy\r\n" if forwarding.via else b""
        self._closing = via + b"CDN-Loop: " + self.loop_id + b"\r\n"
        self._end = CRLF + self._closing + CRLF  # what follows the value of our request id

    def peer(self, address: str, tls: bool) -> Peer:
        """Who connects; `address` is a textual IP address, or empty for a Unix socket."""
        address = address.partition("%")[0]
        trusted = self._known.get(address)
        if trusted is None:
            trusted = self._is_trusted(address)
            if len(self._known) < _REMEMBERED_PEERS:
                self._known[address] = trusted
        return Peer(address, tls, trusted)

    def _is_trusted(self, address: str) -> bool:
        if not address:
            return self._trust_unix
        try:
            parsed = ipaddress.ip_address(address)
        except ValueError:
            return False
        mapped = getattr(parsed, "ipv4_mapped", None)
        return any(
            parsed in network or (mapped is not None and mapped in network) for network in self._networks
        )

    def loops(self, head: RequestHead) -> bool:
        """Whether this deployment has seen the request before (RFC 8586)."""
        return head.loops is not None and any(
            token.partition(b";")[0].strip() == self.loop_id
            for value in head.loops
            for token in tokens(value)
        )

    def scheme(self, head: RequestHead, peer: Peer) -> str:
        """The public scheme: what a trusted proxy says, else what the connection is."""
        said = (head.forwarded or {}).get(b"x-forwarded-proto")
        return "https" if said and said[0].lower() == b"https" else "http" if said else peer.scheme

    def request_id(self) -> bytes:
        """A new id: unique, not a secret."""
        return b"%b%016x" % (self._id_start, next(self._counter))

    def compose(self, head: RequestHead, peer: Peer, authority: bytes) -> bytes:
        """The whole head for the site. `authority` stands in for the Host that HTTP/1.0 may leave out."""
        facts = head.facts
        if facts is not None:
            rest = facts.rest
            if rest is None:
                rest = facts.rest = self._rest(head, facts, peer)
            first = head.raw[: -facts.size]
            if not head.request_id:
                head.request_id = own = b"%b%016x" % (self._id_start, next(self._counter))
                return b"%b%b%b%b" % (first, rest, own, self._end)
            return first + rest
        tail = self._closing
        if not head.request_id:
            head.request_id = self.request_id()
            tail = b"%b: %b\r\n%b" % (self._id_field, head.request_id, tail)
        if head.discarded and not self._warned:
            self._warn()
        if head.trusted or self._rfc7239:
            opening = self._trusted(head, peer)
        else:
            opening = peer.opening + (head.host or authority) + CRLF
        if head.upgrade or head.trailers or head.hops is not None:
            opening += _hops(head)
        if not head.hosts:
            opening = b"Host: " + authority + CRLF + opening
        if head.lines is None:
            return b"%b%b%b\r\n" % (head.raw[:-2], opening, tail)
        return b"%b\r\n%b%b\r\n" % (CRLF.join(head.lines), opening, tail)

    def _rest(self, head: RequestHead, facts: Facts, peer: Peer) -> bytes:
        """What follows the first line whenever these fields come again: all of it, or up to our request id."""
        if head.discarded and not self._warned:
            self._warn()
        section = (
            facts.section[:-2] if facts.kept is None else b"".join(CRLF + line for line in facts.kept) + CRLF
        )
        if head.trusted or self._rfc7239:
            opening = self._trusted(head, peer)
        else:
            opening = peer.opening + head.host + CRLF
        if head.request_id:
            return section + opening + self._closing + CRLF
        return section + opening + self._id_field + b": "

    def _trusted(self, head: RequestHead, peer: Peer) -> bytes:
        said = head.forwarded or {}
        out: list[bytes] = []
        if self._rfc7239:
            out.append(b"Forwarded: " + b", ".join([*said.get(b"forwarded", ()), _element(head, peer)]))
        elif b"forwarded" in said:
            out.append(b"Forwarded: " + b", ".join(said[b"forwarded"]))
        if not self._rfc7239 or b"x-forwarded-for" in said:
            chain = [*said.get(b"x-forwarded-for", ()), *([peer.address] if peer.address else ())]
            if chain:
                out.append(b"X-Forwarded-For: " + b", ".join(chain))
        if not self._rfc7239:
            if b"x-forwarded-proto" not in said:
                out.append(b"X-Forwarded-Proto: " + peer.scheme.encode())
            if b"x-forwarded-host" not in said:
                out.append(b"X-Forwarded-Host: " + head.host)
        return CRLF.join(out) + CRLF if out else b""

    def _warn(self) -> None:
        self._warned = True
        _LOG.warning(
            "A forwarded field from a caller was replaced. Behind a gateway, set forwarding.trusted_proxies to the "
            "gateway's addresses, or the site sees the gateway as the caller and https as http.",
            extra=named("forwarded_replaced"),
        )


def _element(head: RequestHead, peer: Peer) -> bytes:
    """One forwarded-element (RFC 7239 4); IPv6 addresses and hosts with a port need quotes."""
    node = b'"[' + peer.address + b']"' if b":" in peer.address else peer.address or b"unknown"
    host = head.host.replace(b"\\", b"").replace(b'"', b"")
    return b'for=%b;host="%b";proto=%b' % (node, host, peer.scheme.encode())


def _hops(head: RequestHead) -> bytes:
    """The hop-by-hop fields of our own hop."""
    out = b""
    names = []
    if head.upgrade:
        names.append(b"Upgrade")
        out += b"Upgrade: " + b", ".join(_upgrade_values(head)) + CRLF
    if head.trailers:
        names.append(b"TE")
        out += b"TE: trailers\r\n"
    if names:
        out = b"Connection: " + b", ".join(names) + CRLF + out
    if head.hops is not None:
        out += b"Max-Forwards: %d\r\n" % max(head.hops - 1, 0)
    return out


def _upgrade_values(head: RequestHead) -> Iterable[bytes]:
    for line in head.raw[:-4].split(CRLF)[1:]:
        name, _, value = line.partition(b":")
        if name.lower() == b"upgrade":
            yield value.strip(b" \t")


def deployment_id(urls: Iterable[str]) -> str:
    """The same for all replicas of one deployment: it stands for the sites that they lead to."""
    return hashlib.sha256("\n".join(sorted(urls)).encode()).hexdigest()[:12]
