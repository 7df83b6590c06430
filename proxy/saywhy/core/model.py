"""The frozen values of one exchange, in the order in which it makes them: Request, Response, Head, Plan, Evidence,
Verdict, Outcome. No behaviour beyond reading a field lives here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from saywhy.core.contract.envelope import Envelope
    from saywhy.core.policy import Policy

DecidedBy = Literal["contract", "header", "dialect", "rule", "status"]
"""Which kind of evidence chose the code; the metric label of the same name."""

PlanAction = Literal["pass", "peek", "hold", "weave"]
VerdictAction = Literal["pass", "annotate", "redact", "rewrite", "weave"]
PassReason = Literal[
    "", "not_agent", "structured", "streaming", "too_large", "coding", "opted_out", "upgrade", "grpc", "budget",
]  # fmt: skip
"""Why an error passed untouched; the label of saywhy_passthrough_total. Empty: nothing to say (a success)."""


def as_bytes(value: object) -> bytes:
    """Text as the bytes that it came from; what never was a byte (a lone surrogate) becomes `?`. Bytes stay as they are,
    anything else is taken by its text.
    """
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    text = value if isinstance(value, str) else str(value)
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


class Fields:
    """A header section as the lines that came: 8-bit bytes, order, case and duplicates kept.

    Names are compared lower-cased; values come out as latin-1 text with outer white space stripped (RFC 9110 5.5).
    """

    __slots__ = ("_index", "lines")

    def __init__(self, lines: Iterable[tuple[bytes, bytes]] = ()) -> None:
        self.lines: tuple[tuple[bytes, bytes], ...] = tuple(lines)
        self._index: dict[str, list[str]] | None = None

    def _indexed(self) -> dict[str, list[str]]:
        if self._index is None:
            index: dict[str, list[str]] = {}
            for name, value in self.lines:
                index.setdefault(name.decode("latin-1").lower(), []).append(
                    value.decode("latin-1").strip(" \t")
                )
            self._index = index
        return self._index

    def get(self, name: str) -> str | None:
        """The first line of field `name` (lower case), or None."""
        found = self._indexed().get(name)
        return found[0] if found else None

    def all(self, name: str) -> list[str]:
        """Every line of field `name` (lower case), in order."""
        return list(self._indexed().get(name, ()))

    def joined(self, name: str) -> str | None:
        """All lines of field `name` as one comma-separated value (RFC 9110 5.3), or None when absent."""
        found = self._indexed().get(name)
        return ", ".join(found) if found else None

    def names(self) -> frozenset[str]:
        """The lower-cased names present."""
        return frozenset(self._indexed())

    def __contains__(self, name: object) -> bool:
        return name in self._indexed()

    def __len__(self) -> int:
        return len(self.lines)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fields) and self.lines == other.lines

    def __hash__(self) -> int:
        return hash(self.lines)

    def __repr__(self) -> str:
        return f"Fields({self.lines!r})"

    @classmethod
    def of(cls, fields: Fields | Mapping[str, str | list[str]] | Iterable[tuple[str, str]]) -> Fields:
        """Fields from what a caller of the public functions has at hand: a mapping (values may be lists), or pairs."""
        if isinstance(fields, Fields):
            return fields
        pairs = fields.items() if isinstance(fields, Mapping) else fields
        lines: list[tuple[bytes, bytes]] = []
        for name, value in pairs:
            for one in value if isinstance(value, list | tuple) else [value]:
                plain = name.decode("latin-1") if isinstance(name, bytes) else str(name)
                lines.append((plain.encode("latin-1", "replace"), as_bytes(one)))
        return cls(lines)


@dataclass(frozen=True, slots=True)
class Request:
    """What a caller asked for. `target` is the raw request target; `scheme` and `host` are the public ones."""

    method: str = "GET"
    target: bytes = b"/"
    fields: Fields = field(default_factory=Fields)
    scheme: str = "http"

    @property
    def host(self) -> str:
        """The authority asked for, lower-cased; empty where none was sent."""
        return (self.fields.get("host") or "").lower()

    @property
    def path(self) -> str:
        """The raw target without its query, as latin-1 text; nothing is decoded."""
        return self.target.partition(b"?")[0].decode("latin-1")


@dataclass(frozen=True, slots=True)
class Response:
    """The head of what the site answered."""

    status: int
    fields: Fields = field(default_factory=Fields)


@dataclass(frozen=True, slots=True)
class Head:
    """Both heads of one exchange: all that `triage` sees."""

    request: Request
    response: Response


class Caller(NamedTuple):
    """Who asks, as far as the choice of a format goes (DETECTION). Never a right to anything."""

    is_agent: bool
    by: Literal["signature", "accept", "useragent", "pinned", "browser", "nothing"]
    media: str = "application/json"  # what an envelope would be rendered as
    named: bool = False  # the caller named `media` exactly
    browser_marks: bool = False  # signed callers with these keep the body and get the headers
    reason: str = ""  # one clause for `explain`


class Plan(NamedTuple):
    """What `triage` wants done with the body. `limit` is in bytes as they come on the wire (before decoding)."""

    action: PlanAction
    reason: PassReason
    caller: Caller
    policy: Policy
    limit: int = 0


@dataclass(frozen=True, slots=True)
class FieldError:
    """One field at fault, raw as the site wrote it; `pointer` is a JSON Pointer (RFC 6901) without the `#`."""

    field: str | None
    message: str
    pointer: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What one dialect, rule or header says about a response. All texts are raw: only compose may let them out.

    `code` None means "I know the message, not the code". `retry_after` is in seconds. Members that are empty were not
    said. `signals` name what was seen in words of our own (never the site's text).
    """

    decided_by: DecidedBy
    code: str | None = None
    message: str | None = None
    wording: str | None = None  # a rule's own sentence: taken at its word, whatever phrases it holds
    field: str | None = None
    retry: str | None = None
    retry_after: int | None = None
    rule: str | None = None
    signals: tuple[str, ...] = ()
    errors: tuple[FieldError, ...] = ()
    required_scopes: tuple[str, ...] = ()
    documentation_url: str | None = None
    continue_url: str | None = None
    payment: Mapping[str, Any] | None = None
    alternatives: tuple[Mapping[str, Any], ...] = ()
    valid: tuple[str, ...] = ()
    hint: str | None = None
    kind: str | None = None
    origin: str | None = None
    recovery: Mapping[str, Any] | None = None
    side_effects: str | None = None
    outranks_failure: bool = False  # contracts and exact vendor headers: may say otherwise than a 5xx
    on_success: Literal["", "rewrite", "annotate"] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What leaves, decided. `status`, `fields` and `body` are complete for rewrite; for annotate, redact and pass
    `fields` is the whole section to send (hop-by-hop fields already gone are not put back) and `body` None means
    "the site's bytes as they come". Framing fields (Content-Length, Transfer-Encoding) are set for a rewrite and are
    the relay's business otherwise.
    """

    action: VerdictAction
    status: int
    fields: Fields
    body: bytes | None = None
    envelope: Envelope | None = None
    media: str = ""
    code: str = ""  # the code that was found, also when only annotated
    caller: Caller
    reason: PassReason = ""
    would: VerdictAction | Literal[""] = ""  # a route in shadow mode: the action that was held back
    decided_by: DecidedBy = "status"
    rule: str | None = None
    shadow_rules: tuple[str, ...] = ()  # rules in shadow mode that would have matched
    source: Literal["site", "proxy"] = "site"
    original_status: int = 0  # what the site sent, 0 when there was no answer; see also edge_safe_status
    original_bytes: int = 0
    redactions: Mapping[str, int] = field(default_factory=dict)  # kind -> how often
    fault: str = ""  # the class of an exception that normalize swallowed, for the log and a counter


class Outcome(NamedTuple):
    """One finished exchange: what was decided and what was measured. Durations in seconds, sizes in bytes.

    `verdict` is None where nothing was looked at (a success, a browser): the cheap majority.
    """

    started: float  # Unix time
    method: str
    host: str
    path: str  # raw target without query, latin-1
    upstream: str
    request_id: str
    traceparent: str
    original_status: int  # 0: no answer came
    sent_status: int
    bytes_in: int
    bytes_out: int
    duration: float
    upstream_duration: float
    rewrite_duration: float
    verdict: Verdict | None
    failure: str = ""  # RFC 9209 token when the proxy itself failed
