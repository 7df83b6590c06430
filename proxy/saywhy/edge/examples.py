"""The examples beside a pack's rules: saved responses, what each must become, and look-alikes that must pass.

`examples/<rule>[-n].http` has beside it `<same>.json`, the expected envelope (`{"error": {...}}`). A file whose name
begins with `look-alike-` must not be answered by the rule that follows in its name (`look-alike-<rule>[-n].http`), nor,
where no rule is named, by any rule of the pack.

An `.http` file is read strictly, in this order:
  1. lines that begin with `#`: why this example is here; optional.
  2. the request: `POST /cart HTTP/1.1`, fields, an empty line; optional, else GET / without fields.
  3. the response: `HTTP/1.1 409 Conflict`, fields, an empty line.
  4. the body, byte for byte to the end of the file. A Content-Length is not needed; chunked framing is not read.
The head's lines end with LF or CRLF. A body that is no text goes into `<same>.body` beside the file, as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from saywhy.core.model import Fields, Head, Request, Response
from saywhy.edge.files import read_bytes, unreadable

_MOST_BYTES = 1 << 20
_LOOK_ALIKE = "look-alike-"
_STATUS_LINE = re.compile(rb"HTTP/[0-9.]{1,4} ([0-9]{3})(?: .*)?")
_REQUEST_LINE = re.compile(rb"([A-Z]{1,20}) (\S+) HTTP/[0-9.]{1,4}")
_FIELD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*")


class ExampleError(Exception):
    """An example that cannot be read; the message names file and line and says what to write."""


@dataclass(frozen=True, slots=True)
class Example:
    """One saved response. `rule` is pack/id, "" for a look-alike of the whole pack; `pack` the pack it lies in;
    `expected` the envelope's JSON, None for look-alikes and where it is not written yet; `about` its comment lines.
    """

    pack: str
    rule: str
    path: Path
    head: Head
    body: bytes
    expected: dict[str, Any] | None
    look_alike: bool
    about: str = ""

    @property
    def expected_path(self) -> Path:
        """Where the expected envelope is, or is to be written."""
        return self.path.with_suffix(".json")


def read_example(path: Path) -> tuple[Head, bytes, str]:
    """Head, body and comment of one `.http` file. Raises ExampleError."""
    try:
        data = read_bytes(path, _MOST_BYTES + 1)
    except OSError as error:
        raise ExampleError(f"{path}: {unreadable(error)}.") from None
    if len(data) > _MOST_BYTES:
        raise ExampleError(f"{path}: is larger than {_MOST_BYTES} bytes; keep what the rule needs.")
    reader = _Reader(path, data)
    about = reader.comments()
    request = Request()
    asked = _REQUEST_LINE.fullmatch(reader.peek())
    if asked:
        reader.line()
        fields = reader.fields()
        request = Request(asked.group(1).decode("ascii"), asked.group(2), fields)
    answered = _STATUS_LINE.fullmatch(reader.line())
    if not answered or not 100 <= int(answered.group(1)) <= 999:
        raise reader.wrong("is no status line; write `HTTP/1.1 404 Not Found`.")
    response = Response(int(answered.group(1)), reader.fields())
    beside = path.with_suffix(".body")
    body = reader.rest()
    if not body and beside.is_file():
        body = _beside(beside)
    return Head(request, response), body, about


def _beside(path: Path) -> bytes:
    try:
        return read_bytes(path, _MOST_BYTES)
    except OSError as error:
        raise ExampleError(f"{path}: {unreadable(error)}.") from None


class _Reader:
    def __init__(self, path: Path, data: bytes) -> None:
        self.path, self.data, self.at, self.number = path, data, 0, 0

    def wrong(self, message: str) -> ExampleError:
        return ExampleError(f"{self.path}:{max(self.number, 1)}: {message}")

    def peek(self) -> bytes:
        end = self.data.find(b"\n", self.at)
        return self.data[self.at : len(self.data) if end < 0 else end].removesuffix(b"\r")

    def line(self) -> bytes:
        found = self.peek()
        end = self.data.find(b"\n", self.at)
        self.at = len(self.data) if end < 0 else end + 1
        self.number += 1
        return found

    def comments(self) -> str:
        told = []
        while self.peek().startswith(b"#"):
            told.append(self.line().lstrip(b"# ").decode("utf-8", "replace"))
        return " ".join(told)

    def fields(self) -> Fields:
        lines: list[tuple[bytes, bytes]] = []
        while True:
            if self.at >= len(self.data):
                return Fields(lines)
            line = self.line()
            if not line:
                return Fields(lines)
            found = _FIELD.fullmatch(line)
            if not found:
                raise self.wrong("is no field; write `Name: value`, and an empty line before the body.")
            lines.append((found.group(1), found.group(2)))

    def rest(self) -> bytes:
        return self.data[self.at :]


def _rule_of(stem: str, ids: Iterable[str]) -> str:
    """The rule that an example is named after: the whole name, or the name without `-2` at its end."""
    known = set(ids)
    if stem in known:
        return stem
    shorter = stem
    while "-" in shorter:
        shorter = shorter.rpartition("-")[0]
        if shorter in known:
            return shorter
    return ""


def _expected(path: Path) -> dict[str, Any] | None:
    try:
        value = json.loads(read_bytes(path, _MOST_BYTES)) if path.is_file() else None
    except (OSError, ValueError, RecursionError) as error:
        raise ExampleError(
            f"{path}: is not JSON ({error}); write the envelope, or `saywhy test --update`."
        ) from None
    if value is not None and not isinstance(value, dict):
        raise ExampleError(f"{path}: is no envelope; write an object.")
    return value


def examples(folder: Path) -> list[Example]:
    """Every example of the packs in `folder`, by name. Raises ExampleError on the first that cannot be read, and
    `RuleErrors` where a pack cannot.
    """
    from saywhy.edge.packs import read_packs  # packs names these words too

    found: list[Example] = []
    for loaded in read_packs([folder]):
        ids = [rule.id for rule in loaded.pack.rules]
        place = loaded.document.path.parent / "examples"
        for path in sorted(place.glob("*.http"), key=lambda path: path.stem) if place.is_dir() else ():
            look_alike = path.stem.startswith(_LOOK_ALIKE)
            rule = _rule_of(path.stem.removeprefix(_LOOK_ALIKE), ids)
            if not rule and not look_alike:
                raise ExampleError(
                    f"{path}: is named after no rule of {loaded.pack.pack}; name it <rule>.http or <rule>-2.http."
                )
            head, body, about = read_example(path)
            name = f"{loaded.pack.pack}/{rule}" if rule else ""
            expected = None if look_alike else _expected(path.with_suffix(".json"))
            found.append(Example(loaded.pack.pack, name, path, head, body, expected, look_alike, about))
    return found


def unproven(folder: Path) -> list[str]:
    """Sentences about rules that lack an example or a look-alike, examples without an expected envelope, and look-alikes
    that do not say why they are there.
    """
    from saywhy.edge.packs import read_packs

    have: dict[str, set[bool]] = {}
    told: list[str] = []
    for example in examples(folder):
        have.setdefault(example.rule or example.pack, set()).add(example.look_alike)
        if not example.look_alike and example.expected is None:
            told.append(
                f"{example.path}: has no expected envelope; run `saywhy test --update` and read what it wrote."
            )
        if example.look_alike and not example.about:
            told.append(
                f"{example.path}:1: does not say why it is here; begin it with a line `# why it must be left alone`."
            )
    for loaded in read_packs([folder]):
        for place, rule in enumerate(loaded.pack.rules):
            name = f"{loaded.pack.pack}/{rule.id}"
            where = f"{loaded.document.path}:{loaded.document.line(('rules', place))}: rule {rule.id}"
            if False not in have.get(name, ()):
                told.append(f"{where}: has no example; add examples/{rule.id}.http with its envelope.")
            if True not in have.get(name, ()):
                told.append(
                    f"{where}: has no look-alike; add examples/look-alike-{rule.id}.http, a page it must leave alone."
                )
    return told
