"""The battery as a fixture: all cases once, through one `saywhy serve`, before the first of their tests."""

import asyncio

import pytest
from battery.cases import CASES
from battery.peers import PEERS
from battery.run import LANES, Result, battery


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Result]:
    """Case name -> what became of it."""
    folder = tmp_path_factory.mktemp("battery")

    found = asyncio.run(battery(CASES, lambda where: PEERS["saywhy"].start(where, folder), lanes=LANES))
    return {result.case.name: result for result in found}
