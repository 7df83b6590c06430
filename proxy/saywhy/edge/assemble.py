"""Settings and rule packs -> Normalizer: the one factory, for a start and for every reload alike."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

from saywhy.core.normalize import Normalizer
from saywhy.core.rules import Rulebook
from saywhy.core.scrub import Scrubber
from saywhy.edge.fingerprint import fingerprint
from saywhy.edge.packs import RuleErrors, load_rulebook, shipped_rules
from saywhy.edge.proof import disproved
from saywhy.edge.settings import Loaded, Problem, Settings, SettingsError, to_routes


def rule_folders(settings: Settings) -> tuple[Path, ...]:
    """The folders of the set: the operator's first, since the first rule that matches wins."""
    own = settings.rules.folders
    return (*own, shipped_rules()) if settings.rules.shipped else own


def assemble(settings: Settings) -> Normalizer:
    """Read all rules, try the examples beside the operator's, and build the set. Raises SettingsError or
    `packs.RuleErrors`, each with every problem.
    """
    rules = settings.rules
    rulebook = load_rulebook(rule_folders(settings), disable=rules.disable, shadow=rules.shadow, packs=rules.packs)
    problems = list(_unknown_packs(settings, rulebook))
    if problems:
        raise SettingsError(problems)
    # The shipped packs were proven when this version was made.
    wrong = list(disproved(rulebook, rules.folders))
    if wrong:
        raise RuleErrors(wrong)
    return Normalizer(rulebook, to_routes(settings), Scrubber(), hold_bytes=settings.limits.held_body_bytes)


def _unknown_packs(settings: Settings, rulebook: Rulebook) -> Iterable[Problem]:
    """Packs that routes name and nobody has: a misspelt pack would be a protection that silently is not there."""
    for place, route in enumerate(settings.routes):
        for word in route.packs or ():
            if word not in rulebook.packs:
                near = get_close_matches(word, rulebook.packs, n=1)
                remedy = f"did you mean {near[0]}?" if near else f"there are {', '.join(sorted(rulebook.packs)) or 'none'}."
                yield Problem("", f"routes[{place}].packs", f"names the pack {word!r}, which is not among the rules; {remedy}")


def digest(loaded: Loaded) -> str:
    """The hash of the settings file and of the operator's rules. Shipped rules change with the version alone."""
    return fingerprint([*([loaded.file] if loaded.file else []), *loaded.settings.rules.folders])


def identity(loaded: Loaded) -> str:
    """The hash of the set in force: files, and what environment and flags made of them. Shown by config_info."""
    merged = loaded.settings.model_dump_json().encode()
    return hashlib.sha256(digest(loaded).encode() + merged).hexdigest()[:16]
