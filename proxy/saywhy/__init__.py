"""saywhy: structured errors for AI agents, in front of a site that nobody changes.

The public names: `from_response` reads one response as an envelope; `Normalizer` decides about whole exchanges;
`load_rulebook` reads rule packs; `Envelope` is the answer. They are loaded when first asked for, so that `import saywhy`
costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from saywhy.core.contract.envelope import Envelope as Envelope
    from saywhy.core.normalize import Normalizer as Normalizer
    from saywhy.edge.packs import load_rulebook as load_rulebook
    from saywhy.homes.reading import from_response as from_response

__all__ = ["Envelope", "Normalizer", "from_response", "load_rulebook"]

_HOMES = {
    "Envelope": "saywhy.core.contract.envelope",
    "Normalizer": "saywhy.core.normalize",
    "from_response": "saywhy.homes.reading",
    "load_rulebook": "saywhy.edge.packs",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
