"""The request target and the host: the forms that pass (RFC 9112 3.2), byte for byte, and those that are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from saywhy.relay.lines import CRLF, BadHead

if TYPE_CHECKING:
    from saywhy.relay.head import RequestHead

_HOST_BYTES: Final = (
    b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+,;=%"  # RFC 3986 3.2.2
)
_REFUSED: Final = {b"CONNECT": "method_unknown", b"TRACE": "method_refused"}
_REMEMBERED_HOSTS: Final = 1024
_known_hosts: set[bytes] = set()
"""Hosts that were found well-formed: a site has few, and each is looked at once. Full is full: callers cannot grow it."""

_HIGH_BYTES_AS_X: Final = bytes(range(128)) + b"x" * 128


def settle_target(head: RequestHead, lines: list[bytes]) -> None:
    """Refuse what is no target or no host; turn absolute-form into origin-form. Raises BadHead."""
    target, method = head.target, head.method
    if method in _REFUSED:
        raise BadHead(_REFUSED[method])
    if target[:1] != b"/" and not (target == b"*" and method == b"OPTIONS"):
        _absolute_form(head, lines)
    if 35 in target or 32 in target:  # a "#" or a space
        raise BadHead("http_request_error")
    host = head.host
    if host not in _known_hosts and head.hosts:
        if not _is_host(host):
            raise BadHead("http_request_error")
        if len(_known_hosts) < _REMEMBERED_HOSTS and len(host) < 256:
            _known_hosts.add(host)
    if not target.isascii():
        shown = (head.shown or head.raw).partition(CRLF)
        head.shown = shown[0].translate(_HIGH_BYTES_AS_X) + CRLF + shown[2]


def _absolute_form(head: RequestHead, lines: list[bytes]) -> None:
    scheme, mark, rest = head.target.partition(b"://")
    if not mark or scheme.lower() not in (b"http", b"https"):
        raise BadHead("http_request_error")
    cut = min((at for at in (rest.find(b"/"), rest.find(b"?")) if at >= 0), default=len(rest))
    authority, path = rest[:cut], rest[cut:]
    if path[:1] != b"/":
        path = b"*" if head.method == b"OPTIONS" and not path else b"/" + path
    # RFC 9112 3.2.2: the authority outranks the Host field that came beside it.
    head.host, head.target = authority, path
    head.hosts = 1
    lines[0] = b"%b %b HTTP/1.1" % (head.method, path)
    for at in range(1, len(lines)):
        if lines[at][:5].lower() == b"host:":
            lines[at] = b"Host: " + authority
            break
    else:
        lines.insert(1, b"Host: " + authority)
        head.drop = [at + 1 for at in head.drop] if head.drop else None
    head.lines = lines


def _is_host(host: bytes) -> bool:
    """RFC 3986 3.2.2 as far as bytes and shape go; a name's meaning is the site's business."""
    name, colon, port = host.rpartition(b":")
    if not colon or b"]" in port:
        name, port = host, b""
    if name[:1] == b"[":
        return (
            name[-1:] == b"]"
            and not name[1:-1].translate(None, b"0123456789abcdefABCDEF:.v")
            and len(name) > 3
        )
    return bool(name) and not name.translate(None, _HOST_BYTES) and (not port or port.isdigit())
