"""The envelope: one pydantic model that satisfies Agent errors draft 0.1 and Agent error contract v1 at once.

Its text members take `Clean` and nothing else, also at validation, so that no path leads a site's raw words into an
answer. What has already left (an answer of saywhy, read by the agent client) is `Clean` only after scrub saw it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    WithJsonSchema,
    model_serializer,
)
from pydantic_core import PydanticCustomError

from saywhy.core.contract.words import (
    CONTRACT_VERSION,
    Action,
    Origin,
    Retry,
    SameArguments,
    SideEffects,
    Source,
)
from saywhy.core.scrub.clean import Clean, Own


def _only_clean(value: object) -> Clean:
    if not isinstance(value, Clean):
        raise PydanticCustomError("not_clean", "a text of the envelope must have passed scrub")
    return value


CONTEXT = ("service", "action", "tool", "upstream", "command", "prompt", "resource", "safety")
"""Members of the Agent error contract that say what failed; any JSON value, scrubbed."""

MESSAGE_LIMIT = 500
"""Characters of a message."""

CleanText = Annotated[Clean, PlainValidator(_only_clean), WithJsonSchema({"type": "string"})]


def _bounded(value: Clean) -> Clean:
    if len(value) > MESSAGE_LIMIT:
        raise PydanticCustomError("too_long", "a message has at most 500 characters")
    return value


Message = Annotated[
    CleanText, AfterValidator(_bounded), WithJsonSchema({"type": "string", "maxLength": MESSAGE_LIMIT})
]


class _Part(BaseModel):
    """Frozen, closed on writing; optional members are absent, not null."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    @model_serializer(mode="plain")
    def written(self) -> dict[str, Any]:
        """Plain JSON values. By hand, from the members as validated: pydantic's own walk takes ten times as long."""
        nullable = self.nullable()
        return {
            name: value if value.__class__ in _AS_IT_IS else _plain(value)
            for name, value in self.__dict__.items()
            if value is not None or name in nullable
        }

    @classmethod
    def nullable(cls) -> frozenset[str]:
        """Members that are written as null when empty."""
        return _NONE


_NONE: frozenset[str] = frozenset()
_NULLABLE = frozenset({"field", "retry_after"})
_CONSTANT = frozenset(
    {Own, int, str}
)  # a plain str has passed as a word of a vocabulary: all other texts are Clean
_AS_IT_IS = frozenset({str, Clean, Own, int, bool, float, type(None)})


def _plain(value: Any) -> Any:
    """`value` as JSON has it: parts and mappings as objects, tuples as arrays."""
    if value.__class__ in _AS_IT_IS:
        return value
    if isinstance(value, _Part):
        return value.written()
    if isinstance(value, Mapping):
        return {name: _plain(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


class Recovery(_Part):
    """What to do about it (Agent error contract v1)."""

    action: Action | CleanText
    same_arguments: SameArguments | CleanText
    guidance: CleanText
    retry_after_ms: int | None = Field(default=None, ge=0)


class FieldFault(_Part):
    """One of several fields at fault; `pointer` is a JSON Pointer in fragment form (RFC 6901 section 6)."""

    field: CleanText | None = None
    message: CleanText
    pointer: CleanText | None = None


class Evidence(_Part):
    """Why a page was read as it was: the rule and the signals seen, in our own words."""

    rule: CleanText
    signals: tuple[CleanText, ...] = ()


class Error(_Part):
    """The error object. `field` and `retry_after` (whole seconds) are the only members that may be null."""

    code: CleanText
    message: Message
    field: CleanText | None = None
    retry: Retry | CleanText
    retry_after: int | None = Field(default=None, ge=0, le=86400)
    retry_after_source: Literal["default"] | None = None
    contract_version: Literal[1] = CONTRACT_VERSION
    kind: CleanText
    origin: Origin | CleanText
    recovery: Recovery
    side_effects: SideEffects | CleanText
    source: Source

    errors: tuple[FieldFault, ...] | None = None
    required_scopes: tuple[CleanText, ...] | None = None
    documentation_url: CleanText | None = None
    continue_url: CleanText | None = None
    payment: Mapping[str, Any] | None = None
    alternatives: tuple[Mapping[str, Any], ...] | None = None
    valid: tuple[CleanText, ...] | None = None
    hint: CleanText | None = None
    original: Any = None
    original_kind: CleanText | None = None
    original_status: int | None = Field(default=None, ge=400, le=599)  # where another one was sent
    cause: CleanText | None = None
    instance: CleanText | None = None
    evidence: Evidence | None = None

    # The Agent error contract's own context, passed on from sites and tools that speak it.
    service: Any = None
    action: Any = None
    tool: Any = None
    upstream: Any = None
    command: Any = None
    prompt: Any = None
    resource: Any = None
    safety: Any = None

    @classmethod
    def nullable(cls) -> frozenset[str]:
        """See the class."""
        return _NULLABLE


class Envelope(_Part):
    """`{"error": {...}}`: the whole answer."""

    error: Error

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON values, optional members absent."""
        return self.written()

    def strange(self) -> dict[str, Any]:
        """The members of `error` that hold anything but words and sentences of ours, as they are written."""
        found: dict[str, Any] = {}
        for name, value in self.error.__dict__.items():
            if value is None or value.__class__ in _CONSTANT:
                continue
            if name == "recovery":
                value = {part: text for part, text in value.__dict__.items() if text.__class__ is Clean}
                if not value:
                    continue
            found[name] = _plain(value)
        return found
