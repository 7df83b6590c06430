"""How much of a page is read: every bound counts work (bytes, nodes, levels), never time."""

from typing import NamedTuple


class PageLimits(NamedTuple):
    """Bounds for one page.

    `decoded_bytes`: bytes after content decoding; 64 KiB hold every page of the kind that fails, debug pages put
    their message behind 50 KB of style sheet. `dom_nodes`: tags for which a tree for CSS is still built; BeautifulSoup
    takes about 8 us a node, so this is under a tenth of a second. `json_levels`: nesting of a JSON value; error bodies
    use ten. `items`: structured data items and scripts looked at.
    """

    decoded_bytes: int = 65536
    dom_nodes: int = 10_000
    json_levels: int = 64
    items: int = 200


class TakesLong(Exception):
    """Reading on would take longer than somebody in a hurry can wait (`Page.hurried`)."""


QUICK_TAGS = 400
"""Tags of a tree that is grown at once, in about 3 ms with what selectors then do in it."""

QUICK_BYTES = 8192
"""Of JSON or XML that is read at once: every text in a report goes through scrub, about 1 ms a kilobyte."""
