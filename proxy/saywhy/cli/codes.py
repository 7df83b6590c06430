"""`saywhy codes`: the stable codes and what each asks of an agent."""

from __future__ import annotations

from typing import Annotated

import typer

from saywhy.cli.output import coded, emit, table
from saywhy.core.contract.codes import CODES, DEFAULT_WAIT


def codes(
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON a code.")] = False,
) -> int:
    """The stable codes and what each asks of an agent."""
    if as_json:
        for row in CODES.values():
            emit(row._asdict() | {"default_wait_seconds": DEFAULT_WAIT.get(row.code)})
        return 0
    table(
        ["code", "retry", "status", "recovery", "advice"],
        [(coded(row.code), row.retry, row.status, row.action, row.advice) for row in CODES.values()],
        right=["status"],
    )
    return 0
