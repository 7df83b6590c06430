"""`edge_safe_status`: behind a CDN that replaces the content of 502 and 504, the proxy's own leave as 503, and the log
and the metrics still tell which they were. The site's own are not touched.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from stage.callers import CHROME, CURL, Caller, agent, request
from stage.scripted import Answer, ScriptedSite, garbage, page
from stage.serving import serving
from stage.wire import ask

JSON = agent("application/json")
SITE = {
    "/noise": garbage(b"SSH-2.0-OpenSSH_9\r\n"),
    "/slow": Answer((b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",), wait=5),
    "/own502": page("502 Bad Gateway", b"<h1>The site's own</h1>"),
    "/own504": page("504 Gateway Timeout", b"<h1>The site's own</h1>"),
}
ORIGINAL = {"/noise": (502, "http_protocol_error"), "/slow": (504, "connection_read_timeout")}


@pytest.mark.parametrize("switched", [False, True])
def test_own_failures_and_the_sites(tmp_path: Path, switched: bool) -> None:
    env = {"SAYWHY__EDGE_SAFE_STATUS": str(switched).lower(), "SAYWHY_DEADLINES__FIRST_BYTE_SECONDS": "0.25"}
    with ScriptedSite(SITE) as site, serving(site.port, tmp_path, env=env) as proxy:

        def status(path: str, caller: Caller, method: str = "GET") -> int:
            return ask(proxy.port, request(proxy.port, path, caller, method=method), method=method).status

        for path, (original, token) in ORIGINAL.items():
            sent = 503 if switched else original
            assert [status(path, caller) for caller in (CHROME, CURL, JSON)] == [sent] * 3
            assert status(path, JSON, "HEAD") == sent
            error = json.loads(ask(proxy.port, request(proxy.port, path, JSON)).content)["error"]
            assert error.get("original_status") == (original if switched else None)
            lines = [line for line in proxy.exchanges(at_least=5) if line["path"] == path]
            assert {(line["original_status"], line["status"], line["failure"]) for line in lines} == {
                (original if switched else 0, sent, token)
            }
            counted = {"status": str(original), "source": "proxy"}
            assert proxy.metric("saywhy_errors_total", **counted) == 5
        assert [status("/own502", CURL), status("/own504", CURL), status("/own502", JSON)] == [502, 504, 502]
        assert proxy.metric("saywhy_errors_total", status="503") == 0
