"""What is wrong with rule files, in sentences: file, line, rule, key, and what to write instead."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, get_args

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from saywhy.core.rules.shape import Pack
from saywhy.edge.documents import Document, Steps, did_you_mean


class RuleError(NamedTuple):
    """One mistake. `line` 0: the file or folder as a whole; `rule` and `key` are empty where there is none."""

    file: str
    line: int
    rule: str
    key: str
    message: str
    remedy: str

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        parts = [where, f"rule {self.rule}" if self.rule else "", self.key, f"{self.message}; {self.remedy}"]
        return ": ".join(part for part in parts if part)


class RuleErrors(Exception):
    """A set of rules that cannot be used. `errors` has at least one row; `str()` gives one line each."""

    def __init__(self, errors: Iterable[RuleError]) -> None:
        found = tuple(errors)
        files = list(dict.fromkeys(error.file for error in found))
        # As somebody meets them who reads file after file from its top.
        self.errors = tuple(sorted(found, key=lambda error: (files.index(error.file), error.line)))
        super().__init__("\n".join(str(error) for error in self.errors))


def dotted(steps: Steps) -> str:
    """`when.any[0].select` for ("when", "any", 0, "select")."""
    text = ""
    for step in steps:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text


def name_of(document: Document, steps: Steps) -> str:
    """The id of the rule that `steps` lead into, or its place (#3) where it has none."""
    if len(steps) < 2 or steps[0] != "rules" or not isinstance(steps[1], int):
        return ""
    try:
        found = document.value["rules"][steps[1]]["id"]
    except (KeyError, IndexError, TypeError):
        found = None
    return found if isinstance(found, str) else f"#{steps[1] + 1}"


def written(document: Document, location: Iterable[str | int]) -> Steps:
    """A place in the models as the place in the file: shorthands are widened before they are checked, so some steps of
    the models were never written.
    """
    steps: list[str | int] = []
    value = document.value
    for step in location:
        if isinstance(step, str) and step == "[key]":
            continue
        if isinstance(value, dict) and isinstance(step, str):
            steps.append(step)
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            steps.append(step)
            value = value[step]
    return tuple(steps)


def row(document: Document, steps: Steps, message: str, remedy: str) -> RuleError:
    """A mistake at `steps` of a pack file."""
    key = dotted(steps[2:]) if steps[:1] == ("rules",) and len(steps) > 1 else dotted(steps)
    return RuleError(str(document.path), document.line(steps), name_of(document, steps), key, message, remedy)


def from_faults(document: Document, faults: Iterable[ErrorDetails]) -> Iterator[RuleError]:
    """Pydantic's faults as rows, the first at each place in the file."""
    told: set[Steps] = set()
    for fault in faults:
        if fault["type"] == "too_short" and fault["input"]:
            continue  # pydantic counts only the sound items; what is wrong with the others is told on its own
        steps = written(document, fault["loc"])
        if steps not in told:
            told.add(steps)
            yield row(document, steps, *_sentence(fault))


_KINDS = {
    "string": ("a text", "write a text, in quotes where it looks like something else"),
    "int": ("a whole number", "write a whole number"),
    "float": ("a number", "write a number"),
    "bool": ("true or false", "write true or false"),
    "tuple": ("a list", "write a list"),
    "dict": ("a mapping", "write `key: value`"),
    "model": ("a mapping", "write `key: value`"),
}
_PATTERNS = {
    "code": ("is no code word", "write lower-case letters, digits and _, as in out_of_stock"),
    "id": ("is no id", "write lower-case letters, digits and -, as in sold-out-notice"),
    "pack": ("is no name of a pack", "write lower-case letters, digits and -, as in sold-out"),
    "pointer": ("is no JSON Pointer", "begin it with /, as in /error/code"),
    "json": ("is no JSON Pointer", "begin it with /, as in /error/code"),
}
_BOUNDS = {"greater_than_equal": ("ge", "at least"), "less_than_equal": ("le", "at most")}


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _sentence(fault: ErrorDetails) -> tuple[str, str]:
    kind, context, value = fault["type"], fault.get("ctx", {}), fault["input"]
    last = str(fault["loc"][-1]) if fault["loc"] else ""
    if kind == "extra_forbidden":
        known = known_keys(fault["loc"][:-1])
        near = did_you_mean(last, known)
        return "unknown key", near or (f"the keys here are {', '.join(known)}" if known else "remove it")
    if kind == "missing":
        return "is missing", "add it"
    if kind == "value_error":
        message, _, remedy = str(context["error"]).partition("; ")
        return message, remedy or "mend it"
    if kind == "literal_error":
        words = [word.strip("'") for word in str(context["expected"]).replace(" or ", ", ").split(", ")]
        return f"{_shown(value)} is no such word", did_you_mean(
            str(value), words
        ) or f"write {' or '.join(words)}"
    if kind == "string_pattern_mismatch":
        what, remedy = _PATTERNS.get(last, ("is no name", "write lower-case letters, digits and _"))
        return f"{_shown(value)} {what}", remedy
    if kind in _BOUNDS:
        name, words_ = _BOUNDS[kind]
        return f"{_shown(value)} is out of bounds", f"write {words_} {context[name]}"
    if kind in {"too_short", "string_too_short"}:
        return "is empty", "name at least one, or remove the key"
    if kind in {"too_long", "string_too_long"}:
        return "is too long", f"keep at most {context.get('max_length')}"
    what, remedy = _KINDS.get(
        kind.partition("_")[0], ("what belongs here", "see the reference of rule files")
    )
    return f"{_shown(value)} is not {what}", remedy


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for part in get_args(annotation) if (found := _model_in(part))), None)


def known_keys(location: Iterable[str | int]) -> list[str]:
    """The keys that the models know at `location`."""
    model: type[BaseModel] | None = Pack
    for step in location:
        if model is None:
            break
        by_key = {info.alias or name: info for name, info in model.model_fields.items()}
        if isinstance(step, str) and step in by_key:
            model = _model_in(by_key[step].annotation) or _model_in(tuple(by_key[step].metadata))
    return [info.alias or name for name, info in model.model_fields.items()] if model else []


def whole(path: Path, message: str, remedy: str, *, line: int = 0) -> RuleError:
    """A mistake of a file or folder as a whole."""
    return RuleError(str(path), line, "", "", message, remedy)
