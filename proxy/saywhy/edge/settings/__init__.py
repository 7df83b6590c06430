"""The settings: what an operator may write, and reading it from a file, the environment and flags.

model     what a section is
upstreams the models of one site; sections the others: names, units, defaults, why
addresses listen addresses
listening listeners, TLS to callers, workers
faults    what is wrong, in sentences with file, line, key and remedy
crosscheck what spans sections; settings -> Routes
globs     globs of routes that match nothing, ever
remainder what is left without the mistakes, so that all are found in one go
sources   the layers, and the origin of every value
reference the generated table of all settings

Route through it: `load` -> `Loaded` (settings and origins), or `SettingsError`.
"""

from saywhy.edge.settings.addresses import Address, parse_address
from saywhy.edge.settings.crosscheck import to_routes
from saywhy.edge.settings.faults import Problem, SettingsError, Unpaired
from saywhy.edge.settings.listening import Tls
from saywhy.edge.settings.sections import (
    Deadlines,
    Forwarding,
    Limits,
    Log,
    Route,
    Rules,
    Settings,
)
from saywhy.edge.settings.sources import HalfUsable, Loaded, load
from saywhy.edge.settings.upstreams import Upstream

__all__ = [
    "Address",
    "Deadlines",
    "Forwarding",
    "HalfUsable",
    "Limits",
    "Loaded",
    "Log",
    "Problem",
    "Route",
    "Rules",
    "Settings",
    "SettingsError",
    "Tls",
    "Unpaired",
    "Upstream",
    "load",
    "parse_address",
    "to_routes",
]
