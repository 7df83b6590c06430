"""The admin port's pages, over a real socket."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer
from prometheus_client.registry import CollectorRegistry

from saywhy.edge.meter import Meter
from saywhy.serve.admin import admin_application


class Process:
    """A process as the admin port sees it."""

    def __init__(self) -> None:
        self.not_ready = ""
        self.problems: tuple[str, ...] = ()
        self.needs_restart: tuple[str, ...] = ()
        self.asked: list[str] = []
        self.meter = Meter(version="1")

    @property
    def registry(self) -> CollectorRegistry:
        """What /metrics shows."""
        return self.meter.registry

    async def refresh(self) -> None:
        """What it shows is what it counts."""

    async def reload(self, why: str) -> tuple[str, ...]:
        """Remembers who asked."""
        self.asked.append(why)
        return self.problems


Client = Callable[[Any], Awaitable[TestClient[Any, Any]]]


@pytest.fixture
def process() -> Process:
    """A ready one."""
    return Process()


@pytest.fixture
async def admin(process: Process, aiohttp_client: Client) -> TestClient[Any, Any]:
    """Its admin port."""
    return await aiohttp_client(TestServer(admin_application(process)))


async def test_health_is_there_whatever_readiness_says(admin: TestClient[Any, Any], process: Process) -> None:
    for why, status in (("", 200), ("Stopping.", 503)):
        process.not_ready = why
        ready = await admin.get("/-/ready")
        assert (ready.status, await ready.text()) == (status, f"{why or 'Ready.'}\n")
        assert (await admin.get("/-/healthy")).status == 200


async def test_reload(admin: TestClient[Any, Any], process: Process) -> None:
    answer = await admin.post("/-/reload")
    assert (answer.status, await answer.text()) == (200, "Reloaded.\n")
    process.problems = ("a.yaml:1: x is wrong.", "b.yaml:2: y is wrong.")
    answer = await admin.post("/-/reload")
    assert answer.status == 500
    assert (await answer.text()).splitlines()[1:] == list(process.problems)
    answer = await admin.post("/-/reload", headers={"Accept": "application/json"})
    assert (answer.status, await answer.json()) == (
        500,
        {"ok": False, "problems": list(process.problems), "needs_restart": []},
    )
    assert process.asked == ["/-/reload"] * 3


RESTARTS = [
    (("listen",), "Reloaded. A restart is needed before listen takes effect.\n"),
    (("listen", "log"), "Reloaded. A restart is needed before listen and log take effect.\n"),
    (("listen", "log", "tls.listen"), "Reloaded. A restart is needed before listen, log and tls.listen take effect.\n"),
]  # fmt: skip


@pytest.mark.parametrize(("waiting", "said"), RESTARTS)
async def test_a_reload_says_what_it_could_not_change(
    admin: TestClient[Any, Any], process: Process, waiting: tuple[str, ...], said: str
) -> None:
    process.needs_restart = waiting
    assert await (await admin.post("/-/reload")).text() == said
    answer = await admin.post("/-/reload", headers={"Accept": "application/json"})
    assert (await answer.json())["needs_restart"] == list(waiting)


async def test_a_link_never_reloads(admin: TestClient[Any, Any], process: Process) -> None:
    answer = await admin.get("/-/reload")
    assert (answer.status, answer.headers["Allow"]) == (405, "POST")
    assert process.asked == []


@pytest.mark.parametrize(
    ("accept", "media"),
    [("*/*", "text/plain"), ("application/openmetrics-text; version=1.0.0", "application/openmetrics-text")],
)
async def test_metrics(admin: TestClient[Any, Any], accept: str, media: str) -> None:
    answer = await admin.get("/metrics", headers={"Accept": accept})
    assert answer.content_type == media
    assert "saywhy_build_info{" in await answer.text()


async def test_the_front_page_names_every_path(admin: TestClient[Any, Any], process: Process) -> None:
    answer = await admin.get("/")
    assert answer.status == 200
    routes = {
        (one.method, one.resource.canonical)
        for one in admin_application(process).router.routes()
        if one.resource
    }
    named = {tuple(line.split()[:2]) for line in (await answer.text()).splitlines()[1:]}
    assert named == {(method, path) for method, path in routes if method != "HEAD" and path != "/"}


@pytest.mark.parametrize("path", ["/metric", "/-/nothing", "/-/healthy/../x"])
async def test_anything_else_is_a_404_that_names_what_there_is(
    admin: TestClient[Any, Any], path: str
) -> None:
    answer = await admin.get(path)
    assert answer.status == 404
    assert (await answer.text()).startswith("404 Not Found\n\nsaywhy, ")
    assert answer.headers["Cache-Control"] == "no-store"
