"""Everything that a set is made of beside its settings: rules, certificates, keys. Whatever is wrong with any of it is
told in one go.
"""

from __future__ import annotations

import ssl

from saywhy.core.normalize import Normalizer
from saywhy.edge.assemble import assemble
from saywhy.edge.packs import RuleErrors
from saywhy.edge.settings import HalfUsable, Loaded, Problem, SettingsError, Unpaired
from saywhy.edge.trust import require_usable
from saywhy.serve.certificates import callers_tls


def put_together(loaded: Loaded) -> tuple[Normalizer, ssl.SSLContext | None]:
    """What agents' errors are read with, and the context for callers. Raises SettingsError with every problem,
    Unpaired where all that is wrong is that certificates and keys do not belong together.
    """
    problems: list[Problem] = []
    unpaired = True
    normalizer, tls = None, None
    try:
        tls = callers_tls(loaded)
    except SettingsError as wrong:
        problems += wrong.problems
        unpaired = isinstance(wrong, Unpaired)
    try:
        require_usable(loaded.settings, loaded.origins)
    except SettingsError as wrong:
        problems += wrong.problems
        unpaired = unpaired and isinstance(wrong, Unpaired)
    try:
        normalizer = assemble(loaded.settings, loaded.origins)
    except SettingsError as wrong:
        problems += wrong.problems
        unpaired = False
    except RuleErrors as wrong:
        unpaired = False
        problems += [Problem("", "", line) for line in str(wrong).splitlines()]
    if problems or normalizer is None:
        raise (Unpaired if unpaired else SettingsError)(problems)
    return normalizer, tls


def with_files(wrong: SettingsError) -> SettingsError:
    """`wrong`, and what is wrong with the files that the rest of the settings names."""
    if not isinstance(wrong, HalfUsable):
        return wrong
    try:
        put_together(wrong.rest)
    except SettingsError as more:
        return wrong.joined_by(more.problems)
    return wrong
