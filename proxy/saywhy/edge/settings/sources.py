"""Where settings come from: one YAML file, then the environment, then flags; each value remembers its origin.

Nothing else in the package looks at the environment.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from pydantic import BaseModel

from saywhy.edge.documents import Document, DocumentError, read_document
from saywhy.edge.settings.crosscheck import crosscheck, doubted
from saywhy.edge.settings.faults import Path, Problem, SettingsError, dotted
from saywhy.edge.settings.listening import TLS_FILES
from saywhy.edge.settings.remainder import apart_from, take_out_mistakes
from saywhy.edge.settings.sections import Settings
from saywhy.edge.settings.upstreams import FILES

PREFIX = "SAYWHY_"


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings and where each value was written (path -> origin); what is not there is a default. `doubts` are what
    changes nothing and was perhaps meant to, and what does and perhaps should not.
    """

    settings: Settings
    origins: Mapping[Path, str] = field(default_factory=dict)
    file: FilePath | None = None
    doubts: tuple[Problem, ...] = ()

    def effective(self) -> Iterator[tuple[str, Any, str]]:
        """(key, value, origin) of every setting, defaults included. Nothing in it is secret."""
        yield from _leaves(self.settings, (), self.origins)


class HalfUsable(SettingsError):
    """The settings cannot be used, and yet more can be found out about them: `rest` are those without the mistakes.
    Nothing new can be said about what is at or under the keys `unsure`.
    """

    def __init__(self, problems: Iterable[Problem], rest: Loaded, unsure: Iterable[str]) -> None:
        super().__init__(problems)
        self.rest = rest
        self._unsure = frozenset(unsure)

    def joined_by(self, found: Iterable[Problem]) -> SettingsError:
        """All problems together; `found` is what is wrong with `rest`."""
        return SettingsError([*self.problems, *apart_from(self._unsure, found)])


def _leaves(value: Any, path: Path, origins: Mapping[Path, str]) -> Iterator[tuple[str, Any, str]]:
    if isinstance(value, BaseModel):
        items: Iterator[tuple[str | int, Any]] = (
            (name, getattr(value, name)) for name in type(value).model_fields
        )
    elif isinstance(value, dict) and value:
        items = iter(value.items())
    elif isinstance(value, tuple) and value and isinstance(value[0], BaseModel):
        items = enumerate(value)
    else:
        plain = (
            [str(one) for one in value]
            if isinstance(value, tuple)
            else str(value)
            if isinstance(value, FilePath)
            else value
        )
        yield dotted(path), plain, origins.get(path, "default")
        return
    for key, one in items:
        yield from _leaves(one, (*path, key), origins)


class _Layers:
    """The tree that grows from layer to layer, and who wrote what."""

    def __init__(self) -> None:
        self.tree: dict[str, Any] = {}
        self.origins: dict[Path, str] = {}
        self.problems: list[Problem] = []
        self.doubts: list[Problem] = []

    def put(self, path: Path, value: Any, origin: str) -> None:
        """Set one value; what a lower layer wrote at or below the path is forgotten."""
        value = _spelt_out(path, value)
        node = self.tree
        for depth, step in enumerate(path[:-1], 1):
            below = node.setdefault(str(step), {})
            if not isinstance(below, dict):
                below = node[str(step)] = {}  # the lower layer wrote a plain value where this one goes deeper
                self.origins.pop(path[:depth], None)
            node = below
        node[str(path[-1])] = value
        for old in [old for old in self.origins if old[: len(path)] == path]:
            del self.origins[old]
        self._mark(value, path, lambda _: origin)

    def put_document(self, document: Document) -> None:
        """The whole of a file, each key with its line."""
        if not isinstance(document.value, dict):
            if document.value is not None:
                self.problems.append(
                    Problem(str(document.path), "", "is no mapping; write `key: value` lines.")
                )
            return
        self.tree = _spelt_out((), _copy(document.value))
        self._mark(self.tree, (), lambda path: f"{document.path}:{document.line(path)}")

    def _mark(self, value: Any, path: Path, origin: Callable[[Path], str]) -> None:
        """Remember the origin of `value` and of all below it."""
        if path:
            self.origins[path] = origin(path)
        below = (
            value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        )
        for key, one in below:
            self._mark(one, (*path, key), origin)


def _spelt_out(path: Path, value: Any) -> Any:
    """A bare URL of an upstream as `{url: URL}`, so that layers meet at the same key however each wrote it."""
    if path == ("upstreams",) and isinstance(value, dict):
        return {name: _spelt_out((*path, name), one) for name, one in value.items()}
    if path == () and isinstance(value, dict):
        return {key: _spelt_out((key,), one) if key == "upstreams" else one for key, one in value.items()}
    return (
        {"url": value} if path[:1] == ("upstreams",) and len(path) == 2 and isinstance(value, str) else value
    )


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _copy(one) for key, one in value.items()}
    return [_copy(one) for one in value] if isinstance(value, list) else value


def _from_file(layers: _Layers, file: FilePath) -> None:
    try:
        document = read_document(file)
    except DocumentError as wrong:
        raise SettingsError([Problem("", "", str(wrong))]) from None
    layers.put_document(document)
    rules = layers.tree.get("rules")
    folders = rules.get("folders") if isinstance(rules, dict) else None
    if isinstance(rules, dict) and isinstance(folders, list | str):
        listed = folders.split(",") if isinstance(folders, str) else folders
        # Taken from the file's folder: a mounted settings file and its rules move together.
        rules["folders"] = [str(file.parent / one.strip()) if isinstance(one, str) else one for one in listed]
    upstreams = layers.tree.get("upstreams")
    for site in upstreams.values() if isinstance(upstreams, dict) else ():
        for key in FILES if isinstance(site, dict) else ():
            if isinstance(site.get(key), str) and site[key]:
                site[key] = str(file.parent / site[key])
    tls = layers.tree.get("tls")
    if isinstance(tls, dict):
        named = {key: tls[key] for key in TLS_FILES if isinstance(tls.get(key), str) and tls[key]}
        tls.update({key: str(file.parent / path) for key, path in named.items()})


def _spellings() -> dict[str, str]:
    """The name of each setting without underscores -> how it is written in the environment."""
    known = {"UPSTREAM": f"{PREFIX}UPSTREAMS__DEFAULT", "UPSTREAMSDEFAULT": f"{PREFIX}UPSTREAMS__DEFAULT"}
    for name, info in Settings.model_fields.items():
        section = info.annotation
        if isinstance(section, type) and issubclass(section, BaseModel):
            for key in section.model_fields:
                known[f"{name}{key}".replace("_", "").upper()] = f"{PREFIX}{name}__{key}".upper()
        else:
            known[name.replace("_", "").upper()] = f"{PREFIX}_{name}".upper()
    return known


def _from_environment(layers: _Layers, environ: Mapping[str, str]) -> None:
    """`SAYWHY_SECTION__KEY`, and `SAYWHY__KEY` for the keys at the top. Names without `__` are not ours: Kubernetes
    sets SAYWHY_PORT and the like for a Service called saywhy. Where such a name is nearly a setting, it is doubted.
    """
    spellings = _spellings()
    for name in sorted(environ):
        rest = name.removeprefix(PREFIX)
        if rest == name:
            continue
        if rest.startswith("_"):
            path: Path = tuple(rest[1:].lower().split("__"))
        elif "__" in rest:
            path = tuple(rest.lower().split("__"))
        else:
            meant = spellings.get(rest.replace("_", "").upper())
            if meant:
                layers.doubts.append(
                    Problem(name, "", f"is not read, it has single underscores; write {meant}.")
                )
            continue
        if not all(path):
            layers.problems.append(Problem(name, "", "is not a setting; write SAYWHY_SECTION__KEY."))
            continue
        text = environ[name]
        if text[:1] in ("[", "{"):
            try:
                layers.put(path, json.loads(text), name)
                continue
            except ValueError:
                if text.startswith("{"):
                    layers.problems.append(
                        Problem(name, dotted(path), "begins like JSON and is none; check its quotes.")
                    )
                    continue
        layers.put(path, text, name)


def load(
    file: FilePath | None = None,
    *,
    flags: Mapping[Path, tuple[str, Any]] | None = None,
    environ: Mapping[str, str] | None = None,
) -> Loaded:
    """Read all layers. `flags` is path -> (the flag's name, value). Raises SettingsError with every problem found."""
    layers = _Layers()
    if file is not None:
        _from_file(layers, file)
    _from_environment(layers, os.environ if environ is None else environ)
    for path, (flag, value) in (flags or {}).items():
        layers.put(path, value, flag)
    left = take_out_mistakes(layers.tree, layers.origins)
    problems = [*layers.problems, *left.problems]
    if left.settings is None:
        raise SettingsError(problems)
    crossed = apart_from(left.faulty, crosscheck(left.settings, left.origins))
    loaded = Loaded(
        left.settings, left.origins, file, (*layers.doubts, *doubted(left.settings, left.origins))
    )
    if problems or crossed:
        unsure = {*left.faulty, *left.renamed, *(one.key for one in crossed)}
        raise HalfUsable([*problems, *crossed], loaded, unsure)
    return loaded
