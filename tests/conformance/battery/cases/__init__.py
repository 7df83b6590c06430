"""All cases, by theme."""

from battery.case import Case
from battery.cases import (
    failures,
    fields,
    forwarding,
    hosts,
    interim,
    limits,
    pipelining,
    request_chunks,
    request_framing,
    response_fields,
    response_framing,
    targets,
)

THEMES: dict[str, tuple[Case, ...]] = {
    "request framing": request_framing.CASES,
    "request chunks": request_chunks.CASES,
    "request fields": fields.CASES,
    "hosts": hosts.CASES,
    "targets, methods, versions": targets.CASES,
    "forwarding": forwarding.CASES,
    "pipelining": pipelining.CASES,
    "limits": limits.CASES,
    "response framing": response_framing.CASES,
    "response fields": response_fields.CASES,
    "interim answers and upgrades": interim.CASES,
    "failures": failures.CASES,
}
CASES: tuple[Case, ...] = tuple(case for theme in THEMES.values() for case in theme)
