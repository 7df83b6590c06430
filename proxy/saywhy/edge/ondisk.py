"""What the settings name on this machine, and how it stands there: our certificates' dates, sites' sockets. None of it keeps
a proxy from serving, and most of it mends itself without one: doubts, no mistakes.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from saywhy.edge.files import read_bytes
from saywhy.edge.settings import Loaded, Problem
from saywhy.edge.settings.faults import Path as Key
from saywhy.edge.settings.faults import dotted, origin_of
from saywhy.edge.validity import validities

_MOST_BYTES: Final = 1024 * 1024


def doubts_on_disk(loaded: Loaded, *, serving: bool, now: datetime | None = None) -> Iterator[Problem]:
    """Certificates of ours whose time has passed or not come, and sockets of sites that are none. `serving`: also those
    that are not there; before that, a site need not be.
    """
    moment = now or datetime.now(UTC)

    def doubt(path: Key, message: str) -> Problem:
        return Problem(origin_of(path, loaded.origins), dotted(path), message)

    settings = loaded.settings
    ours: list[tuple[Key, Path | None]] = []
    if settings.tls.listen:
        ours.append((("tls", "certificate_file"), settings.tls.certificate_file))
    for name, upstream in settings.upstreams.items():
        ours.append((("upstreams", name, "certificate_file"), upstream.certificate_file))
        if upstream.url.startswith("unix:"):
            path = upstream.url.removeprefix("unix:")
            if said := _no_socket(path, serving=serving):
                yield doubt(("upstreams", name, "url"), f"is unix:{path}, and {said}")
    for key, file in ours:
        if file is not None:
            for said in _out_of_time(file, moment):
                yield doubt(key, f"names {file}, {said}")


def _no_socket(path: str, *, serving: bool) -> str:
    try:
        if not stat.S_ISSOCK(os.stat(path).st_mode):
            return "what is there is no socket; give the one that the site listens on."
    except (FileNotFoundError, NotADirectoryError):
        return "nothing is there; callers get errors until the site listens on it." if serving else ""
    except OSError as closed:
        reason = (closed.strerror or str(closed)).lower()
        return f"it cannot be looked at ({reason}); let this process into its folders." if serving else ""
    return ""


def _out_of_time(file: Path, now: datetime) -> Iterator[str]:
    try:
        text = read_bytes(file, _MOST_BYTES).decode("utf-8", "replace")
    except OSError:  # whoever uses it says so
        return
    for place, (since, until) in enumerate(validities(text)):
        which = (
            "whose certificate"
            if not place
            else f"whose certificate {place + 1} (of those that lead to the root)"
        )
        if until < now:
            yield f"{which} expired at {until:%Y-%m-%d %H:%M} UTC: others refuse it; renew it."
        elif since > now:
            yield f"{which} is not valid before {since:%Y-%m-%d %H:%M} UTC: others refuse it; wait, or set this machine's clock right."
