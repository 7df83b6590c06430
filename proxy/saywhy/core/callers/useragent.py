"""The User-Agent list, off by default: agents that act for a person at this moment, and no crawler.

Matched as whole product tokens (RFC 9110 10.1.5) and never as substrings: "Code" is in every VS Code pane, "LCC" in
"SLCC2". Search and training crawlers stay off the list; an index must see the site's own error pages.
"""

from __future__ import annotations

from saywhy.core.model import Fields

AGENTS = frozenset({
    "chatgpt-user",
    "claude-user",
    "codex",
    "google-agent",
    "google-gemini-cli",
    "manus-user",
    "meta-externalfetcher",
    "mistralai-user",
    "modelcontextprotocol",
    "perplexity-user",
})  # fmt: skip
"""Product tokens, lower case."""

_WINDOW = 512  # the longest listed agent's token stands within the first 130 bytes
_SEPARATORS = str.maketrans(dict.fromkeys("();,", " "))


def listed(fields: Fields) -> str | None:
    """The listed product that User-Agent names, lower case, or None."""
    head = (fields.get("user-agent") or "")[:_WINDOW].lower().translate(_SEPARATORS)
    products = (word.partition("/")[0] for word in head.split())
    return next((product for product in products if product in AGENTS), None)
