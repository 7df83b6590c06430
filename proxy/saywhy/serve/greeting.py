"""The first sentence: where to knock."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from saywhy.edge.events import open_events, style_for
from saywhy.edge.settings import Loaded
from saywhy.serve.descriptors import doubt


def greet(loaded: Loaded, urls: Sequence[str], admin_urls: Sequence[str], events: Any) -> None:
    """One sentence: where to knock. An event where standard error is for machines. Then what is doubted."""
    settings = loaded.settings
    admin = next(iter(admin_urls), "")
    urls_of = {name: upstream.url for name, upstream in settings.upstreams.items()}
    # One alone needs no name: it is `default` nearly always, and nobody gave it.
    named = len(urls_of) > 1
    sites = ", ".join(f"{name} ({url})" if named else url for name, url in urls_of.items())
    health = f"; health and metrics on {admin}" if admin else ""
    workers = f" with {settings.workers} workers" if settings.workers > 1 else ""
    sentence = f"saywhy {version('saywhy')} listens on {' and '.join(urls)} before {sites}{workers}{health}."
    style = style_for(settings.log.format, sys.stderr)
    if style == "text":
        print(sentence, file=sys.stderr, flush=True)
    else:
        # Whatever the log's level: who started it with port 0 learns the port from this line.
        open_events(style).info("started", sentence, listen=list(urls), admin=admin, upstreams=urls_of)
    for doubted in (*map(str, loaded.doubts), doubt(settings)):
        if doubted:
            events.warning("doubt", doubted)
