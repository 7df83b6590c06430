"""Saved responses as replay and explain read them: .http, HAR, .jsonl, .jsonl.gz. Readers yield what they could read
and a `Complaint` for what they could not; one bad line never hides the others.

A recorder that stores a body as text has already undone the content coding and the charset, so those records come out
as UTF-8 with the framing and coding fields gone.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.parse import urlsplit

from saywhy.cli.members import NotARecord, object_of, pairs_of, shown, status_of, text_of, whole
from saywhy.core.model import Fields, Head, Request, Response
from saywhy.edge.examples import ExampleError, read_example
from saywhy.edge.files import read_bytes, unreadable

RECORD_BYTES = 64 << 20
"""The longest line or file that is read: far beyond any error page, short of filling the memory."""

SUFFIXES = (".http", ".har", ".jsonl", ".jsonl.gz")

_FRAMING = frozenset({"transfer-encoding", "content-length", "content-encoding"})


class Expectation(NamedTuple):
    """What somebody wrote down about a response. `code` None: it must pass untouched."""

    code: str | None
    also: tuple[str, ...] = ()
    field: str | None = None


@dataclass(frozen=True, slots=True)
class Recording:
    """One saved response with the request it answered, as far as that is known."""

    id: str
    head: Head
    body: bytes
    expectation: Expectation | None = None
    category: str = ""
    look_alike: bool = False


class Complaint(NamedTuple):
    """Something that could not be read, and why."""

    file: Path
    line: int  # 0: the file as a whole
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}" if self.line else f"{self.file}: {self.message}"


class Read(NamedTuple):
    """One thing a reader came upon; `position` is how far into the file it is, in bytes on disk."""

    item: Recording | Complaint
    position: int


def find(path: Path) -> Iterator[Path]:
    """The files that `path` means: itself, or every known file below a folder, in order of name."""
    if path.is_dir():
        yield from (
            file for file in sorted(path.rglob("*")) if file.name.endswith(SUFFIXES) and file.is_file()
        )
    else:
        yield path


def read(file: Path, accept: str) -> Iterator[Read]:
    """Every record of `file`, told apart by its suffix; the requests ask for `accept`."""
    try:
        if file.name.endswith((".jsonl", ".jsonl.gz", ".ndjson")):
            yield from _read_lines(file, accept)
        elif file.suffix in (".har", ".json"):
            yield from _read_har(file, accept)
        elif file.suffix == ".http":
            yield Read(_read_http(file, accept), file.stat().st_size)
        else:
            yield Read(Complaint(file, 0, f"unknown kind of file; known are {', '.join(SUFFIXES)}."), 0)
    except NotARecord as why:
        yield Read(Complaint(file, 0, str(why)), 0)
    except (OSError, EOFError, zlib.error) as why:
        yield Read(Complaint(file, 0, f"cannot be read: {getattr(why, 'strerror', None) or why}."), 0)


def _read_lines(file: Path, accept: str) -> Iterator[Read]:
    with file.open("rb") as raw:
        lines: IO[bytes] = gzip.GzipFile(fileobj=raw) if file.name.endswith(".gz") else raw  # type: ignore[assignment]
        number = 0
        while line := lines.readline(RECORD_BYTES + 1):
            number += 1
            if not line.strip():
                continue
            item: Recording | Complaint
            try:
                item = from_record(_loads(line), file, number, accept)
            except NotARecord as why:
                item = Complaint(file, number, str(why))
            while len(line) > RECORD_BYTES and not line.endswith(
                b"\n"
            ):  # what is left of a line too long to read
                line = lines.readline(RECORD_BYTES + 1)
            yield Read(item, raw.tell())


def _loads(text: bytes) -> Any:
    if len(text) > RECORD_BYTES:
        raise NotARecord(f"is longer than {RECORD_BYTES >> 20} MiB; keep what the rules need.")
    try:
        return json.loads(text)
    except UnicodeDecodeError:
        raise NotARecord("not UTF-8.") from None
    except json.JSONDecodeError as why:
        raise NotARecord(f"not JSON: {why.msg} (column {why.colno}).") from None
    except RecursionError:
        raise NotARecord("not a record: nested too deep.") from None
    except ValueError:  # Python reads no number of more than 4,300 digits
        raise NotARecord("not a record: it holds a number without end.") from None


def from_record(record: Any, file: Path, line: int, accept: str) -> Recording:
    """One JSON record. Raises NotARecord with a sentence."""
    if not isinstance(record, dict):
        raise NotARecord("a record is a JSON object with status, headers and body.")
    pairs = pairs_of(record.get("headers", {}))
    body, is_text = _body(record, file.parent)
    request = make_request(text_of(record, "method") or "GET", text_of(record, "url"), accept)
    return Recording(
        id=text_of(record, "id") or f"{file.name}:{line}",
        head=Head(request, Response(status_of(record.get("status")), _stored_fields(pairs, is_text=is_text))),
        body=body,
        expectation=_expectation(record),
        category=text_of(record, "category"),
        look_alike=bool(record.get("look_alike")),
    )


def _expectation(record: Mapping[str, Any]) -> Expectation | None:
    if "expected_code" not in record:
        return None
    also = record.get("also_acceptable") or []
    if not isinstance(also, list) or not all(isinstance(code, str) for code in also):
        raise NotARecord(f"also_acceptable must be a list of codes, not {shown(also)}.")
    code = None if record["expected_code"] is None else text_of(record, "expected_code")
    accepted = tuple(whole(one, "also_acceptable") for one in also)
    return Expectation(code, accepted, text_of(record, "expected_field") or None)


def _body(record: Mapping[str, Any], folder: Path) -> tuple[bytes, bool]:
    """The body and whether it was stored as text."""
    if record.get("body") is not None:
        if not isinstance(record["body"], str):
            raise NotARecord("body must be a string; use body_base64 for bytes.")
        return record["body"].encode("utf-8", "replace"), True
    if record.get("body_base64") is not None:
        try:
            return base64.b64decode(str(record["body_base64"]), validate=True), False
        except binascii.Error:
            raise NotARecord("body_base64 is not base64.") from None
    if record.get("file") is None:
        return b"", False
    name = Path(text_of(record, "file").replace("\0", "?"))
    if name.is_absolute() or ".." in name.parts:
        raise NotARecord(f"file must be a name below the record's own folder, not {str(name)!r}.")
    try:
        return read_bytes(folder / name, RECORD_BYTES), False
    except OSError as why:
        raise NotARecord(f"the body's file {str(name)!r} {unreadable(why)}.") from None


def _stored_fields(pairs: list[tuple[str, str]], *, is_text: bool) -> Fields:
    """Fields as they stand beside a body without coding and framing; text is UTF-8, whatever the charset was."""
    kept = [
        (name, value) for name, value in pairs if name.lower() not in _FRAMING and not name.startswith(":")
    ]
    if is_text:
        kept = [(name, _as_utf8(value) if name.lower() == "content-type" else value) for name, value in kept]
    return Fields.of(kept)


def _as_utf8(content_type: str) -> str:
    media, *parameters = content_type.split(";")
    others = [one for one in parameters if not one.strip().lower().startswith("charset=")]
    return (
        ";".join([media, *others, " charset=utf-8"])
        if media.strip().lower().startswith("text/")
        else content_type
    )


def make_request(method: str, url: str, accept: str) -> Request:
    """The request of a caller who asks for `accept`; host and path come from `url` where one is known."""
    try:
        parts = urlsplit(url)
    except ValueError as why:
        raise NotARecord(f"url is no URL: {why}.") from None
    fields = [(b"accept", accept.encode("latin-1", "replace"))]
    if parts.netloc:
        fields.insert(0, (b"host", parts.netloc.rpartition("@")[2].encode()))
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Request(method.upper(), target.encode("utf-8"), Fields(fields), parts.scheme or "http")


def _read_har(file: Path, accept: str) -> Iterator[Read]:
    with file.open("rb") as stream:
        archive = _loads(stream.read(RECORD_BYTES + 1))
    log = archive.get("log") if isinstance(archive, dict) else None
    entries = log.get("entries") if isinstance(log, dict) else None
    if not isinstance(entries, list):
        raise NotARecord("no HAR: log.entries is missing.")
    size = file.stat().st_size
    for number, entry in enumerate(entries, 1):
        item: Recording | Complaint
        try:
            item = _from_entry(entry, f"{file.stem}#{number}", accept)
        except NotARecord as why:
            item = Complaint(file, 0, f"entry {number}: {why}")
        yield Read(item, size * number // len(entries))


def _from_entry(entry: Any, name: str, accept: str) -> Recording:
    if not isinstance(entry, dict):
        raise NotARecord("an entry is an object with request and response.")
    request, response = object_of(entry, "request"), object_of(entry, "response")
    status = response.get("status")
    if status == 0:
        raise NotARecord("the exchange has no status; the browser got no answer.")
    content = object_of(response, "content", optional=True)
    text = content.get("text") or ""
    if not isinstance(text, str):
        raise NotARecord("content.text must be a text.")
    encoded = content.get("encoding") == "base64"
    try:
        body = base64.b64decode(text, validate=True) if encoded else text.encode("utf-8", "replace")
    except (binascii.Error, ValueError):
        raise NotARecord("content.text is not base64.") from None
    headers = response.get("headers") or []
    if not isinstance(headers, list) or not all(
        isinstance(one, dict) and isinstance(one.get("name"), str) and "value" in one for one in headers
    ):
        raise NotARecord("response.headers must be a list of objects with name and value.")
    pairs = [pair for one in headers for pair in pairs_of({one["name"]: one["value"]})]
    asked = make_request(text_of(request, "method") or "GET", text_of(request, "url"), accept)
    return Recording(
        name, Head(asked, Response(status_of(status), _stored_fields(pairs, is_text=not encoded))), body
    )


def _read_http(file: Path, accept: str) -> Recording:
    """An example as it stands beside a rule; where its envelope is there as well, that is the expectation."""
    try:
        head, body, _ = read_example(file)
    except ExampleError as why:
        raise NotARecord(str(why).removeprefix(f"{file}").lstrip(": ")) from None
    beside = file.with_suffix(".json")
    expectation = None
    if beside.is_file():
        error = object_of(_loads(read_bytes(beside, RECORD_BYTES + 1)), "error")
        expectation = Expectation(text_of(error, "code"), (), text_of(error, "field") or None)
    asking = Head(asking_for(head.request, accept), head.response)
    return Recording(
        file.stem, asking, body, expectation, file.parent.parent.name if beside.is_file() else ""
    )


def asking_for(request: Request, accept: str) -> Request:
    """The same request from a caller who asks for `accept`, and with no mark of a browser on it."""
    kept = [
        line for line in request.fields.lines if not line[0].lower().startswith((b"accept", b"sec-fetch-"))
    ]
    return replace(request, fields=Fields([*kept, (b"accept", accept.encode("latin-1", "replace"))]))
