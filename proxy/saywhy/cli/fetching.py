"""One GET (or another method) for `explain`: no redirects, nothing decoded, bounded, with the fields as they came."""

from __future__ import annotations

import asyncio
import os
from typing import NamedTuple

import aiohttp
from yarl import URL

from saywhy.cli.output import Failure
from saywhy.core.model import Fields, Head, Request, Response

BODY_BYTES = 1 << 20
"""Sixteen times what the proxy reads of a page: enough to say that it was cut."""

SECONDS = 20

_NEVER_RAW = frozenset('"<>\\^`{|}')
"""Visible signs that no URL may hold (RFC 3986 2)."""


class Fetched(NamedTuple):
    """Both heads, the body as it came on the wire (coded), and whether all of it came."""

    head: Head
    body: bytes
    complete: bool


def fetch(url: str, method: str, accept: str) -> Fetched:
    """Ask `url` once. Raises Failure with a sentence where no answer came."""
    if "://" not in url or url.partition("://")[0].lower() not in ("http", "https"):
        raise Failure(f"{url}: only http:// and https:// can be asked.", field="SOURCE")
    if not (method.isascii() and method.isalpha()):
        raise Failure(f"{method!r} is no method; write GET or POST.", field="--method")
    try:
        # As it stands where it can go out like that: yarl would turn %2F into / and another page would be asked for.
        where = URL(url, encoded=all("!" <= char <= "~" and char not in _NEVER_RAW for char in url))
        return asyncio.run(_fetch(where, method, accept))
    except TimeoutError:
        raise Failure(
            f"{url}: no answer within {SECONDS} seconds.", exit_code=1, code="temporarily_unavailable"
        ) from None
    except ValueError:  # aiohttp's InvalidURL is one too
        raise Failure(f"{url}: not a URL; write http://host[:port]/path.", field="SOURCE") from None
    except aiohttp.ClientConnectorError as why:
        raise Failure(
            f"{url}: cannot connect ({_reason(why.os_error)}).", exit_code=1, code="temporarily_unavailable"
        ) from None
    except aiohttp.ClientError as why:
        raise Failure(
            f"{url}: {why or type(why).__name__}.", exit_code=1, code="temporarily_unavailable"
        ) from None


def _reason(why: OSError) -> str:
    """The system's words; asyncio wraps them in its own where it tried several addresses."""
    return os.strerror(why.errno).lower() if why.errno and why.errno > 0 else str(why.strerror or why)


async def _fetch(url: URL, method: str, accept: str) -> Fetched:
    timeout = aiohttp.ClientTimeout(total=SECONDS)
    fields = {"Accept": accept, "User-Agent": "saywhy-explain"}
    async with (
        aiohttp.ClientSession(
            auto_decompress=False, cookie_jar=aiohttp.DummyCookieJar(), timeout=timeout
        ) as session,
        session.request(method, url, headers=fields, allow_redirects=False) as answer,
    ):
        body = bytearray()
        async for chunk in answer.content.iter_any():
            body += chunk
            if len(body) > BODY_BYTES:
                break
        asked = Fields.of([("Host", answer.url.host_port_subcomponent or ""), *fields.items()])
        request = Request(method, answer.url.raw_path_qs.encode("latin-1"), asked, answer.url.scheme)
        head = Head(request, Response(answer.status, Fields(answer.raw_headers)))
        return Fetched(head, bytes(body[:BODY_BYTES]), len(body) <= BODY_BYTES)
