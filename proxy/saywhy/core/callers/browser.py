"""Marks of a browser: they veto Accept, because a page's own script names application/json as an agent does.

Not detected: a page's own fetch on plain http under `Referrer-Policy: no-referrer`, which carries no mark at all.
"""

from __future__ import annotations

from saywhy.core.model import Fields


def marks(fields: Fields) -> str:
    """Which mark of a browser the request carries, as one clause; empty where it carries none."""
    # Both of them: Node's fetch sends Sec-Fetch-Mode alone, and that is no browser.
    if "sec-fetch-site" in fields and "sec-fetch-dest" in fields:
        return "Sec-Fetch-Site and Sec-Fetch-Dest are present"
    if (fields.get("x-requested-with") or "").lower() == "xmlhttprequest":
        return "X-Requested-With is XMLHttpRequest"
    # Browsers send Fetch Metadata to secure origins alone, and Safari before 16.4 never.
    if (
        "sec-fetch-site" not in fields
        and ("origin" in fields or "referer" in fields)
        and (fields.get("user-agent") or "").startswith("Mozilla/5.0")
    ):
        return "a browser's User-Agent with an Origin or a Referer"
    return ""
