"""The site's documents: 1 KB to 10 MB of noise, 1 GiB of nothing, and error pages of 8, 60 and 500 KB that look like a shop's."""

from __future__ import annotations

import random
from pathlib import Path

WORDS = ("page", "address", "home", "shop", "account", "support", "order", "delivery", "cookie", "privacy", "terms",
         "help", "search", "category", "product", "basket", "sign in", "newsletter", "store", "careers", "press")  # fmt: skip
HEAD = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="stylesheet" href="/assets/app.css">
<style>body{{font-family:sans-serif;margin:0}}nav li{{display:inline-block;padding:0 8px}}</style>
<script>window.layer=window.layer||[];function tag(){{layer.push(arguments)}}tag("js",new Date())</script>
</head><body class="error"><header><nav><ul>
"""
TAIL = """</ul></nav></header><main><h1>{title}</h1><p class="lead">{lead}</p><p>Reference: 4711.</p></main>
<footer><p>Example Shop</p></footer></body></html>
"""


def error_page(size: int, title: str, lead: str) -> bytes:
    """About `size` bytes of HTML: a long navigation, and what happened near the end."""
    chance = random.Random(7)  # the same page in every run
    head, tail = HEAD.format(title=title), TAIL.format(title=title, lead=lead)
    lines, length, number = [head], len(head) + len(tail), 0
    while True:
        text = " ".join(chance.choices(WORDS, k=chance.randint(1, 6)))
        number += 1
        line = f'<li class="item item-{number}"><a href="/c/{chance.choice(WORDS)}/{number}" data-id="{chance.getrandbits(32):x}" title="{text}">{text}</a></li>\n'
        if length + len(line) > size:
            break
        lines.append(line)
        length += len(line)
    return "".join([*lines, tail]).encode().ljust(size)


def write(folder: Path) -> None:
    """All documents, into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    chance = random.Random(7)
    for name, size in (("1k", 1024), ("100k", 100 * 1024), ("10m", 10 * 1024 * 1024)):
        (folder / name).write_bytes(chance.randbytes(size))
    with (folder / "1g").open("wb") as file:
        file.truncate(1 << 30)  # sparse: it takes no place
    for name, size, title, lead in (
        ("404.html", 8192, "404 - Page not found", "Sorry, this page does not exist or has moved."),
        (
            "503.html",
            8192,
            "503 Service Unavailable",
            "The shop is being looked after. Please come back later.",
        ),
        ("403-60k.html", 60 * 1024, "Access denied", "You may not see this page."),
        ("500-500k.html", 500 * 1024, "500 Internal Server Error", "Something went wrong on our side."),
    ):
        (folder / name).write_bytes(error_page(size, title, lead))
    fresh = (folder / "404.html").read_bytes().replace(b"4711", b'<!--# echo var="request_id" -->')
    (folder / "404-fresh.html").write_bytes(fresh)
