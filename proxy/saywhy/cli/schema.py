"""`saywhy schema`: the JSON Schemas, for editors and for tests of those who read our answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any

import typer

from saywhy.cli.output import Failure


class What(StrEnum):
    """Whose shape."""

    envelope = "envelope"
    rules = "rules"
    settings = "settings"


def _envelope() -> dict[str, Any]:
    from saywhy.core.contract.schema import json_schema

    return json_schema()


def _rules() -> dict[str, Any]:
    from saywhy.core.rules import rules_schema

    return rules_schema()


def _settings() -> dict[str, Any]:
    from saywhy.edge.settings.reference import json_schema

    return json_schema()


_SCHEMAS: dict[What, Callable[[], dict[str, Any]]] = {
    What.envelope: _envelope,
    What.rules: _rules,
    What.settings: _settings,
}


def schema(
    what: Annotated[
        What,
        typer.Argument(
            metavar="WHAT",
            help="Whose shape: envelope (what agents get; the default), rules (rule files) or settings.",
            show_default=False,
        ),
    ] = What.envelope,
    table: Annotated[
        bool, typer.Option("--table", help="The settings as a Markdown table: name, unit, default, why.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="On one line.")] = False,
) -> None:
    """The JSON Schema (2020-12) of the envelope, of rule files or of the settings file.

    For an editor that completes and checks a rule file as you write it, save the schema beside it and begin the file
    with "# yaml-language-server: $schema=schema.json".
    """
    if table:
        if what is not What.settings:
            raise Failure("--table is for settings: saywhy schema settings --table.", field="--table")
        from saywhy.edge.settings.reference import markdown

        print(markdown(), end="")
        return
    print(json.dumps(_SCHEMAS[what](), indent=None if as_json else 2, ensure_ascii=False))
