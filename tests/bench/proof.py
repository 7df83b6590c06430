"""What a target proves before its figures count: an unfair comparison would be worse than none.

The site's bytes arrive as they are and uncompressed, every request reaches the site (no cache) on connections that are
kept, every exchange is a line of the log, and every thread is on the target's cores. What fails is left out, by name.
"""

from __future__ import annotations

import http.client
import json
import time
from pathlib import Path
from typing import Any

from tests.bench import cost, origin
from tests.bench.peers import Running
from tests.bench.place import Place, Unfit
from tests.bench.scenarios import AGENT, SCENARIOS

PROBES = 200
BROWSER = {"Accept": "text/html,*/*;q=0.8", "Accept-Encoding": "gzip, br, zstd"}
PAGES = {
    "/1k": (200, "1k"),
    "/100k": (200, "100k"),
    "/missing": (404, "404.html"),
    "/down": (503, "503.html"),
}
MORE_CONNECTIONS = 4
"""To the site, over the one that PROBES requests on one connection need: idle pools may open a second one in advance."""


def of(target: Running, place: Place) -> dict[str, Any]:
    """The proof as a sample; raises `Unfit` with the first thing that is not as it is said to be."""
    connection = http.client.HTTPConnection("127.0.0.1", target.port, timeout=20)
    try:
        return {"target": target.name, "scenario": "proof", **_proof(target, place, connection)}
    except (OSError, http.client.HTTPException) as error:
        raise Unfit(f"does not serve the site's pages: {error or type(error).__name__}") from error
    finally:
        connection.close()


def _proof(target: Running, place: Place, connection: http.client.HTTPConnection) -> dict[str, Any]:
    for path, (status, name) in PAGES.items():
        _same(connection, path, status, (place.folder / "documents" / name).read_bytes())
    _agents_answer(target, connection)
    before, lines = origin.seen(place), _lines(place.log(target.name))
    for _ in range(PROBES):
        connection.request("GET", "/1k", headers=BROWSER)
        connection.getresponse().read()
    after = origin.seen(place)
    requests = after.requests - before.requests - 1  # less the second question itself
    connections = after.connections - before.connections - 1
    if requests != PROBES:
        raise Unfit(f"{PROBES} requests were {requests} at the site")
    if connections > MORE_CONNECTIONS:
        raise Unfit(f"{PROBES} requests took {connections} connections to the site")
    cores = cost.cores_of(cost.family(target.pid))
    if not cores <= target.cores:
        raise Unfit(f"runs on the cores {sorted(cores)}, not on {sorted(target.cores)} alone")
    return {"connections": connections, "log": _logged(target, place, connection, lines + PROBES)}


def _same(connection: http.client.HTTPConnection, path: str, status: int, page: bytes) -> None:
    connection.request("GET", path, headers=BROWSER)
    answer = connection.getresponse()
    if answer.status != status or answer.read() != page or answer.headers["Content-Encoding"]:
        raise Unfit(f"{path} is not what the site sent ({answer.status}, {answer.headers.items()})")


def _agents_answer(target: Running, connection: http.client.HTTPConnection) -> None:
    field, _, value = AGENT.partition(": ")
    connection.request("GET", SCENARIOS["404agent"].path, headers={field: value})
    answer = connection.getresponse()
    page, kind = answer.read(), answer.headers["Content-Type"]
    if answer.status != 404 or (kind == "application/problem+json") != target.peer.rewrites:
        raise Unfit(f"an agent gets {answer.status} {kind}")
    if target.peer.rewrites and json.loads(page)["status"] != 404:
        raise Unfit("an agent's problem details have another status")


def _lines(log: Path) -> int:
    return log.read_bytes().count(b"{") if log.exists() else 0


def _logged(target: Running, place: Place, connection: http.client.HTTPConnection, wanted: int) -> str:
    """The last line of the log once there are as many as there were requests. Logs are written a second late, by some
    only with the next request.
    """
    log, until = place.log(target.name), time.monotonic() + 6
    while (found := _lines(log)) < wanted:
        if time.monotonic() > until:
            raise Unfit(f"of {PROBES} requests {wanted - found} are no line in its log")
        time.sleep(0.4)
        connection.request("GET", "/1k", headers=BROWSER)
        connection.getresponse().read()
    return log.read_text(errors="replace").splitlines()[-1]
