"""What is wrong with settings, in sentences: where, which key, what to write instead. Never a library's traceback."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from saywhy.edge.settings.model import Section
from saywhy.edge.settings.sections import Route, Settings
from saywhy.edge.settings.upstreams import Upstream

Path = tuple[str | int, ...]
_PLAIN = re.compile(r"[\w.-]+")


class Problem(NamedTuple):
    """One thing wrong. `where` is file:line, an environment variable or a flag; empty where nothing was written."""

    where: str
    key: str
    message: str

    def __str__(self) -> str:
        return ": ".join(part for part in (self.where, f"{self.key} {self.message}".strip()) if part)


class SettingsError(Exception):
    """The settings cannot be used. `problems` has at least one row; `str()` gives one line each."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(problems, key=_reading_order))
        super().__init__("\n".join(str(problem) for problem in self.problems))


class Unpaired(SettingsError):
    """Nothing is wrong but that a key and its certificate are not of one renewal: perhaps one of them is still to come."""


def _reading_order(problem: Problem) -> tuple[int, str, int]:
    """As somebody meets them who reads the file from its top; environment and flags stay as they came, after it."""
    file, colon, line = problem.where.rpartition(":")
    return (0, file, int(line)) if colon and line.isdigit() else (1, "", 0)


def dotted(path: Path) -> str:
    """`routes[0].host` for ("routes", 0, "host")."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
            continue
        plain = step if _PLAIN.fullmatch(step) else json.dumps(step[:80], ensure_ascii=False)
        text += f".{plain}" if text else plain
    return text


def origin_of(path: Path, origins: Mapping[Path, str]) -> str:
    """Where the value at `path` was written, or the nearest thing around it."""
    for end in range(len(path), 0, -1):
        if path[:end] in origins:
            return origins[path[:end]]
    # An unknown section was never written as such: the first key in it was.
    return next((origin for written, origin in origins.items() if written[: len(path)] == path), "")


def _section_at(path: Path) -> type[Section] | None:
    """The model whose fields are the keys under `path`."""
    match path:
        case ():
            return Settings
        case ("upstreams", _):
            return Upstream
        case ("routes", int()):
            return Route
        case (str() as name,) if name in Settings.model_fields:
            kind = Settings.model_fields[name].annotation
            return kind if isinstance(kind, type) and issubclass(kind, Section) else None
        case _:
            return None


def _everywhere() -> dict[str, str]:
    """Key -> full name, for keys that were put into the wrong section."""
    found: dict[str, str] = {}
    for name in Settings.model_fields:
        section = _section_at((name,))
        for key in section.model_fields if section else ():
            found.setdefault(key, f"{name}.{key}")
    for key in Route.model_fields:
        found.setdefault(key, f"routes[].{key}")
    return found


def likely(path: Path) -> str:
    """The setting beside it that the unknown key at `path` is nearest to; empty where none is near."""
    section = _section_at(path[:-1])
    siblings = list(section.model_fields) if section else []
    near = get_close_matches(str(path[-1]).replace("-", "_").lower(), siblings, n=1, cutoff=0.6)
    return near[0] if near else ""


def unknown_key(path: Path) -> str:
    """The sentence for a key that is no setting."""
    key = str(path[-1])
    section = _section_at(path[:-1])
    siblings = list(section.model_fields) if section else []
    near = likely(path)
    if near:
        return f"is not a setting; did you mean {near}?"
    elsewhere = _everywhere()
    # Only an exact name may point to another section: a distant likeness there would mislead.
    if key in elsewhere:
        return f"is not a setting here; did you mean {elsewhere[key]}?"
    known = ", ".join(siblings)
    return f"is not a setting; the keys here are {known}." if known else "is not a setting; remove it."


_KINDS = {
    "int": "a whole number",
    "float": "a number",
    "finite": "a number",
    "bool": "true or false",
    "string": "a text",
    "tuple": "a list",
    "dict": "a mapping of keys to values",
    "model": "a mapping of keys to values",
    "path": "a path",
}
_BOUNDS = {
    "greater_than_equal": ("ge", "at least"),
    "greater_than": ("gt", "more than"),
    "less_than_equal": ("le", "at most"),
    "less_than": ("lt", "less than"),
}


def _shown(value: Any) -> str:
    """What was written, short; what holds more than one value is named by its kind."""
    if isinstance(value, dict | BaseModel):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list" if any(isinstance(one, dict | list | tuple) for one in value) else _cut(list(value))
    return _cut(value)


def _cut(value: Any) -> str:
    text = repr(value)
    if "@" in text:  # may hold a password
        return "(not shown)"
    return text if len(text) <= 80 else text[:77] + "..."


def _number(bound: float) -> str:
    return str(int(bound)) if bound == int(bound) else str(bound)


def _sentence(fault: ErrorDetails, path: Path) -> str:
    kind, context, value = fault["type"], fault.get("ctx", {}), fault["input"]
    if kind == "extra_forbidden":
        return unknown_key(path)
    if kind == "missing":
        return "is missing; add it."
    if kind == "value_error" and fault["loc"][-1:] == ("[key]",):
        return f"{context['error']}."
    if kind == "value_error":
        return f"is {_shown(value)}: {context['error']}."
    if kind == "literal_error":
        words = [word.strip("'") for word in str(context["expected"]).replace(" or ", ", ").split(", ")]
        near = get_close_matches(str(value).lower(), words, n=1)
        return f"is {_shown(value)}; it must be one of {', '.join(words)}" + (
            f"; did you mean {near[0]}?" if near else "."
        )
    if kind in _BOUNDS:
        name, words_ = _BOUNDS[kind]
        return f"is {_shown(value)}; it must be {words_} {_number(context[name])}."
    if kind == "string_too_long":
        return f"is too long; it may have at most {context['max_length']} characters."
    if kind == "too_short":
        return "is empty; it needs at least one value."
    family = kind.partition("_")[0]
    if family in _KINDS:
        return f"is {_shown(value)}; it must be {_KINDS[family]}."
    return f"is {_shown(value)}: {fault['msg']}."


def _real_path(location: Sequence[str | int]) -> Path:
    """Pydantic's location without the steps that are its own (`[key]`, the names of validators)."""
    return tuple(
        step for step in location if not (isinstance(step, str) and (step == "[key]" or "[" in step))
    )


def problems_from(faults: Iterable[ErrorDetails], origins: Mapping[Path, str]) -> list[tuple[Path, Problem]]:
    """Pydantic's faults as rows, each with its path and the place where the value was written."""
    rows = []
    for fault in faults:
        path = _real_path(fault["loc"])
        rows.append((path, Problem(origin_of(path, origins), dotted(path), _sentence(fault, path))))
    return rows
