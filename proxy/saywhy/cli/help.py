"""How a command's help looks: arguments by the word that the help uses for them, and no names of Python's types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from typer.core import TyperArgument, TyperCommand

if TYPE_CHECKING:
    Context = Any
    Formatter = Any


class PlainCommand(TyperCommand):
    """A command whose arguments are shown by their metavar alone."""

    def collect_usage_pieces(self, ctx: Context) -> list[str]:
        """`[OPTIONS] SOURCE`, `[OPTIONS] PATH...`, `[OPTIONS] [PATH]`."""
        return ["[OPTIONS]", *(_usage(one) for one in self.get_params(ctx) if isinstance(one, TyperArgument))]

    def format_options(self, ctx: Context, formatter: Formatter) -> None:
        """Arguments and options, each as two columns."""
        arguments = [one for one in self.get_params(ctx) if isinstance(one, TyperArgument)]
        others = [
            one.get_help_record(ctx) for one in self.get_params(ctx) if not isinstance(one, TyperArgument)
        ]
        for title, rows in (
            ("Arguments", [(_word(one), one.help or "") for one in arguments]),
            ("Options", [row for row in others if row is not None]),
        ):
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def _word(argument: TyperArgument) -> str:
    return argument.metavar or str(argument.name).upper()


def _usage(argument: TyperArgument) -> str:
    word = _word(argument) + ("..." if argument.nargs != 1 else "")
    return word if argument.required else f"[{word}]"
