"""The parts of a rule's shape: texts and expressions, tests on values, and the full form of each condition with its shorthands."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, model_validator

from saywhy.core.page import Selector
from saywhy.core.rules.expressions import Expression, check_expression
from saywhy.core.rules.ranges import Span, parse_span


class Shape(BaseModel):
    """What all have in common: no unknown key, no change after loading."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


def listed(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


def written_text(value: Any) -> Any:
    if isinstance(value, bool | int | float) or value is None:
        shown = "null" if value is None else str(value).lower()
        raise ValueError(f"{shown} is not a text; put it in quotes: '{shown}'")
    return value


def _number_text(value: Any) -> Any:
    """Header and attribute values may be written as numbers."""
    return (
        str(value) if isinstance(value, int | float) and not isinstance(value, bool) else written_text(value)
    )


def _expression(value: Any) -> Any:
    return check_expression(written_text(value)) if not isinstance(value, dict | list) else value


def _selector(value: Any) -> Any:
    if not isinstance(value, str):
        return written_text(value)
    try:
        Selector(value)
    except ValueError as error:
        raise ValueError(
            f"{value!r} is no CSS selector ({error}); mend it, and quote attribute values"
        ) from None
    return value


Text = Annotated[str, BeforeValidator(written_text), StringConstraints(min_length=1, max_length=500)]
Texts = Annotated[
    tuple[Text, ...], BeforeValidator(listed, json_schema_input_type=str | list[str]), Field(min_length=1)
]
Values = Annotated[
    tuple[Annotated[str, BeforeValidator(_number_text)], ...],
    BeforeValidator(listed, json_schema_input_type=str | int | list[str | int]),
]
Regex = Annotated[Expression, BeforeValidator(_expression, json_schema_input_type=str)]
Regexes = Annotated[tuple[Regex, ...], BeforeValidator(listed, json_schema_input_type=str | list[str])]
Css = Annotated[str, BeforeValidator(_selector), StringConstraints(min_length=1, max_length=2000)]
Place = Literal["text", "source", "title"]


class ValueTest(Shape):
    """A value of a field, cookie, attribute or JSON member. Shorthands: true (present), false (absent), a value, a list."""

    is_: Values = Field(
        (), alias="is", description="Any of these, without regard to case; * is any run of characters."
    )
    re: Regex | None = Field(None, description="An RE2 expression found in the value.")
    exists: bool = Field(True, description="false: must be absent.")


def _value_test(value: Any) -> Any:
    if isinstance(value, bool):
        return {"exists": value}
    return value if isinstance(value, dict) else {"is": value}


AnyValue = Annotated[
    ValueTest,
    BeforeValidator(_value_test, json_schema_input_type=bool | str | int | list[str | int] | ValueTest),
]


def _cookies(value: Any) -> Any:
    if isinstance(value, dict):
        return value
    names = listed(value)
    for name in names:
        if not isinstance(name, str):
            raise ValueError(f"{name!r} is no name of a cookie; write a name, or {{name: test}}")
    return dict.fromkeys(names, True)


ByName = Annotated[dict[str, AnyValue], Field(min_length=1)]
Cookies = Annotated[
    ByName, BeforeValidator(_cookies, json_schema_input_type=str | list[str] | dict[str, Any])
]


class Literals(Shape):
    """Literals to look for. Shorthands: a text, a list (any of)."""

    any: Texts | None = Field(None, description="One of these is there.")
    all: Texts | None = Field(None, description="All of these are there.")
    in_: Place | None = Field(
        None, alias="in", description="Only there; else the visible text or the source."
    )

    @model_validator(mode="after")
    def _says_something(self) -> Literals:
        if not self.any and not self.all:
            raise ValueError("names no literal; write `any: [...]`")
        return self


class Matching(Shape):
    """RE2 expressions to look for. Shorthands: an expression, a list (any of)."""

    re: Regexes = Field(min_length=1, description="One of these is found.")
    in_: Place | None = Field(
        None, alias="in", description="Only there; else the visible text or the source."
    )


class Title(Shape):
    """The title. Shorthands: a text, a list (contained, any of)."""

    any: Texts | None = Field(None, description="The title contains one of these.")
    is_: Texts | None = Field(
        None, alias="is", description="The title is one of these, without regard to case."
    )
    re: Regex | None = Field(None, description="An RE2 expression found in the title.")

    @model_validator(mode="after")
    def _says_something(self) -> Title:
        if not self.any and not self.is_ and self.re is None:
            raise ValueError("says nothing about the title; write `any: [...]`")
        return self


class Select(Shape):
    """The first element that a CSS selector finds. Shorthand: the selector."""

    css: Css
    follow: Texts | None = Field(
        None,
        description="Its attributes (aria-describedby) that name, by id, the element whose text is meant.",
    )
    text: Regex | None = Field(None, description="An RE2 expression found in its text.")
    attr: ByName | None = Field(None, description="Tests on its attributes.")


class Json(Shape):
    """A member of a JSON body by JSON Pointer (RFC 6901)."""

    pointer: Annotated[str, StringConstraints(pattern=r"^(/.*)?$", max_length=300)]
    value: Any = Field(
        None,
        description="Equal to this, or to one of this list; texts without regard to case, * as wildcard.",
    )
    re: Regex | None = Field(None, description="An RE2 expression found in a text or number.")
    exists: bool | None = Field(None, description="Whether it is there at all; null counts as there.")


class JsonLd(Shape):
    """Structured data: JSON-LD, microdata, RDFa and the product metas of link previews, all alike. Shorthand: types."""

    type: Texts = Field(("Thing",), description="schema.org types, subtypes included; Thing: any.")
    availability: Texts | None = Field(None, description="schema.org availabilities, in any spelling.")
    every: bool = Field(
        False,
        description="All offers of the thing that the page is about, not just one of the page's; an offer that says nothing fails.",
    )


class Size(Shape):
    """How large the page is. Shorthand: the most decoded bytes."""

    bytes: Annotated[Span, BeforeValidator(parse_span, json_schema_input_type=int | str)] | None = Field(
        None, description="Decoded bytes: the most (5000), or a range (100-5000)."
    )
    text: Annotated[Span, BeforeValidator(parse_span, json_schema_input_type=int | str)] | None = Field(
        None, description="Characters of visible text: the most, or a range."
    )
