"""The demo's shop, without the proxy: it fails as the tour says, and its secrets are where they were planted."""

from __future__ import annotations

import pytest
from aiohttp.test_utils import TestClient
from pytest_aiohttp.plugin import AiohttpClient

from saywhy.demo import pages, shop
from saywhy.demo.stops import STOPS, WAREHOUSE, Stop

FAILS_WITH = {"/cart": 200, "/account": 302}


@pytest.fixture
async def site(aiohttp_client: AiohttpClient) -> TestClient:  # type: ignore[type-arg]
    return await aiohttp_client(shop.build())


@pytest.mark.parametrize(
    "stop", [stop for stop in STOPS if not stop.path.startswith(WAREHOUSE)], ids=lambda stop: stop.title
)
async def test_every_stop_sends_what_the_tour_speaks_of(site: TestClient, stop: Stop) -> None:  # type: ignore[type-arg]
    answer = await site.request(stop.method, stop.path, data=stop.body or None, allow_redirects=False)
    assert answer.status == FAILS_WITH.get(stop.path, stop.status)


async def test_the_secrets_stand_in_the_crash_and_nowhere_else(site: TestClient) -> None:  # type: ignore[type-arg]
    for path in {stop.path for stop in STOPS if stop.method == "GET"}:
        text = await (await site.get(path, allow_redirects=False)).text()
        assert [secret in text for secret in pages.PLANTED] == [path == "/orders/7"] * len(pages.PLANTED)


def test_the_lines_to_paste() -> None:
    by_path = {
        stop.path: stop.curl("http://127.0.0.1:8080") for stop in STOPS if stop.accept == "application/json"
    }
    assert by_path["/prices"] == "curl -i -H 'Accept: application/json' 'http://127.0.0.1:8080/prices'"
    assert by_path["/cart"].endswith("-d 'sku=lamp' 'http://127.0.0.1:8080/cart'")
    assert "-H 'Content-Type: application/json' -d '{\"quantity\": 0}'" in by_path["/api/orders"]
