"""A limit on file descriptors: callers get what the rest does not need, and the port of the operators stays open."""

from __future__ import annotations

import contextlib
import resource
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from stage.callers import CURL, request
from stage.scripted import ScriptedSite, page
from stage.serving import Saywhy, serving, wait_until
from stage.wire import Torn, ask

from saywhy.edge.settings import Limits, Settings
from saywhy.serve.descriptors import affordable, doubt, take_enough, visitors

FILES = 96
UNDER = ["sh", "-c", f'ulimit -n {FILES}; exec "$@"', "sh"]


@pytest.mark.parametrize(
    ("files", "callers", "probes"),
    [
        (resource.RLIM_INFINITY, 10_000, 64),
        (1_048_576, 10_000, 64),
        (10_384, 10_000, 64),
        (10_383, 9_999, 64),
        (1024, 640, 64),
        (64, 22, 16),
        (3, 1, 1),
    ],
)
def test_callers_get_what_the_others_leave(
    monkeypatch: pytest.MonkeyPatch, files: int, callers: int, probes: int
) -> None:
    settings = Settings.model_validate({"upstreams": {"default": "http://127.0.0.1:1"}})
    monkeypatch.setattr(resource, "getrlimit", lambda _: (files, files))
    assert affordable(settings).caller_connections == callers
    assert visitors() == probes
    assert bool(doubt(settings)) == (callers < Limits().caller_connections)


@contextlib.contextmanager
def crowd(port: int, count: int) -> Iterator[list[socket.socket]]:
    """So many who connect and ask nothing."""
    with contextlib.ExitStack() as all_of_them:
        yield [
            all_of_them.enter_context(socket.create_connection(("127.0.0.1", port), 5)) for _ in range(count)
        ]


def told(proxy: Saywhy) -> list[tuple[str, str]]:
    """What the process said, word and sentence, its greeting aside."""
    return [(event["event"], event["message"]) for event in proxy.log() if "event" in event][1:]


def _served(proxy: Saywhy) -> bool:
    with contextlib.suppress(OSError, Torn):
        return ask(proxy.port, request(proxy.port, "/bread", CURL)).status == 200
    return False


@pytest.mark.parametrize("workers", [1, 2])
def test_a_crowd_shuts_nobody_out_who_is_to_see_it(tmp_path: Path, workers: int) -> None:
    with (
        ScriptedSite({"/bread": page("200 OK", b"bread")}) as bakery,
        serving(bakery.port, tmp_path, arguments=["--workers", str(workers)], under=UNDER) as proxy,
    ):
        with crowd(proxy.port, 2 * FILES):
            assert proxy.get("/-/healthy")[0] == 200
            assert proxy.get("/-/reload", method="POST")[0] == 200
        assert wait_until(lambda: _served(proxy)), "the crowd is gone"
        with crowd(proxy.admin, 20) as first, crowd(proxy.admin, FILES - 20):
            assert proxy.get("/-/ready")[0] == 200
            assert ask(proxy.port, request(proxy.port, "/bread", CURL)).status == 200
            assert first[0].recv(1) == b"", "whoever was there for longest makes room"
        with socket.create_connection(("127.0.0.1", proxy.admin), 5) as scanner:
            scanner.sendall(b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\n\r\n")
            assert scanner.recv(12) == b"HTTP/1.0 400"
        doubted, *others = told(proxy)
        assert f"a process may open {FILES} files" in doubted[1]
        # The loop itself may say once that no descriptor was left to accept with.
        assert [event for event, _ in others if event != "logged"] == ["reloaded"], others
        assert len(others) < 4, others
        assert doubted[0] == "doubt"


@pytest.mark.parametrize(
    ("hard", "soft"), [(resource.RLIM_INFINITY, 20_384), (1_048_576, 20_384), (4096, 4096), (1024, 1024)]
)
def test_the_soft_limit_is_raised_as_far_as_it_is_needed(
    monkeypatch: pytest.MonkeyPatch, hard: int, soft: int
) -> None:
    settings = Settings.model_validate({"upstreams": {"default": "http://127.0.0.1:1"}})
    wanted: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: wanted.append(limits))
    take_enough(settings)
    assert wanted == [(soft, hard)]
