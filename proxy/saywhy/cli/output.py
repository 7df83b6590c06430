"""What every command prints with: tables, colours where there is a terminal, JSON lines, and failures.

On a terminal rich draws; elsewhere the same words come as plain lines without a colour or a box, so that a log stays
readable and grep works. rich is imported by the first call that draws.
"""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from saywhy.core.contract.codes import look_up
from saywhy.core.contract.words import CONTRACT_VERSION

if TYPE_CHECKING:
    from rich.console import Console

PLAIN_WIDTH = 160
"""Columns where standard output is no terminal: wide enough that a table row stays one line."""

GAP = 2
LEAST_PROSE, LEAST_WORD = 20, 8
"""Below these widths nothing is read any more, neither prose nor a word that is cut."""

CODE_STYLES = {
    "fix_input": "yellow", "no": "red", "refetch": "yellow", "get_grant": "magenta", "pay": "magenta",
    "ask_human": "magenta", "after_delay": "cyan", "once": "red",
}  # fmt: skip
"""Retry word -> colour of its codes."""


class Failure(Exception):
    """A command cannot do what was asked. The message is a sentence that says what to do instead.

    `exit_code` is 1 for findings and failures, 2 for usage and settings; `code` is a word of the contract; `field` is
    the option or the setting at fault. Where several things are wrong, the message has a line for each.
    """

    def __init__(
        self, message: str, *, exit_code: int = 2, code: str = "invalid_input", field: str | None = None
    ) -> None:
        super().__init__(message)
        self.message, self.exit_code, self.code, self.field = message, exit_code, code, field

    @property
    def findings(self) -> list[str]:
        """Each thing that is wrong."""
        return self.message.splitlines() or [self.message]


def failure_line(command: str | None, failure: Failure) -> str:
    """The failure as one line of JSON: `{"ok": false, "command": ..., "error": {contract}}`, and where several things are
    wrong `findings` with all of them; the error's message is then the first.
    """
    row = look_up(failure.code)
    first, *more = failure.findings
    error = {
        "code": row.code, "message": first, "field": failure.field, "retry": row.retry, "retry_after": None,
        "contract_version": CONTRACT_VERSION, "kind": row.kind, "origin": row.origin,
        "recovery": {"action": row.action, "same_arguments": row.same_safe, "guidance": row.advice},
        "side_effects": "none_expected", "source": "proxy",
    }  # fmt: skip
    found = {"findings": [first, *more]} if more else {}
    return json.dumps({"ok": False, "command": command, "error": error, **found}, ensure_ascii=False)


def report_failure(command: str | None, failure: Failure, *, as_json: bool) -> int:
    """Write the failure to standard error, as a sentence or as a line of JSON; gives the exit code."""
    if as_json:
        print(failure_line(command, failure), file=sys.stderr)
    else:
        for finding in failure.findings:
            complain(finding)
    return failure.exit_code


def console(*, stderr: bool = False) -> Console:
    """A console for standard output (or error): as wide as the terminal, or PLAIN_WIDTH where there is none."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    return Console(stderr=stderr, highlight=False, width=None if stream.isatty() else PLAIN_WIDTH)


def complain(message: str, *, weight: Literal["error", "warning", "note"] = "error") -> None:
    """One complaint on standard error, in colour on a terminal."""
    if sys.stderr.isatty():
        console(stderr=True).print(f"{weight}: ", style="bold red" if weight == "error" else "yellow", end="")
        console(stderr=True).print(message, markup=False, soft_wrap=True)
    else:
        print(f"{weight}: {message}", file=sys.stderr)


def counted(number: int, thing: str) -> str:
    """`1 rule`, `2 rules`, `1,000 rules`."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def emit(value: Any) -> None:
    """One line of JSON on standard output."""
    print(json.dumps(value, ensure_ascii=False, separators=(", ", ": ")), flush=False)


def emit_all(values: Iterable[Mapping[str, Any]]) -> None:
    """One line of JSON for each value."""
    for value in values:
        emit(value)


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    title: str = "",
    right: Sequence[str] = (),
    keep: Sequence[str] = (),
) -> None:
    """Print a table; columns named in `right` are aligned right, those in `keep` are cut last. A cell may be a `Styled`; no
    markup is read.

    On a terminal the last column folds between its words; where it has no room left its texts stand below their rows, and
    where that is not enough the widest columns are cut. No word is broken. Elsewhere nothing wraps at all.
    """
    cells = [[cell if isinstance(cell, Styled) else Styled(str(cell)) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        _plain_table(columns, cells, title, right)
        return
    from rich import box
    from rich.table import Table
    from rich.text import Text

    out = console()
    drawn = Table(
        title=title or None, title_justify="left", title_style="bold", header_style="bold", box=box.SIMPLE_HEAD,
        pad_edge=False, padding=(0, GAP, 0, 0), show_edge=False,
    )  # fmt: skip
    texts = list(zip(columns, *cells, strict=True))
    if _is_prose(texts[-1]) and fit(texts[:-1], out.width - LEAST_PROSE - GAP - 1) != _widths(texts[:-1]):
        _below(texts, out)
        return
    fitted = fit(texts, out.width, [columns.index(name) for name in keep])
    for number, (column, width) in enumerate(zip(columns, fitted, strict=True)):
        last = number == len(columns) - 1
        drawn.add_column(
            column,
            justify="right" if column in right else "left",
            width=width,
            no_wrap=not last,
            overflow="ellipsis",
        )
    for row in cells:
        drawn.add_row(*[Text(cell, style=cell.style) for cell in row])
    out.print(drawn)


def _widths(columns: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(len, column)) for column in columns]


def _is_prose(column: Sequence[str]) -> bool:
    return max(map(len, column)) > LEAST_PROSE and any(" " in cell for cell in column)


def _below(columns: Sequence[Sequence[str]], out: Console) -> None:
    """The rows with the texts of the last column below them, indented."""
    from rich.text import Text

    widths = fit(columns[:-1], out.width)
    for *row, prose in zip(*columns, strict=True):
        line = Text()
        for cell, width in zip(row, widths, strict=True):
            shown = cell if len(cell) <= width else cell[: width - 1] + "…"
            line.append(shown.ljust(width), style=cell.style if isinstance(cell, Styled) else "bold")
            line.append(" " * GAP)
        line.rstrip()
        out.print(line)
        for part in textwrap.wrap(prose, max(out.width - 4, LEAST_PROSE), break_long_words=False):
            out.print(Text(f"    {part}", style="dim" if prose is not columns[-1][0] else "bold"))


def fit(columns: Sequence[Sequence[str]], room: int, keep: Sequence[int] = ()) -> list[int]:
    """The widths of columns, headings included, in a terminal of `room` columns.

    The last one gives way first, down to its longest word but no further than LEAST_PROSE, since it may fold; then the
    widest of all, one at a time, since it will be cut; those numbered in `keep` only when no other can give.
    """
    widths = _widths(columns)
    over = sum(widths) + (GAP + 1) * (len(columns) - 1) + GAP - room
    words = max((len(word) for cell in columns[-1] for word in cell.split()), default=0) if over > 0 else 0
    give = min(max(over, 0), max(widths[-1] - max(words, LEAST_PROSE), 0))
    widths[-1] -= give
    over -= give
    every = range(len(widths))
    for giving in ([place for place in every if place not in keep], every):
        while over > 0 and giving:
            widest = max(giving, key=widths.__getitem__)
            if widths[widest] <= LEAST_WORD:
                break
            widths[widest] -= 1
            over -= 1
    return widths


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
