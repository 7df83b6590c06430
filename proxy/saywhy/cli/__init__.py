"""The command line: one file a command, registered in the table below, and nothing else.

A command `x` is the function `x` in `saywhy.cli.x`, annotated for typer. It returns its exit code (None or 0 ok,
1 findings or failure, 2 usage or settings) or raises `output.Failure` with a sentence; every command takes `--json`.
`main` turns whatever goes wrong into one line on standard error; no traceback reaches a terminal.

Only the file of the command that was named is imported, and typer and rich (0.3 s together) only once a command was
named, so that `saywhy --help` is there at once.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from saywhy.cli.output import Failure, report_failure
from saywhy.cli.streams import let_go, nowhere_to_write, open_closed
from saywhy.cli.usage import sentence

if TYPE_CHECKING:
    import typer


class Command(NamedTuple):
    """One row of `saywhy --help`."""

    name: str
    panel: str
    summary: str


_RUN, _LOOK, _RULES, _ABOUT = "Run", "Look at responses", "Rules and settings", "About"

COMMANDS = (
    Command(
        "demo", _RUN, "A shop that fails in every way, the proxy before it, and a tour of before and after."
    ),
    Command("serve", _RUN, "The proxy."),
    Command("healthcheck", _RUN, "Ask a running proxy whether it is ready (for images without curl)."),
    Command("explain", _LOOK, "One response: before, after, and every step of why."),
    Command("replay", _LOOK, "Many saved responses through the rules: codes, what matched, right and wrong."),
    Command("check", _RULES, "Settings and rule files: every mistake with file, line and remedy."),
    Command("test", _RULES, "Run the examples that stand beside the rules."),
    Command("rules", _RULES, "Every rule: pack, id, code, mode, examples."),
    Command("codes", _ABOUT, "The stable codes and what each asks of an agent."),
    Command("schema", _ABOUT, "The JSON Schemas of the envelope, of rule files and of the settings."),
    Command("version", _ABOUT, "The version."),
)

ABOUT = "A reverse proxy that turns a site's error pages into structured errors for AI agents. Browsers notice nothing."
EPILOG = """Every command explains itself: saywhy COMMAND --help.
Exit codes: 0 ok, 1 findings or failure, 2 usage or settings.
With --json results are JSON, and a failure is one JSON line on standard error.
Words that the shell completes: saywhy --install-completion."""

COMPLETING = "_SAYWHY_COMPLETE"
"""Set by the shell that wants to know how a line may go on; COMP_WORDS then holds the line (bash, zsh, fish)."""


def front_page(*, colour: bool) -> str:
    """What `saywhy` and `saywhy --help` print: the commands by what they are for."""
    bold, dim, end = ("\x1b[1m", "\x1b[2m", "\x1b[0m") if colour else ("", "", "")
    lines = ["", f"{bold}saywhy{end} COMMAND [OPTIONS]", "", ABOUT]
    for panel in dict.fromkeys(row.panel for row in COMMANDS):
        lines += ["", f"{bold}{panel}{end}"]
        lines += [f"  {row.name:<12} {row.summary}" for row in COMMANDS if row.panel == panel]
    return "\n".join([*lines, "", *(f"{dim}{line}{end}" for line in EPILOG.splitlines()), ""])


def _load(name: str) -> Callable[..., Any]:
    module = f"saywhy.cli.{name}"
    try:
        return getattr(import_module(module), name)  # type: ignore[no-any-return]
    except ModuleNotFoundError as missing:
        if missing.name != module:
            raise
        raise Failure(
            f"The command {name!r} is not part of this build.", exit_code=2, code="not_found"
        ) from None


def _stand_in(row: Command) -> Callable[[], None]:
    def listed_only() -> None:
        raise AssertionError(f"{row.name} was run without being loaded")

    return listed_only


def build(named: str | None) -> typer.Typer:
    """The application with the command `named` in full and the others as lines of the help."""
    import typer

    from saywhy.cli.help import PlainCommand

    app = typer.Typer(
        name="saywhy",
        pretty_exceptions_enable=False,
        # Help in plain lines: in a pipe a drawn box is padding, and flags get the words of their types.
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for row in COMMANDS:
        function = _load(row.name) if row.name == named else _stand_in(row)
        summary = None if row.name == named else row.summary
        app.command(row.name, cls=PlainCommand, help=summary, short_help=row.summary)(function)
    return app


def run(argv: Sequence[str]) -> int:
    """Run one command line (without the program's name) and give its exit code."""
    if os.environ.get(COMPLETING):
        return _complete()
    if not argv or argv[0] in ("--help", "-h", "help"):
        print(front_page(colour=sys.stdout.isatty() and not os.environ.get("NO_COLOR")))
        return 0
    if argv[0] == "--version":
        argv = ["version", *argv[1:]]
    import typer

    named = next((word for word in argv if not word.startswith("-")), None)
    as_json = "--json" in argv
    try:
        # Not by calling the application: typer would make exit code 1 of a reader that went away.
        command = typer.main.get_command(build(named))
        with command.make_context("saywhy", list(argv)) as context:
            answer = command.invoke(context)
    except Failure as failure:
        return report_failure(named, failure, as_json=as_json)
    except typer.Exit as left:  # --help, which is done
        return left.exit_code
    except typer.TyperException as usage:
        remedy = (
            f" See `saywhy {named} --help`."
            if named in {row.name for row in COMMANDS}
            else " See `saywhy --help`."
        )
        said = sentence(usage.format_message())
        return report_failure(named, Failure(said + remedy, exit_code=usage.exit_code), as_json=as_json)
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except BrokenPipeError:
        raise
    except Exception as wrong:  # the last resort: a sentence, never a traceback
        return report_failure(named, _unexpected(wrong), as_json=as_json)
    return answer if isinstance(answer, int) else 0


def _complete() -> int:
    """Answer the shell: typer does, with the command in full whose options are asked for."""
    words = os.environ.get("COMP_WORDS", os.environ.get("_TYPER_COMPLETE_ARGS", "")).split()[1:]
    names = {row.name for row in COMMANDS}
    answer = build(next((word for word in words if word in names), None))(
        [], prog_name="saywhy", standalone_mode=False
    )
    return answer if isinstance(answer, int) else 0


def _unexpected(wrong: Exception) -> Failure:
    if isinstance(wrong, OSError) and wrong.strerror:
        where = f"{wrong.filename}: " if wrong.filename else ""
        return Failure(f"{where}{wrong.strerror}.", exit_code=1)
    at = wrong.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    place = f" at {at.tb_frame.f_globals.get('__name__', '?')}:{at.tb_lineno}" if at is not None else ""
    return Failure(
        f"saywhy itself failed ({type(wrong).__name__}{place}): {wrong}", exit_code=1, code="internal"
    )


def main() -> None:
    """The entry point `saywhy`."""
    words, closed = sys.argv[1:], open_closed()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # names of files may hold bytes that are no text
    if nowhere_to_write(words, closed):
        nowhere = Failure(
            "Standard output is closed, so there is nowhere to write; give it a file or a pipe.", exit_code=1
        )
        sys.exit(report_failure(None, nowhere, as_json="--json" in words))
    try:
        code = run(words)
        sys.stdout.flush()
    except BrokenPipeError:
        let_go()
        code = 0
    sys.exit(code)
