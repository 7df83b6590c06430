"""What every command prints with: tables, colours where there is a terminal, JSON lines, and failures.

On a terminal rich draws; elsewhere the same words come as plain lines without a colour or a box, so that a log stays
readable and grep works. rich is imported by the first call that draws.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from saywhy.core.contract.codes import look_up
from saywhy.core.contract.words import CONTRACT_VERSION

if TYPE_CHECKING:
    from rich.console import Console

PLAIN_WIDTH = 160
"""Columns where standard output is no terminal: wide enough that a table row stays one line."""

CODE_STYLES = {
    "fix_input": "yellow", "no": "red", "refetch": "yellow", "get_grant": "magenta", "pay": "magenta",
    "ask_human": "magenta", "after_delay": "cyan", "once": "red",
}  # fmt: skip
"""Retry word -> colour of its codes."""


class Failure(Exception):
    """A command cannot do what was asked. The message is a sentence that says what to do instead.

    `exit_code` is 1 for findings and failures, 2 for usage and settings; `code` is a word of the contract; `field` is
    the option or the setting at fault.
    """

    def __init__(
        self, message: str, *, exit_code: int = 2, code: str = "invalid_input", field: str | None = None
    ) -> None:
        super().__init__(message)
        self.message, self.exit_code, self.code, self.field = message, exit_code, code, field


def failure_line(command: str | None, failure: Failure) -> str:
    """The failure as one line of JSON: `{"ok": false, "command": ..., "error": {contract}}`."""
    row = look_up(failure.code)
    error = {
        "code": row.code, "message": failure.message, "field": failure.field, "retry": row.retry, "retry_after": None,
        "contract_version": CONTRACT_VERSION, "kind": row.kind, "origin": row.origin,
        "recovery": {"action": row.action, "same_arguments": row.same_safe, "guidance": row.advice},
        "side_effects": "none_expected", "source": "proxy",
    }  # fmt: skip
    return json.dumps({"ok": False, "command": command, "error": error}, ensure_ascii=False)


def report_failure(command: str | None, failure: Failure, *, as_json: bool) -> int:
    """Write the failure to standard error, as a sentence or as a line of JSON; gives the exit code."""
    if as_json:
        print(failure_line(command, failure), file=sys.stderr)
    else:
        complain(failure.message)
    return failure.exit_code


def console(*, stderr: bool = False) -> Console:
    """A console for standard output (or error): as wide as the terminal, or PLAIN_WIDTH where there is none."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    return Console(stderr=stderr, highlight=False, width=None if stream.isatty() else PLAIN_WIDTH)


def complain(message: str) -> None:
    """One complaint on standard error, red on a terminal."""
    if sys.stderr.isatty():
        console(stderr=True).print("error: ", style="bold red", end="")
        console(stderr=True).print(message, markup=False)
    else:
        print(f"error: {message}", file=sys.stderr)


def emit(value: Any) -> None:
    """One line of JSON on standard output."""
    print(json.dumps(value, ensure_ascii=False, separators=(", ", ": ")), flush=False)


def emit_all(values: Iterable[Mapping[str, Any]]) -> None:
    """One line of JSON for each value."""
    for value in values:
        emit(value)


def table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], *, title: str = "", right: Sequence[str] = ()
) -> None:
    """Print a table; columns named in `right` are aligned right. A cell may be a `Styled`; no markup is read.

    On a terminal the last column wraps, and the others too where it is narrow; elsewhere nothing wraps at all.
    """
    cells = [[cell if isinstance(cell, Styled) else Styled(str(cell)) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        _plain_table(columns, cells, title, right)
        return
    from rich import box
    from rich.table import Table
    from rich.text import Text

    out = console()
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    roomy = sum(widths[:-1]) + 2 * len(columns) + 20 <= out.width
    drawn = Table(
        title=title or None, title_justify="left", title_style="bold", header_style="bold", box=box.SIMPLE_HEAD,
        pad_edge=False, padding=(0, 2, 0, 0),
    )  # fmt: skip
    for column in columns:
        whole = roomy and column != columns[-1]
        drawn.add_column(
            column, justify="right" if column in right else "left", no_wrap=whole, overflow="fold"
        )
    for row in cells:
        drawn.add_row(*[Text(cell, style=cell.style) for cell in row])
    out.print(drawn)


def _plain_table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], title: str, right: Sequence[str]
) -> None:
    widths = [max(len(cell) for cell in column) for column in zip(columns, *rows, strict=True)]
    if title:
        print(title)
    for row in (columns, *rows):
        padded = [
            cell.rjust(width) if name in right else cell.ljust(width)
            for name, cell, width in zip(columns, row, widths, strict=True)
        ]
        print("  ".join(padded).rstrip())
    print()


class Styled(str):
    """A text with a colour for terminals."""

    __slots__ = ("style",)
    style: str

    def __new__(cls, text: str, style: str = "") -> Styled:
        """`style` is a rich style, such as "bold red"."""
        made = super().__new__(cls, text)
        made.style = style
        return made


def lined(lines: Iterable[str]) -> None:
    """Print lines, coloured on a terminal where they are `Styled`; no markup is read, nothing is wrapped."""
    if not sys.stdout.isatty():
        for line in lines:
            print(line)
        return
    from rich.text import Text

    out = console()
    for line in lines:
        out.print(Text(line, style=line.style if isinstance(line, Styled) else ""), soft_wrap=True)


def code_style(code: str) -> str:
    """The colour of a code, by what it asks of the agent."""
    return CODE_STYLES.get(look_up(code).retry, "white") if code else "dim"


def coded(code: str) -> Styled:
    """A code in its colour."""
    return Styled(code or "-", code_style(code))
