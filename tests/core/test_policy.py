"""The choice of a route, and what a route lets through."""

from __future__ import annotations

import pytest

from saywhy.core.policy import Policy, Routes

SHOP = Policy(name="shop", host=("shop.example", "*.shop.example"), path=("/buy*",))
API = Policy(name="api", path=("/api/*",))
REST = Policy(name="rest")
ROUTES = Routes((SHOP, API, REST))


@pytest.mark.parametrize(
    ("host", "path", "name"),
    [
        ("shop.example", "/buy/1", "shop"),
        ("shop.example:8080", "/buy", "shop"),
        ("a.shop.example", "/buy", "shop"),
        ("shop.example", "/", "rest"),
        ("other.example", "/api/x", "api"),
        ("other.example", "/buy", "rest"),
        ("shop.example.evil.example", "/buy", "rest"),
        ("", "/api/", "api"),
    ],
)
def test_the_first_route_that_matches_wins(host: str, path: str, name: str) -> None:
    route = ROUTES.pick(host, path)
    assert route is not None
    assert route.name == name


def test_no_route_is_meant_for_it() -> None:
    assert Routes((SHOP,)).pick("other.example", "/") is None


def test_a_single_unconditional_route_needs_no_look() -> None:
    assert Routes((REST,)).only is REST
    assert Routes().only == Policy()
    assert ROUTES.only is None


@pytest.mark.parametrize(
    ("path", "through"), [("/legacy/a", True), ("/legacy", False), ("/x.php", True), ("/x.phtml", False)]
)
def test_passthrough_paths(path: str, through: bool) -> None:
    assert Policy(passthrough_paths=("/legacy/*", "*.php")).passes_through(path) is through
