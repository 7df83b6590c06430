"""Who calls: request heads as real programs send them (Chromium 156's fields measured on loopback)."""

from __future__ import annotations

from typing import NamedTuple

Lines = tuple[tuple[str, str], ...]


class Caller(NamedTuple):
    """A kind of caller: its name for test ids, and the fields it sends after Host."""

    name: str
    fields: Lines


CHROME = Caller(
    "chrome",
    (
        ("Connection", "keep-alive"),
        ("sec-ch-ua", '"Not:A-Brand";v="8", "Chromium";v="156"'),
        ("sec-ch-ua-mobile", "?0"),
        ("sec-ch-ua-platform", '"Linux"'),
        ("Upgrade-Insecure-Requests", "1"),
        (
            "User-Agent",
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36",
        ),
        (
            "Accept",
            "text/html,application/xhtml+xml,application/xml;q=0.9,image/jxl,image/avif,image/webp,image/apng,*/*;q=0.8,"
            "application/signed-exchange;v=b3;q=0.7",
        ),
        ("Sec-Fetch-Site", "none"),
        ("Sec-Fetch-Mode", "navigate"),
        ("Sec-Fetch-User", "?1"),
        ("Sec-Fetch-Dest", "document"),
        ("Accept-Encoding", "gzip"),
        ("Accept-Language", "en-US,en;q=0.9"),
    ),
)
CHROME_FETCH = Caller(
    "chrome-fetch",
    (
        ("Connection", "keep-alive"),
        (
            "User-Agent",
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36",
        ),
        ("Accept", "application/json"),
        ("Sec-Fetch-Site", "same-origin"),
        ("Sec-Fetch-Mode", "cors"),
        ("Sec-Fetch-Dest", "empty"),
        ("Referer", "http://127.0.0.1/"),
        ("Accept-Encoding", "gzip"),
    ),
)
CURL = Caller("curl", (("User-Agent", "curl/8.15.0"), ("Accept", "*/*")))
BYSTANDERS = (CHROME, CHROME_FETCH, CURL)


def agent(media: str) -> Caller:
    """An agent that asks for `media` by name, with the other fields that httpx sends."""
    return Caller(
        media,
        (
            ("Accept", media),
            ("Accept-Encoding", "gzip"),
            ("Connection", "keep-alive"),
            ("User-Agent", "python-httpx/0.28.1"),
        ),
    )


def signed(media: str = "*/*") -> Caller:
    """An agent whose request carries a well-formed Web Bot Auth signature: a claim, enough for the format of an error."""
    key = "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U"
    covered = f'sig1=("@authority");created=1735689600;expires=1735693200;keyid="{key}";tag="web-bot-auth"'
    mark = "sig1=:" + "A" * 86 + "==:"
    return Caller(f"signed {media}", (("Accept", media), ("Signature-Input", covered), ("Signature", mark)))


def request(
    port: int, path: str, caller: Caller, *, method: str = "GET", fields: Lines = (), body: bytes = b""
) -> bytes:
    """A whole request to `port` of this machine."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{port}"]
    lines += [f"{name}: {value}" for name, value in (*caller.fields, *fields)]
    if body or method in ("POST", "PUT", "PATCH"):
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body
