"""Which header fields an answer keeps, sets and drops. What is kept keeps its bytes, its order and its case.

Every value that is set is made of numbers, structured-field tokens and names checked here, so that nothing of a site
or a caller can open another line.
"""

from __future__ import annotations

from collections.abc import Iterable

from saywhy.core.contract.codes import DEFAULT_WAIT
from saywhy.core.contract.envelope import Error
from saywhy.core.hints.wait import CAP, retry_after
from saywhy.core.model import Fields

VARY = ("Accept", "Sec-Fetch-Site", "Sec-Fetch-Dest", "Signature", "Signature-Input", "Signature-Agent")
"""What the choice of a representation depends on; User-Agent joins where that list is on."""

_OF_THE_CONTENT = frozenset({
    # They describe bytes that are no longer sent.
    "content-encoding", "content-language", "content-location", "content-disposition", "content-md5", "content-digest",
    "repr-digest", "digest", "etag", "last-modified", "accept-ranges", "signature", "signature-input",
    "content-length", "transfer-encoding", "trailer",
})  # fmt: skip

_SET_BY_US = frozenset({"content-type", "x-content-type-options", "agent-error", "vary"})

_CACHING = frozenset({
    # no-store is the answer's own; these speak to caches that read something else first.
    "cache-control", "expires", "age", "pragma", "surrogate-control", "cdn-cache-control", "edge-control",
    "x-accel-expires",
})  # fmt: skip

_REPLACED = _SET_BY_US | _CACHING

_TELLING = ("x-powered-by", "x-aspnet", "x-debug")  # names that begin so tell what to attack, and an agent nothing

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
        name = _lower(line)
        if name in _REPLACED or _is_dropped(name, status) or (waits is not None and name == "retry-after"):
            continue
        kept.append(line)
    lines = [
        *kept,
        (b"Content-Type", content_type.encode("ascii")),
        *([(b"Content-Length", str(length).encode("ascii"))] if length is not None else []),
        (b"Cache-Control", b"no-store"),
        (b"Vary", _merged_vary(site, useragents)),
        (b"X-Content-Type-Options", b"nosniff"),
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
        lines = [line for line in lines if _lower(line) != "cache-control"]
        lines.append((b"Cache-Control", b"private"))
    if vary and (missing := _missing_vary(site, useragents)):
        lines.append((b"Vary", ", ".join(missing).encode("ascii")))
    if "agent-error" not in site:
        lines.append((b"Agent-Error", agent_error(error)))
    if vary and not private and "retry-after" not in site and (waits := _wait_line(site, error, now)) is not None:
        lines.append((b"Retry-After", waits))
    return Fields(lines)


def redacted_fields(annotated: Fields, length: int) -> Fields:
    """An annotated section whose content was redacted in place: what describes the old bytes goes."""
    kept = [line for line in annotated.lines if not (_lower(line) in _OF_THE_CONTENT and _describes(_lower(line)))]
    return Fields([*kept, (b"Content-Length", str(length).encode("ascii"))])


def plain_fields(*, length: int, token: str, wait: int, content_type: str = "text/plain; charset=utf-8") -> Fields:
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
    words = (str(error.code), str(error.retry), str(error.side_effects))
    code, retry, effects = (_bare_item(word) for word in words)
    return f"{code};retry={retry};side_effects={effects}".encode("ascii")


def proxy_status(received: int, token: str) -> bytes:
    """A member of Proxy-Status (RFC 9209): what the site answered, or the proxy's own error type."""
    return f"saywhy; error={token}".encode("ascii") if token else f"saywhy; received-status={received}".encode("ascii")


def _wait_line(site: Fields, error: Error, now: float) -> bytes | None:
    """Retry-After where the code always carries it and the site's own line does not say the same."""
    seconds = error.retry_after
    if seconds is None or (error.code not in DEFAULT_WAIT and "retry-after" not in site):
        return None
    # A wait at the cap may have been a longer one: then the line says what the content says.
    same = seconds < CAP and retry_after(site, now=now) == seconds
    return None if same else str(seconds).encode("ascii")


def _merged_vary(site: Fields, useragents: bool) -> bytes:
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
    if word and word.isascii() and (word[0].isalpha() or word[0] == "*") and _TOKEN.issuperset(word) and len(word) <= 64:
        return word
    printable = "".join(char for char in word if " " <= char <= "~")[:64]
    escaped = printable.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _is_dropped(name: str, status: int) -> bool:
    return (
        name in _OF_THE_CONTENT
        or (name == "content-range" and status != 416)  # on 416 it tells the length (RFC 9110 15.5.17)
        or name.endswith("-cdn-cache-control")
        or name.startswith(_TELLING)
    )


def _describes(name: str) -> bool:
    """Whether a field of the content is about its exact bytes; language, name and place of a redacted one stay."""
    return name not in ("content-language", "content-location", "content-disposition", "last-modified")


def _is_clean(lines: list[tuple[bytes, bytes]]) -> bool:
    # The relay's parser lets none of these through; other homes hand in what they got.
    whole = b"".join([part for line in lines for part in line])
    return b"\r" not in whole and b"\n" not in whole and b"\0" not in whole


def _lower(line: tuple[bytes, bytes]) -> str:
    return line[0].decode("latin-1").lower()
