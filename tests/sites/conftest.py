"""Each site is started once, with a recording wire and a saywhy of its own before it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest
from stage.forwarder import Forwarder
from stage.serving import serving
from stage.sites import SITES, Missing, Room
from stage.stand import OpenStand, Stand


@pytest.fixture(scope="session")
def stand(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenStand]:
    """Site name -> its stand; a site whose program is missing is a skip that names it.

    Fields of the environment given beside the name make another proxy before the same site.
    """
    sites: dict[str, int] = {}
    stands: dict[tuple[str, ...], Stand] = {}
    missing: dict[str, str] = {}
    cache = request.config.cache
    assert cache is not None
    room = cache.mkdir("sites")
    with contextlib.ExitStack() as stack:

        def open_stand(name: str, **settings: str) -> Stand:
            if name not in sites and name not in missing:
                try:
                    sites[name] = stack.enter_context(SITES[name](Room(tmp_path_factory.mktemp(name), room)))
                except Missing as why:
                    missing[name] = f"{name}: {why}"
            if name in missing:
                pytest.skip(missing[name])
            key = (name, *settings.values())
            if key not in stands:
                wire = stack.enter_context(Forwarder(sites[name]))
                proxy = serving(wire.port, tmp_path_factory.mktemp(name), env=settings)
                stands[key] = Stand(wire, stack.enter_context(proxy))
            return stands[key]

        yield open_stand
