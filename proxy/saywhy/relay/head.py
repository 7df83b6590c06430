"""Request heads as the lines that came: what a head says about its message, and which of its lines go no further.

llhttp (see framing) judges whether the bytes are HTTP; this module reads the few fields that a relay must know and
leaves every other line as it is, 8-bit bytes, order and case included. Nothing here does I/O.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from saywhy.core.model import Fields, Request
from saywhy.edge.settings import Limits
from saywhy.relay.lines import (
    CHUNKED,
    CRLF,
    FORWARDED_NAMES,
    LENGTH,
    NONE,
    BadHead,
    beginnings,
    may_be_named,
    pair,
    size_of,
    spellings,
    tokens,
)
from saywhy.relay.target import settle_target

if TYPE_CHECKING:
    from saywhy.relay.facts import Facts

_OWN: Final = frozenset(spellings(b"agent-identity"))


_KEEPS: Final = [b"keep-alive"]


class RequestHead:
    """What one request head says.

    `lines` are the lines to send on, request line first; None means "those of raw". `keep` is whether the caller wants
    the connection kept, `old` whether it speaks HTTP/1.0, `upgrade` whether it asks for a protocol that we tunnel.
    `binds` is whether it logs its connection in, not itself.
    `forwarded` holds what a trusted peer said (lower-cased names), `discarded` whether another peer's was cut.
    `shown` is the copy for llhttp where the raw bytes would not do: 8-bit bytes in the target, or an upgrade (which
    llhttp takes for the end of HTTP; whether it is, the site decides). `facts`: its fields are those of an earlier head
    of the same connection; then `lines` is None and the lines to send on are kept there.
    """

    # Defaults stand on the class: one of these is made for each request, and most stay as they are.
    host = request_id = trace = b""
    kind = NONE
    length = hosts = sizes = 0
    keep = True
    old = upgrade = trailers = discarded = binds = False
    hops: int | None = None
    codings: bytes | None = None
    named: list[bytes] | None = None
    upgrades: list[bytes] | None = None
    loops: list[bytes] | None = None
    forwarded: dict[bytes, list[bytes]] | None = None
    drop: list[int] | None = None
    lines: list[bytes] | None = None
    shown: bytes | None = None
    facts: Facts | None = None

    def __init__(self, raw: bytes, method: bytes, target: bytes, trusted: bool) -> None:
        self.raw = raw
        self.method = method
        self.target = target
        self.trusted = trusted

    @property
    def path(self) -> str:
        """The raw target without its query, as latin-1 text."""
        return self.target.partition(b"?")[0].decode("latin-1")

    def request(self, scheme: str) -> Request:
        """The core's value for this head: fields as the caller sent them, less those that only we may set."""
        facts = self.facts
        fields = facts.fields if facts is not None else None
        if fields is None:
            pairs = (pair(line) for line in self.raw[:-4].split(CRLF)[1:])
            fields = Fields(
                (name, self.host if name.lower() == b"host" else value)
                for name, value in pairs
                if name.lower() not in _OWN
            )
            if facts is not None:
                facts.fields = fields
        return Request(self.method.decode("latin-1"), self.target, fields, scheme)

    def cut(self, at: int) -> None:
        """Let line `at` go no further."""
        if self.drop is None:
            self.drop = [at]
        else:
            self.drop.append(at)


# What is done about a field of a request: one small function each, called with the head, the line's number and the
# line's value. The table below says which; fields that are not in it pass as they are.
Reading = Callable[[RequestHead, int, bytes, bytes], None]


def _host(head: RequestHead, at: int, name: bytes, value: bytes) -> None:
    head.hosts += 1
    head.host = value


def _content_length(head: RequestHead, at: int, name: bytes, value: bytes) -> None:
    head.sizes += 1
    head.kind = LENGTH
    head.length = size_of(value)


def _transfer_encoding(head: RequestHead, at: int, name: bytes, value: bytes) -> None:
    head.codings = value.lower() if head.codings is None else head.codings + b"," + value.lower()


def _connection(head: RequestHead, at: int, name: bytes, value: bytes) -> None:
    head.named = (head.named or []) + tokens(value)
    head.cut(at)


def _upgrade(head: RequestHead, at: int, name: bytes, value: bytes) -> None:
    head.upgrades = (head.upgrades or []) + tokens(value)
    head.cut(at)


def _hop_by_hop(head: RequestHead, at: int, name: bytes, value: bytes) -> None:
    head.cut(at)


def _proxy_connection(head: RequestHead, at: int, name: bytes, value: bytes) -> None:
    # Never standardised. llhttp reads it as Connection, and takes nothing after a "close".
    if b"close" in tokens(value):
        head.keep = False
    head.cut(at)


def _te(head: RequestHead, at: int, name: bytes, value: bytes) -> None:
    head.trailers = b"trailers" in tokens(value)
    head.cut(at)


def _forwarded(head: RequestHead, at: int, name: bytes, value: bytes) -> None:
    name = name.replace(b"_", b"-")
    if not head.trusted:
        head.discarded = True
        head.cut(at)
        return
    head.forwarded = head.forwarded or {}
    head.forwarded.setdefault(name, []).append(value)
    if name in (b"x-forwarded-for", b"forwarded"):
        head.cut(at)  # comes back with the peer appended


def _request_id(head: RequestHead, at: int, name: bytes, value: bytes) -> None:
    head.request_id = value[:128]


def _traceparent(head: RequestHead, at: int, name: bytes, value: bytes) -> None:
    head.trace = value if len(value) <= 128 else b""


def _max_forwards(head: RequestHead, at: int, name: bytes, value: bytes) -> None:
    if head.method in (b"OPTIONS", b"TRACE") and value.isdigit() and len(value) < 10:
        head.hops = int(value)
        head.cut(at)  # comes back one lower (RFC 9110 7.6.2)


def _cdn_loop(head: RequestHead, at: int, name: bytes, value: bytes) -> None:
    head.loops = [*(head.loops or ()), value]


def _authorization(head: RequestHead, at: int, name: bytes, value: bytes) -> None:
    # By its first letters: what parts a scheme from its token here, a site may read more kindly (a tab, nothing).
    if value[:9].lower().startswith((b"ntlm", b"negotiate")):
        head.binds = True


class Names(NamedTuple):
    """Lower-cased field name -> what is done about it, and how lines of such fields begin."""

    readings: Mapping[bytes, Reading]
    starts: frozenset[bytes]


def request_names(id_field: str) -> Names:
    """What is read of a request; `id_field` is the name of the request id's field."""
    names: dict[bytes, Reading] = {
        b"host": _host,
        b"content-length": _content_length,
        b"transfer-encoding": _transfer_encoding,
        b"connection": _connection,
        b"upgrade": _upgrade,
        b"te": _te,
        b"authorization": _authorization,
        b"traceparent": _traceparent,
        b"max-forwards": _max_forwards,
        b"forwarded": _forwarded,
        # RFC 9110 7.6.1 and 11.7.2; HTTP2-Settings belongs to h2c (RFC 9113 3.1), which ends here.
        b"keep-alive": _hop_by_hop,
        b"proxy-connection": _proxy_connection,
        b"proxy-authorization": _hop_by_hop,
        b"http2-settings": _hop_by_hop,
    }
    for name in FORWARDED_NAMES:
        names.update(dict.fromkeys(spellings(name), _forwarded))
    names.update(dict.fromkeys(_OWN, _hop_by_hop))
    names.update(dict.fromkeys(spellings(b"cdn-loop"), _cdn_loop))
    if id_field:
        names[id_field.lower().encode("latin-1")] = _request_id
    return Names(names, beginnings(names))


def read_request(raw: bytes, names: Names, limits: Limits, *, trusted: bool) -> RequestHead:
    """Read a whole request head, the empty line included.

    Raises BadHead for what is refused whatever llhttp thinks; what is returned must still pass llhttp before a byte of
    it is sent on.
    """
    lines = raw[:-4].split(CRLF)
    first = lines[0]
    if len(raw) > limits.line_bytes and max(map(len, lines)) > limits.line_bytes:
        raise BadHead("target_too_long" if len(first) > limits.line_bytes else "head_too_large")
    if len(lines) > limits.fields_count + 1:
        raise BadHead("head_too_large")
    method, _, rest = first.partition(b" ")
    target, _, version = rest.rpartition(b" ")
    head = RequestHead(raw, method, target, trusted)
    readings, starts = names
    at = -1
    for line in lines:
        at += 1
        if line[:3] in starts and at:
            name, _, value = line.partition(b":")
            name = name.lower()
            reading = readings.get(name)
            if reading is not None:
                reading(head, at, name, value.strip(b" \t"))
    if version != b"HTTP/1.1":
        _old_version(head, version, lines)
    if head.codings is not None:
        _settle_coding(head)
    if head.hosts != 1 or head.sizes > 1:
        _settle_counts(head)
    if head.named is not None or head.upgrades is not None:
        _settle_connection(head, lines)
    settle_target(head, lines)
    if head.drop is not None:
        gone = frozenset(head.drop)
        head.lines = [line for at, line in enumerate(lines) if at not in gone]
    elif head.lines is not None:
        head.lines = lines
    return head


def _old_version(head: RequestHead, version: bytes, lines: list[bytes]) -> None:
    if version != b"HTTP/1.0":
        digits = version[5:].replace(b".", b"")
        raise BadHead(
            "version_unknown" if version[:5] == b"HTTP/" and digits.isdigit() else "http_request_error"
        )
    if head.codings is not None:  # RFC 9112 6.1: faulty framing
        raise BadHead("http_request_error")
    head.old = True
    head.keep = head.named is not None and b"keep-alive" in head.named
    # An intermediary speaks its own version (RFC 9110 6.2).
    lines[0] = b"%b %b HTTP/1.1" % (head.method, head.target)
    head.lines = lines


def _settle_coding(head: RequestHead) -> None:
    if head.sizes:
        raise BadHead("http_request_error")  # RFC 9112 6.3: smuggling, or a fault that looks the same
    if head.codings != b"chunked":
        codings = tokens(head.codings or b"")
        stacked = codings[-1] == b"chunked" and b"chunked" not in codings[:-1] and b"" not in codings
        raise BadHead("coding_unknown" if stacked else "http_request_error")
    head.kind = CHUNKED


def _settle_counts(head: RequestHead) -> None:
    if head.hosts > 1:
        raise BadHead("host_repeated")
    if head.sizes > 1 or not head.old:
        raise BadHead("http_request_error")


def _settle_connection(head: RequestHead, lines: list[bytes]) -> None:
    if head.named == _KEEPS and head.upgrades is None:
        return  # what browsers say
    named = frozenset(head.named or ())
    if b"close" in named:
        head.keep = False
    if head.upgrades and b"upgrade" in named and not head.old:
        head.upgrade = not any(token.startswith(b"h2c") for token in head.upgrades)
    away = {name for name in named - {b"close", b"keep-alive", b"upgrade", b"te"} if may_be_named(name)}
    for at in range(1, len(lines) if away else 0):
        if lines[at].partition(b":")[0].lower() in away:
            head.cut(at)
    if head.upgrades is not None:
        # Under another name: llhttp still has to find every byte of the value good.
        kept = [b"x" + line if line[:8].lower() == b"upgrade:" else line for line in lines]
        head.shown = CRLF.join(kept) + b"\r\n\r\n"
