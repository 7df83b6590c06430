"""Envelope -> bytes, one rendering a file; they know nothing of their siblings. Adding one: a file with
`render(envelope, status, public_url)` and `CONTENT_TYPE`, and a row in the table here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from saywhy.core.contract.envelope import Envelope
from saywhy.core.render import json, markdown, problem


class Rendering(NamedTuple):
    """A media type's writer and the Content-Type that goes with it."""

    write: Callable[[Envelope, int, str], bytes]
    content_type: str


RENDERINGS = {
    "application/json": Rendering(json.render, json.CONTENT_TYPE),
    "application/problem+json": Rendering(problem.render, problem.CONTENT_TYPE),
    "text/markdown": Rendering(markdown.render, markdown.CONTENT_TYPE),
}
"""Media type -> rendering."""


def render(envelope: Envelope, media: str, *, status: int, public_url: str = "") -> bytes:
    """The content for `media` (a key of RENDERINGS). `status` is the one sent; `public_url` makes links absolute."""
    return RENDERINGS[media].write(envelope, status, public_url)


__all__ = ["RENDERINGS", "Rendering", "render"]
