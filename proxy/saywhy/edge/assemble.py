"""Settings and rule packs -> Normalizer: the one factory, for a start and for every reload alike."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from saywhy.core.normalize import Normalizer
from saywhy.core.policy import Routes
from saywhy.core.rules import Rulebook
from saywhy.core.scrub import Scrubber
from saywhy.edge.fingerprint import Prints, folded, prints
from saywhy.edge.packs import RuleErrors, UnknownNames, in_order, load_rulebook, shipped_rules
from saywhy.edge.proof import disproved
from saywhy.edge.settings import Loaded, Problem, Settings, SettingsError, to_routes
from saywhy.edge.settings.faults import Path as Key
from saywhy.edge.settings.faults import origin_of
from saywhy.edge.trust import files


def rule_folders(settings: Settings) -> tuple[Path, ...]:
    """The folders of the set: the operator's first, since the first rule that matches wins."""
    own = settings.rules.folders
    return (*own, shipped_rules()) if settings.rules.shipped else own


def assemble(settings: Settings, origins: Mapping[Key, str] | None = None) -> Normalizer:
    """Read all rules, try the examples beside the operator's, and build the set. `origins` says where each setting was
    written, for the messages. Raises SettingsError or `packs.RuleErrors`, each with every problem.
    """
    rules, written = settings.rules, origins or {}
    try:
        rulebook = load_rulebook(
            rule_folders(settings), disable=rules.disable, shadow=rules.shadow, packs=rules.packs
        )
    except UnknownNames as unknown:
        raise SettingsError(_unknown_names(settings, unknown, written)) from None
    problems = list(_unknown_packs(settings, rulebook, written))
    if problems:
        raise SettingsError(problems)
    # The shipped packs were proven when this version was made.
    wrong = list(disproved(rulebook, rules.folders))
    if wrong:
        raise RuleErrors(wrong)
    return Normalizer(
        rulebook, _routes(settings, rulebook), Scrubber(), hold_bytes=settings.limits.held_body_bytes
    )


def _routes(settings: Settings, rulebook: Rulebook) -> Routes:
    """The routes, each with every pack that is in force on it, in order."""
    routes = to_routes(settings).routes
    return Routes(
        tuple(replace(route, packs=in_order(route.packs or (), rulebook.rules)) for route in routes)
    )


def _unknown_names(
    settings: Settings, unknown: UnknownNames, origins: Mapping[Key, str]
) -> Iterator[Problem]:
    """The names that `rules` gives and nothing has, each with the place where it was written."""
    for key, name, remedy in unknown.names:
        setting = key.removeprefix("rules.")
        place = getattr(settings.rules, setting).index(name)
        where = origin_of(("rules", setting, place), origins)
        yield Problem(where, key, f"names {name!r}, which is not among the rules; {remedy}")


def _unknown_packs(settings: Settings, rulebook: Rulebook, origins: Mapping[Key, str]) -> Iterator[Problem]:
    """Packs that routes name and nobody has: a misspelt pack would be a protection that silently is not there."""
    known = {
        *rulebook.packs,
        *settings.rules.disable,
    }  # a pack that is switched off as a whole is not in the book
    for number, route in enumerate(settings.routes):
        for place, word in enumerate(route.packs):
            if word not in known:
                near = get_close_matches(word, known, n=1)
                remedy = (
                    f"did you mean {near[0]}?" if near else f"there are {', '.join(sorted(known)) or 'none'}."
                )
                where = origin_of(("routes", number, "packs", place), origins)
                yield Problem(
                    where,
                    f"routes[{number}].packs",
                    f"names the pack {word!r}, which is not among the rules; {remedy}",
                )


def watched(loaded: Loaded) -> Prints:
    """What stands in the settings file, of the operator's rules, and of the certificates on both sides. Shipped rules change
    with the version alone.
    """
    settings = loaded.settings
    certificates = [path for upstream in settings.upstreams.values() for path in files(upstream)]
    file = [loaded.file] if loaded.file else []
    return prints([*file, *settings.rules.folders, *certificates, *settings.tls.files])


def digest(loaded: Loaded) -> str:
    """The hash of what is `watched`."""
    return folded(watched(loaded))


def identity(loaded: Loaded, seen: str) -> str:
    """The hash of a set: of its files (`seen`), and of what environment and flags made of them. Shown by config_info."""
    merged = loaded.settings.model_dump_json().encode()
    return hashlib.sha256(seen.encode() + merged).hexdigest()[:16]
