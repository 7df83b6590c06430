"""The choice of a route, and what a route lets through."""

from __future__ import annotations

import pytest

from saywhy.core.policy import Policy, Routes, without_dots

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


@pytest.mark.parametrize("host", ["shop.example.", "shop.example.:8080", "a.shop.example."])
def test_a_name_written_absolute_is_the_same_name(host: str) -> None:
    route = ROUTES.pick(host, "/buy")
    assert route is not None
    assert route.name == "shop"
    assert Policy(host=("shop.example.",)).matches("shop.example", "/")


DOTTED = [
    "/api/raw/../x", "/api/raw/%2e%2e/x", "/api/raw/.%2E/x", "/api/raw/..%2fx", "/api/raw/..;a/x", "/api/raw/./x",
    "/api/raw/..", "/api/raw/%252e%252e/x", "/api/raw/..%5cx", "/api/raw/..\\x",
]  # fmt: skip


@pytest.mark.parametrize("path", DOTTED)
def test_a_path_with_dot_segments_is_no_passthrough_path(path: str) -> None:
    assert not Policy(passthrough_paths=("/api/raw/*", "*")).passes_through(path)


@pytest.mark.parametrize(
    "path", ["/api/raw/x", "/api/raw/a..b", "/api/raw/.well-known", "/api/raw/...", "/api/raw/x%2ey"]
)
def test_other_dots_are_part_of_a_name(path: str) -> None:
    assert Policy(passthrough_paths=("/api/raw/*",)).passes_through(path)
    assert Policy(path=("/api/raw/*",)).matches("", path)


@pytest.mark.parametrize(
    ("path", "read"),
    [
        ("/api/raw/../x", "/api/x"),
        ("/api/raw/%2e%2e/%2e%2e/%2E%2E/x", "/x"),
        ("/api/./x", "/api/x"),
        ("/api/raw/..", "/api/"),
        ("/..", "/"),
        ("/a%2eb", "/a%2eb"),
    ],
)
def test_routes_are_chosen_by_the_path_that_the_site_will_see(path: str, read: str) -> None:
    assert without_dots(path) == read
    assert Policy(path=(read,)).matches("", path)
