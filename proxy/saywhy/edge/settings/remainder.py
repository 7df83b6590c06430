"""What is left of settings once their mistakes are taken out, so that all mistakes are told in one go: a misspelt key must
not hide an unknown upstream or a file that is not there. Nothing is ever served from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from pydantic import ValidationError

from saywhy.edge.settings.faults import Path, Problem, dotted, likely, problems_from
from saywhy.edge.settings.sections import Settings

_ROUNDS = 4
"""A key under its right name may hold mistakes of its own."""

_A_SITE = {"url": "http://faulty.invalid"}
_A_PORT = "127.0.0.1:0"
_HTTPS = {"listen": _A_PORT, "certificate_file": "faulty"}


class Remainder(NamedTuple):
    """`settings` without what is wrong, None where too much is; all `problems`; `origins` of what is left.

    About the keys in `faulty`, and what is under them, no more can be said. Those in `renamed` were written under another
    name, and files in them were not looked for beside the settings file.
    """

    settings: Settings | None
    problems: tuple[Problem, ...]
    origins: Mapping[Path, str]
    faulty: frozenset[str]
    renamed: frozenset[str]


def take_out_mistakes(tree: Mapping[str, Any], origins: Mapping[Path, str]) -> Remainder:
    """`tree` as Settings, or what of it is. `problems` is empty where all is well."""
    work = _Work(dict(tree), dict(origins))
    settings = None
    for _ in range(_ROUNDS):
        try:
            settings = Settings.model_validate(work.tree)
            break
        except ValidationError as wrong:
            faults = wrong.errors(include_url=False)
            found = problems_from(faults, work.origins)
            work.problems += [one for _, one in found if one not in work.problems]
            # Each is taken out, also after one that leaves nothing to say.
            mended = [work.mend(path, fault["type"]) for (path, _), fault in zip(found, faults, strict=True)]
            if not all(mended):
                break
    return Remainder(
        settings, tuple(work.problems), work.origins, frozenset(work.faulty), frozenset(work.renamed)
    )


def apart_from(keys: Iterable[str], problems: Iterable[Problem]) -> list[Problem]:
    """`problems` without those at or under one of `keys`."""
    known = tuple(keys)
    return [
        one
        for one in problems
        if not any(one.key == key or one.key.startswith((f"{key}.", f"{key}[")) for key in known)
    ]


def unit_of(path: Path) -> str:
    """The key of the smallest part that can only be judged as a whole: a site, a route, HTTPS, else the key itself."""
    return dotted(
        path[: {"upstreams": 2, "routes": 2, "tls": 1}.get(str(path[0]), len(path))] if path else path
    )


class _Work:
    """The tree while mistakes are taken out of it."""

    def __init__(self, tree: dict[str, Any], origins: dict[Path, str]) -> None:
        self.tree: dict[str, Any] = _copy(tree)
        self.origins = origins
        self.problems: list[Problem] = []
        self.faulty: set[str] = set()
        self.renamed: set[str] = set()

    def mend(self, path: Path, kind: str) -> bool:
        """Take out what is wrong at `path`. False where nothing could be said about the rest then."""
        if kind == "extra_forbidden" and self._rename(path):
            return True
        self.faulty.add(unit_of(path))
        match path:
            case ("upstreams" | "routes",) | ():
                return False
            case ("upstreams", name, *_) if name in self.tree["upstreams"]:
                self.tree["upstreams"][name] = dict(_A_SITE)
                # A name that cannot be one: routes may well name it.
                return len(path) > 2 or kind != "value_error"
            case ("routes", int() as place, *_):
                route = self.tree["routes"][place]
                named = route.get("upstream") if isinstance(route, dict) else None
                self.tree["routes"][place] = {"host": "faulty.invalid"} | (
                    {"upstream": named} if isinstance(named, str) else {}
                )
            case ("tls", *_):
                self.tree["tls"] = dict(_HTTPS)
            case ("listen" | "admin" as name, *_):
                self.tree[name] = _A_PORT
            case _:
                self._drop(path)
        return True

    def _around(self, path: Path) -> Any:
        node: Any = self.tree
        for step in path[:-1]:
            node = node[step]
        return node

    def _rename(self, path: Path) -> bool:
        around, right = self._around(path), likely(path)
        whole = (*path[:-1], right)
        if path[-1] not in around:  # it went with what is around it
            return True
        if not right or right in around or unit_of(whole) in self.faulty:
            return False
        around[right] = around.pop(path[-1])
        for old in [old for old in self.origins if old[: len(path)] == path]:
            self.origins[(*whole, *old[len(path) :])] = self.origins.pop(old)
        self.renamed.add(unit_of(whole))
        return True

    def _drop(self, path: Path) -> None:
        """Down to a list, which goes as a whole."""
        node: Any = self.tree
        for step in path[:-1]:
            if not isinstance(node.get(step), dict):
                node.pop(step, None)
                return
            node = node[step]
        node.pop(path[-1], None)


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(one) for key, one in value.items()}
    return [_copy(one) for one in value] if isinstance(value, list | tuple) else value
