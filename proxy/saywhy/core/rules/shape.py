"""The shape of a pack file, as models: what a rule author may write. What a rule then does is compiled elsewhere.

Every condition has one full form and shorthands; the shorthands are widened here and in `parts`, so that the rest of the package
knows the full form alone, and both are in the schema. The package's docstring is the reference for authors.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StringConstraints, model_validator

from saywhy.core.rules.parts import (
    ByName,
    Cookies,
    Css,
    Json,
    JsonLd,
    Literals,
    Matching,
    Place,
    Regex,
    Select,
    Shape,
    Size,
    Text,
    Texts,
    Title,
    listed,
    written_text,
)
from saywhy.core.rules.ranges import Span, parse_span

_CODE = r"^[a-z][a-z0-9_]{0,63}$"
_NAME = r"^[a-z0-9][a-z0-9-]{0,63}$"


def _keyed(key: str) -> Any:
    def widen(value: Any) -> Any:
        return value if isinstance(value, dict) else {key: value}

    return BeforeValidator(widen, json_schema_input_type=Any)


def _each(key: str) -> Any:
    def widen(value: Any) -> Any:
        return [item if isinstance(item, dict) else {key: item} for item in listed(value)]

    return BeforeValidator(widen, json_schema_input_type=Any)


def _json_tests(value: Any) -> Any:
    """`{/error/code: x}` is short for one test a pointer, all of which must hold."""
    if (
        isinstance(value, dict)
        and value
        and all(isinstance(key, str) and key.startswith("/") for key in value)
    ):
        return [
            {"pointer": key, **test} if isinstance(test, dict) else {"pointer": key, "value": test}
            for key, test in value.items()
        ]
    return listed(value)


Word = Literal["html", "json", "xml", "text", "binary", "empty"]


class When(Shape):
    """Conditions, all of which must hold. `any` and `not` hold lists of further groups."""

    status: (
        Annotated[
            tuple[Annotated[Span, BeforeValidator(parse_span)], ...],
            BeforeValidator(listed, json_schema_input_type=int | str | list[int | str]),
            Field(min_length=1),
        ]
        | None
    ) = None
    method: Texts | None = None
    host: Texts | None = None
    path: Texts | None = None
    header: ByName | None = None
    cookie: Cookies | None = None
    media: Texts | None = None
    title: Annotated[Title, _keyed("any")] | None = None
    contains: Annotated[Literals, _keyed("any")] | None = None
    matches: Annotated[Matching, _keyed("re")] | None = None
    select: Annotated[tuple[Select, ...], _each("css"), Field(min_length=1)] | None = None
    script: Texts | None = None
    json_: (
        Annotated[
            tuple[Json, ...], BeforeValidator(_json_tests, json_schema_input_type=Any), Field(min_length=1)
        ]
        | None
    ) = Field(None, alias="json")
    jsonld: Annotated[JsonLd, _keyed("type")] | None = None
    size: Annotated[Size, _keyed("bytes")] | None = None
    all: Groups | None = None
    any: Groups | None = None
    not_: Groups | None = Field(None, alias="not")

    @model_validator(mode="after")
    def _says_something(self) -> When:
        if not self.model_fields_set:
            raise ValueError("has no condition; name at least one")
        return self


Groups = Annotated[
    tuple[When, ...], BeforeValidator(listed, json_schema_input_type=When | list[When]), Field(min_length=1)
]


class Extract(Shape):
    """Where a value comes from: one of css, json, header; `re` then takes a group out of it, or out of the page."""

    css: Css | None = None
    attr: Text | None = Field(None, description="With css: the attribute instead of the text.")
    follow: Texts | None = Field(
        None, description="With css: its attributes that name, by id, the element whose text is taken."
    )
    json_: Annotated[str, StringConstraints(pattern=r"^(/.*)?$", max_length=300)] | None = Field(
        None, alias="json"
    )
    header: Text | None = None
    re: Regex | None = None
    group: Annotated[int, Field(ge=0, le=20)] = Field(
        1, description="Which group of `re`; 0 is the whole match."
    )
    in_: Place = Field("text", alias="in", description="Where `re` looks when it stands alone.")
    unit: Literal["seconds", "minutes", "hours"] = Field(
        "seconds", description="Of a number taken for retry_after."
    )

    @model_validator(mode="after")
    def _has_one_source(self) -> Extract:
        named = [
            name
            for name, value in (("css", self.css), ("json", self.json_), ("header", self.header))
            if value is not None
        ]
        if len(named) > 1:
            raise ValueError(f"has several sources ({', '.join(named)}); keep one")
        if not named and self.re is None:
            raise ValueError("has no source; name css, json, header or re")
        if self.attr is not None and self.css is None:
            raise ValueError("has attr without css; name the element")
        if self.follow is not None and (self.css is None or self.attr is not None):
            raise ValueError("has follow beside attr or without css; name the element, and one of the two")
        return self


class Then(Shape):
    """What a rule says. Texts may hold `{name}` for a value that `extract` found."""

    code: Annotated[str, StringConstraints(pattern=_CODE)] = Field(
        description="A known code or the site's own word."
    )
    message: Text | None = None
    field: Text | None = None
    retry_after: Annotated[int, Field(ge=1, le=86400)] | None = Field(None, description="Seconds.")
    documentation_url: Text | None = None
    continue_url: Text | None = None
    alternatives: tuple[dict[str, Text], ...] = Field((), max_length=10)
    extract: dict[Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")], Extract] = Field(
        {}, max_length=10
    )


class Rule(Shape):
    """One rule of a pack."""

    id: Annotated[str, StringConstraints(pattern=_NAME)]
    about: Text
    when: When
    then: Then
    mode: Literal["enforce", "shadow"] = Field(
        "enforce", description="shadow: evaluated and counted, then passed over."
    )
    on_success: Literal["rewrite", "annotate"] | None = Field(
        None, description="Look at responses below 400 too."
    )
    outranks_failure: bool = Field(
        False, description="May say otherwise than a 5xx; exact vendor headers only."
    )


class Pack(Shape):
    """A pack file."""

    pack: Annotated[str, StringConstraints(pattern=_NAME)]
    about: Annotated[str, BeforeValidator(written_text), StringConstraints(min_length=1, max_length=2000)]
    opt_in: bool = Field(False, description="Only where a route names the pack.")
    rules: tuple[Rule, ...] = Field(min_length=1, max_length=5000)


def rules_schema() -> dict[str, Any]:
    """The JSON Schema of a pack file, for editors; `rules/schema.json` is this."""
    schema = Pack.model_json_schema(by_alias=True, mode="validation")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "A saywhy rule pack",
    }
