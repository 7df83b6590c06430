"""Which route a request takes: by its host in all its spellings, and by its path as the site will read it."""

from __future__ import annotations

import pytest

from saywhy.core.policy import Policy, Routes

ROUTES = Routes(
    (
        Policy(name="loopback", host=("[::1]",)),
        Policy(name="api", host=("shop.example",), path=("/api/*", "/graphql")),
        Policy(name="shop", host=("shop.example", "*.shop.example")),
        Policy(name="v6", host=("[2001:db8::*]",)),
        Policy(name="rooted", host=("rooted.example.",)),
        Policy(name="files", path=("/files/*",)),
    )
)

PICKED = [
    ("shop.example", "/", "shop"),
    ("shop.example:8443", "/", "shop"),
    ("shop.example:", "/", "shop"),
    ("shop.example.", "/", "shop"),
    ("shop.example.:443", "/", "shop"),
    ("www.shop.example", "/", "shop"),
    ("a.b.shop.example:80", "/", "shop"),
    ("shop.example", "/api/1", "api"),
    ("shop.example", "/graphql", "api"),
    ("shop.example", "/api", "shop"),
    ("shop.example", "/graphql/x", "shop"),
    ("shop.example", "/api/../admin", "shop"),  # the site reads /admin
    ("shop.example", "/x/../api/1", "api"),
    ("www.shop.example", "/api/1", "shop"),
    ("[::1]", "/", "loopback"),
    ("[::1]:8080", "/", "loopback"),
    ("[::1]:", "/", "loopback"),
    ("[2001:db8::7]:80", "/", "v6"),
    ("rooted.example", "/", "rooted"),
    ("rooted.example.:80", "/", "rooted"),
    ("other.example", "/files/x", "files"),
    ("", "/files/x", "files"),  # HTTP/1.0 without Host
    ("notshop.example", "/", None),
    ("shop.example.evil.example", "/", None),
    ("shop.example:x", "/", None),
    (":", "/", None),
    (":1", "/", None),
    ("1", "/", None),
    ("[::2]", "/", None),
    ("xshop.example", "/api/1", None),
]


@pytest.mark.parametrize(("host", "path", "name"), PICKED)
def test_the_route_of_a_request(host: str, path: str, name: str | None) -> None:
    picked = ROUTES.pick(host, path)
    assert (picked.name if picked else None) == name
