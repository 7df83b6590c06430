"""What several tests of the core stand on."""

from __future__ import annotations

import pytest

from saywhy.core.page import html


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sources that lxml was given."""
    sources: list[str] = []
    plant = html.plant

    def counting(source: str) -> html.Tree:
        sources.append(source)
        return plant(source)

    monkeypatch.setattr(html, "plant", counting)
    return sources
