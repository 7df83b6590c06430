"""The only reader of YAML: plain values with the line of every key, whatever a file holds.

Read from the parser's events with a stack of our own, so that nesting cannot exhaust Python's, aliases cannot grow, and
scalars mean what YAML 1.2 says: only true and false are booleans (in YAML 1.1 `no` is one, and a pack for Norway, a
header value `off` and the time 12:30 turn into something else). Tags are refused: no file makes an object.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml

from saywhy.edge.files import read_bytes, unreadable

MOST_BYTES = 1 << 20
"""A file of settings or rules; a pack of a thousand rules has half of that."""

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml where it was built in: ten times as fast."""

_MOST_ANCHORS = 200
_MOST_VALUES = 100_000
_DEEPEST = 40

_INT = re.compile(r"[-+]?[0-9]{1,18}")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]{1,30}|[0-9]{1,30}(?:\.[0-9]{0,30})?)(?:[eE][-+]?[0-9]{1,3})?")
_WORDS = {
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
    "null": None, "Null": None, "NULL": None, "~": None, "": None,
}  # fmt: skip

Steps = tuple[str | int, ...]


class DocumentError(Exception):
    """A file that cannot be used: `path`, `line` (0: the whole of it), `message` (a sentence that says what to do)."""

    def __init__(self, path: Path, line: int, message: str) -> None:
        self.path, self.line, self.message = path, line, message
        super().__init__(f"{path}:{line}: {message}" if line else f"{path}: {message}")


@dataclass(frozen=True, slots=True)
class Document:
    """What a file holds (mappings, lists, texts, numbers, booleans, None) and where."""

    path: Path
    value: Any
    lines: dict[Steps, int] = field(repr=False)

    def line(self, steps: Iterable[str | int]) -> int:
        """The line (from 1) of the key or item at `steps`, or of the nearest thing around it."""
        at = tuple(steps)
        while at and at not in self.lines:
            at = at[:-1]
        return self.lines.get(at, 1)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """` did you mean "x"?` for the nearest of `known`, or "" where none is near."""
    near = get_close_matches(word.lower().replace("-", "_"), list(known), n=1, cutoff=0.6)
    return f'did you mean "{near[0]}"?' if near else ""


def read_document(path: Path, *, most_bytes: int = MOST_BYTES) -> Document:
    """Read one YAML file. Raises DocumentError, one sentence, for whatever is wrong with it."""
    try:
        data = read_bytes(path, most_bytes + 1)
    except IsADirectoryError:
        raise DocumentError(path, 0, "is a folder, not a file; name the file in it.") from None
    except OSError as error:
        raise DocumentError(path, 0, f"{unreadable(error)}; check the path and who may read it.") from None
    if len(data) > most_bytes:
        raise DocumentError(path, 0, f"is larger than {most_bytes} bytes; split it.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DocumentError(path, line, "is not UTF-8 here; save the file as UTF-8.") from None
    return parse_document(text, path)


def parse_document(text: str, path: Path) -> Document:
    """The document in `text`; `path` is what errors name. An empty text holds None."""
    builder = _Builder(path)
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        line = getattr(error.problem_mark or error.context_mark, "line", -1) + 1
        raise DocumentError(path, line, f"is not YAML here: {_plain(error, text, line)}.") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise DocumentError(
            path, 0, f"is not YAML: {str(error).splitlines()[0] if str(error) else 'it nests too deep'}."
        ) from None
    return Document(path, builder.value, builder.lines)


def _plain(error: yaml.MarkedYAMLError, text: str, line: int) -> str:
    lines = text.splitlines()
    written = lines[line - 1] if 0 < line <= len(lines) else ""
    if "\t" in written[: len(written) - len(written.lstrip())]:
        return "a tab stands where blanks must; indent with blanks"
    said = error.problem or error.context or "it cannot be read"
    if "mapping values are not allowed" in said:
        return "a second `: ` stands in the line; put the text in quotes"
    return said


class _Open:
    """A mapping or list that is being read."""

    __slots__ = ("anchor", "key", "steps", "value")

    def __init__(self, value: dict[str, Any] | list[Any], steps: Steps, anchor: str | None) -> None:
        self.value, self.steps, self.anchor = value, steps, anchor
        self.key: str | None = None


class _Builder:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.value: Any = None
        self.lines: dict[Steps, int] = {}
        self._stack: list[_Open] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._values = 0
        self._documents = 0

    def take(self, event: yaml.Event) -> None:
        line = event.start_mark.line + 1 if event.start_mark else 0
        if isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                raise DocumentError(self.path, line, "holds a second document (---); keep one.")
        elif isinstance(event, yaml.ScalarEvent):
            self._scalar(event, line)
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event.anchor or "", line)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            self._tagless(event, line)
            if len(self._stack) >= _DEEPEST:
                raise DocumentError(self.path, line, f"nests deeper than {_DEEPEST} levels; flatten it.")
            value: dict[str, Any] | list[Any] = {} if isinstance(event, yaml.MappingStartEvent) else []
            steps = self._put(value, line)
            self._stack.append(_Open(value, steps, event.anchor))
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            done = self._stack.pop()
            self._remember(done.anchor, done.value)

    def _tagless(self, event: Any, line: int) -> None:
        if event.tag and event.tag not in {"!", "tag:yaml.org,2002:str"}:
            raise DocumentError(
                self.path, line, f"has the tag {event.tag}; remove it, plain values are all there is."
            )

    def _scalar(self, event: Any, line: int) -> None:
        self._tagless(event, line)
        parent = self._stack[-1] if self._stack else None
        if parent is not None and isinstance(parent.value, dict) and parent.key is None:
            self._key(parent, event.value, line)
            return
        value: Any = event.value
        if event.implicit[0] and event.tag is None:
            value = _resolve(event.value)
        self._put(value, line)
        self._remember(event.anchor, value)

    def _key(self, parent: _Open, key: str, line: int) -> None:
        if key == "<<":
            raise DocumentError(self.path, line, "has a merge key (<<); write the keys out.")
        if key in parent.value:
            first = self.lines.get((*parent.steps, key), 0)
            raise DocumentError(
                self.path, line, f'has the key "{key}" twice (first in line {first}); keep one.'
            )
        parent.key = key
        self.lines[(*parent.steps, key)] = line

    def _alias(self, anchor: str, line: int) -> None:
        if anchor not in self._anchors:
            raise DocumentError(self.path, line, f"refers to *{anchor} within itself; write it out.")
        value, weight = self._anchors[anchor]
        self._values += weight
        self._put(value, line)

    def _remember(self, anchor: str | None, value: Any) -> None:
        if anchor:
            if len(self._anchors) >= _MOST_ANCHORS:
                raise DocumentError(
                    self.path, 0, f"has more than {_MOST_ANCHORS} anchors; write the values out."
                )
            self._anchors[anchor] = (value, _weight(value))

    def _put(self, value: Any, line: int) -> Steps:
        self._values += 1
        if self._values > _MOST_VALUES:
            raise DocumentError(
                self.path, line, f"holds more than {_MOST_VALUES} values, aliases counted; split it."
            )
        if not self._stack:
            self.value = value
            return ()
        parent = self._stack[-1]
        if isinstance(parent.value, list):
            steps = (*parent.steps, len(parent.value))
            parent.value.append(value)
            self.lines[steps] = line
            return steps
        if parent.key is None:
            raise DocumentError(self.path, line, "has a key that is no plain text; put it in quotes.")
        steps = (*parent.steps, parent.key)
        parent.value[parent.key] = value
        parent.key = None
        return steps


def _weight(value: Any) -> int:
    """How many values there are in `value`: what an alias to it costs. Stops past the bound."""
    weight, waiting = 0, [value]
    while waiting and weight <= _MOST_VALUES:
        item = waiting.pop()
        weight += 1
        if isinstance(item, dict):
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
    return weight


def _resolve(text: str) -> Any:
    """A plain scalar as YAML 1.2's core schema reads it."""
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    return text
