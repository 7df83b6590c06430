"""Which header fields an answer keeps, sets and drops. What is kept keeps its bytes, its order and its case.

Every value that is set is made of numbers, structured-field tokens and names checked here, so that nothing of a site
or a caller can open another line.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from saywhy.core.contract.codes import DEFAULT_WAIT
from saywhy.core.contract.envelope import Error
from saywhy.core.hints.wait import CAP, retry_after
from saywhy.core.model import Fields

VARY = ("Accept", "Sec-Fetch-Site", "Sec-Fetch-Dest", "Signature", "Signature-Input", "Signature-Agent")
"""What the choice of a representation depends on; User-Agent joins where that list is on."""

_OF_THE_CONTENT = frozenset({
    # They describe bytes that are no longer sent.
    b"content-encoding", b"content-language", b"content-location", b"content-disposition", b"content-md5",
    b"content-digest", b"repr-digest", b"digest", b"etag", b"last-modified", b"accept-ranges", b"signature",
    b"signature-input", b"content-length", b"transfer-encoding", b"trailer",
})  # fmt: skip

_SET_BY_US = frozenset({b"content-type", b"x-content-type-options", b"agent-error", b"vary"})

_CACHING = frozenset({
    # no-store is the answer's own; these speak to caches that read something else first.
    b"cache-control", b"expires", b"age", b"pragma", b"surrogate-control", b"cdn-cache-control", b"edge-control",
    b"x-accel-expires",
})  # fmt: skip

_SHARED = frozenset({b"surrogate-control", b"cdn-cache-control", b"edge-control", b"x-accel-expires"})
"""What shared caches obey before Cache-Control (RFC 9213 2.1)."""

_GONE = _OF_THE_CONTENT | _SET_BY_US | _CACHING

_KEPT_OFTEN = frozenset(
    {b"date", b"server", b"connection", b"set-cookie", b"keep-alive", b"strict-transport-security"}
)

_TELLING = (
    b"x-powered-by",
    b"x-aspnet",
    b"x-debug",
)  # names that begin so tell what to attack, and an agent nothing

_NO_STORE = (b"Cache-Control", b"no-store")
_NOSNIFF = (b"X-Content-Type-Options", b"nosniff")
_VARY = ", ".join(VARY).encode("ascii")

_TOKEN = frozenset("!#$%&'*+-.^_`|~:/0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_NAME = _TOKEN - frozenset(":/")


def rewritten_fields(
    site: Fields,
    error: Error,
    *,
    status: int,
    received: int,
    content_type: str,
    length: int | None,
    useragents: bool,
    now: float,
    token: str = "",
) -> Fields:
    """The header section of a rewritten answer. `length` None: no Content-Length (HEAD). `received` is the site's
    status, 0 where the failure is the proxy's own and `token` its RFC 9209 type.
    """
    waits = _wait_line(site, error, now)
    kept = []
    for line in site.lines:
        name = line[0].lower()
        if name in _KEPT_OFTEN or not (
            _is_dropped(name, status) or (waits is not None and name == b"retry-after")
        ):
            kept.append(line)
    lines = [
        *kept,
        (b"Content-Type", content_type.encode("ascii")),
        *([(b"Content-Length", b"%d" % length)] if length is not None else []),
        _NO_STORE,
        (b"Vary", _merged_vary(site, useragents)),
        _NOSNIFF,
        (b"Agent-Error", agent_error(error)),
        (b"Proxy-Status", proxy_status(received, token)),
    ]
    if waits is not None:
        lines.append((b"Retry-After", waits))
    return Fields(lines) if _is_clean(lines) else Fields(line for line in lines if _is_clean([line]))


def annotated_fields(
    site: Fields, error: Error, *, vary: bool, private: bool, useragents: bool = False, now: float
) -> Fields:
    """The site's section with `Agent-Error` after it; `vary` adds what Vary lacks, `private` keeps shared caches from
    replaying an agent's annotated success to people.
    """
    lines = list(site.lines)
    if private:
        lines = _made_private(lines)
    if vary and (missing := _missing_vary(site, useragents)):
        lines.append((b"Vary", ", ".join(missing).encode("ascii")))
    if "agent-error" not in site:
        lines.append((b"Agent-Error", agent_error(error)))
    if (
        vary
        and not private
        and "retry-after" not in site
        and (waits := _wait_line(site, error, now)) is not None
    ):
        lines.append((b"Retry-After", waits))
    return Fields(lines)


def redacted_fields(annotated: Fields, length: int, *, differs: bool, useragents: bool = False) -> Fields:
    """An annotated section whose content was redacted in place: what describes the old bytes goes. `differs`: others get
    the site's own bytes, so that no shared cache may give one for the other.
    """
    kept = [
        line
        for line in annotated.lines
        if not ((name := line[0].lower()) in _OF_THE_CONTENT and _describes(name))
    ]
    if differs:
        kept = _made_private(kept)
        if missing := _missing_vary(annotated, useragents):
            kept.append((b"Vary", ", ".join(missing).encode("ascii")))
    return Fields([*kept, (b"Content-Length", str(length).encode("ascii"))])


def _made_private(lines: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """`lines` for one caller's cache alone. What already forbids more stays; what speaks to shared caches goes."""
    kept = [line for line in lines if line[0].lower() not in _SHARED]
    said = b",".join(value for name, value in kept if name.lower() == b"cache-control").lower()
    words = {word.partition(b"=")[0].strip() for word in said.split(b",")}
    if words & {b"no-store", b"private"} and b'private="' not in said:
        return kept
    return [
        *(line for line in kept if line[0].lower() != b"cache-control"),
        (b"Cache-Control", b"private"),
    ]


def plain_fields(
    *, length: int, token: str, wait: int, content_type: str = "text/plain; charset=utf-8"
) -> Fields:
    """The section of the proxy's own short page for anyone but an agent."""
    lines = [
        (b"Content-Type", content_type.encode("ascii")),
        (b"Content-Length", str(length).encode("ascii")),
        (b"Cache-Control", b"no-store"),
        (b"Vary", ", ".join(VARY).encode("ascii")),
        (b"X-Content-Type-Options", b"nosniff"),
        (b"Proxy-Status", proxy_status(0, token)),
    ]
    if wait:
        lines.append((b"Retry-After", str(wait).encode("ascii")))
    return Fields(lines)


def agent_error(error: Error) -> bytes:
    """`code;retry=word;side_effects=word`, a structured field item (RFC 9651), for tools that drop the content."""
    code, retry, effects = map(_bare_item, (error.code, error.retry, error.side_effects))
    return f"{code};retry={retry};side_effects={effects}".encode("ascii")


def proxy_status(received: int, token: str) -> bytes:
    """A member of Proxy-Status (RFC 9209): what the site answered, or the proxy's own error type."""
    return (
        f"saywhy; error={token}".encode("ascii")
        if token
        else f"saywhy; received-status={received}".encode("ascii")
    )


def _wait_line(site: Fields, error: Error, now: float) -> bytes | None:
    """Retry-After where the code always carries it and the site's own line does not say the same."""
    seconds = error.retry_after
    if seconds is None or (error.code not in DEFAULT_WAIT and "retry-after" not in site):
        return None
    # A wait at the cap may have been a longer one: then the line says what the content says.
    same = seconds < CAP and retry_after(site, now=now) == seconds
    return None if same else str(seconds).encode("ascii")


def _merged_vary(site: Fields, useragents: bool) -> bytes:
    if "vary" not in site and not useragents:
        return _VARY
    names = [name.strip() for line in site.all("vary") for name in line.split(",")]
    names = [name for name in names if name and _NAME.issuperset(name)]
    if "*" in names:
        return b"*"  # RFC 9110 12.5.5: says more than any list
    return ", ".join([*names, *_missing_vary(site, useragents)]).encode("ascii")


def _missing_vary(site: Fields, useragents: bool) -> list[str]:
    there = {name.strip().lower() for line in site.all("vary") for name in line.split(",")}
    wanted: Iterable[str] = (*VARY, "User-Agent") if useragents else VARY
    return [] if "*" in there else [name for name in wanted if name.lower() not in there]


def _bare_item(word: str) -> str:
    """A token where it is one (RFC 9651 3.3.4), else a string of printable ASCII, at most 64 characters."""
    if (
        word
        and word.isascii()
        and (word[0].isalpha() or word[0] == "*")
        and _TOKEN.issuperset(word)
        and len(word) <= 64
    ):
        return word
    printable = "".join(char for char in word if " " <= char <= "~")[:64]
    escaped = printable.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _is_dropped(name: bytes, status: int) -> bool:
    return (
        name in _GONE
        or (name == b"content-range" and status != 416)  # on 416 it tells the length (RFC 9110 15.5.17)
        or name.endswith(b"-cdn-cache-control")
        or name.startswith(_TELLING)
    )


def _describes(name: bytes) -> bool:
    """Whether a field of the content is about its exact bytes; language, name and place of a redacted one stay."""
    return name not in (b"content-language", b"content-location", b"content-disposition", b"last-modified")


def _is_clean(lines: list[tuple[bytes, bytes]]) -> bool:
    # The relay's parser lets none of these through; other homes hand in what they got.
    whole = b"".join(chain.from_iterable(lines))
    return b"\r" not in whole and b"\n" not in whole and b"\0" not in whole
