"""The process and its sites: certificates from the settings, an unverified site that is told of, one that goes and comes."""

from __future__ import annotations

import json
import signal
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from certificates import Pair, authority, issued
from stage.callers import agent, request
from stage.processes import free_port
from stage.serving import Saywhy, run, serving, wait_until
from stage.wire import ask

PROBLEM = agent("application/problem+json")


@contextmanager
def _site(port: int, context: ssl.SSLContext | None = None) -> Iterator[int]:
    """A site that says `ok` to whoever asks, once a connection."""
    with socket.create_server(("127.0.0.1", port)) as listener:

        def serve() -> None:
            while True:
                try:
                    accepted, _ = listener.accept()
                except OSError:
                    return
                accepted.settimeout(5)
                with suppress(OSError), accepted:
                    spoken = context.wrap_socket(accepted, server_side=True) if context else accepted
                    with spoken:
                        spoken.recv(65536)
                        spoken.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        thread.join(10)


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Pair]:
    folder = tmp_path_factory.mktemp("pairs")
    ca = authority(folder)
    return {"ca": ca, "site": issued(folder, ca, "site", "DNS:shop.example")}


def _status(proxy: Saywhy) -> int:
    return ask(proxy.port, request(proxy.port, "/", PROBLEM)).status


def _events(proxy: Saywhy) -> list[str]:
    return [json.loads(line)["message"] for line in proxy.err.read_text().splitlines()]


def test_a_sites_ca_is_read_beside_the_settings_and_anew_when_it_changes(
    tmp_path: Path, pairs: dict[str, Pair]
) -> None:
    (tmp_path / "ca.pem").write_bytes(authority(tmp_path, "other").certificate.read_bytes())
    settings = tmp_path / "saywhy.yaml"
    with _site(0, pairs["site"].context()) as port:
        url = f"https://127.0.0.1:{port}"
        settings.write_text(
            f"upstreams:\n  default:\n    url: {url}\n    ca_file: ca.pem\n    server_name: shop.example\n"
        )
        with serving(url, tmp_path, config=settings) as proxy:
            assert _status(proxy) == 502
            assert wait_until(
                lambda: any("comes from a CA that is not trusted here" in event for event in _events(proxy))
            )
            (tmp_path / "ca.pem").write_bytes(pairs["ca"].certificate.read_bytes())
            proxy.signal(signal.SIGHUP)
            assert wait_until(lambda: _status(proxy) == 200)
            (tmp_path / "ca.pem").write_text("gone bad")
            proxy.signal(signal.SIGHUP)
            assert wait_until(lambda: any("stay in force" in event for event in _events(proxy)))
            assert _status(proxy) == 200  # the old set stays


def test_an_unverified_site_is_told_of_at_every_start(tmp_path: Path, pairs: dict[str, Pair]) -> None:
    with _site(0, pairs["site"].context()) as port:
        env = {"SAYWHY_UPSTREAMS__DEFAULT__VERIFY": "false"}
        with serving(f"https://127.0.0.1:{port}", tmp_path, env=env) as proxy:
            assert _status(proxy) == 200
            (told,) = [event for event in _events(proxy) if "verify" in event]
            assert told.startswith("SAYWHY_UPSTREAMS__DEFAULT__VERIFY: upstreams.default.verify is false")


def test_files_that_cannot_be_used_keep_it_from_starting(tmp_path: Path) -> None:
    settings = tmp_path / "saywhy.yaml"
    settings.write_text("upstreams:\n  shop:\n    url: https://shop.example\n    ca_file: none.pem\n")
    sentence = f"{settings}:4: upstreams.shop.ca_file names {tmp_path / 'none.pem'}, which cannot be read"
    for command in ("serve", "check"):
        arguments = ["serve", "--config", settings] if command == "serve" else ["check", settings]
        done = run(*arguments)
        assert done.returncode != 0
        assert sentence in " ".join((done.stdout + done.stderr).split())


def test_a_site_that_is_away_is_seen_in_metrics_and_events_and_by_agents(tmp_path: Path) -> None:
    port = free_port()
    env = {"SAYWHY_UPSTREAMS__DEFAULT__BREAKER_FAILURES": "3"}
    with serving(port, tmp_path, env=env) as proxy:
        assert proxy.metric("saywhy_upstream_up", upstream="default") == 1
        assert proxy.metric("saywhy_upstream_openings_total", upstream="default") == 0
        answers = [ask(proxy.port, request(proxy.port, "/", PROBLEM)) for _ in range(5)]
        assert [answer.status for answer in answers] == [502, 502, 502, 503, 503]
        last = answers[-1]
        assert last.field("proxy-status") == "saywhy; error=destination_unavailable"
        assert 1 <= int(last.field("retry-after")) <= 2
        assert proxy.metric("saywhy_upstream_up", upstream="default") == 0
        assert proxy.metric("saywhy_upstream_openings_total", upstream="default") == 1
        with _site(port):
            assert wait_until(lambda: proxy.metric("saywhy_upstream_up", upstream="default") == 1)
            assert _status(proxy) == 200
        told = [event for event in _events(proxy) if event.startswith("Upstream default")]
        assert [" is away: " in told[0], " is back after " in told[1], len(told)] == [True, True, 2]
