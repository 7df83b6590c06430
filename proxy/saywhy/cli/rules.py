"""`saywhy rules`: every rule that would be in force."""

from __future__ import annotations

import sys
from collections import Counter
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Annotated

import typer

from saywhy.cli import layers
from saywhy.cli.output import Failure, Styled, coded, console, counted, emit, table
from saywhy.cli.workbench import workbench
from saywhy.core.normalize import Normalizer
from saywhy.core.rules import RuleInfo
from saywhy.edge.packs import ExampleError, examples

WIDE = 115
"""Columns of a terminal from which on every column of the table has its room."""

Proofs = Counter[tuple[str, bool]]
"""(rule, whether look-alikes) -> how many."""


def rules(
    packs: Annotated[
        list[str] | None, typer.Argument(metavar="PACK", help="Only these packs.", show_default=False)
    ] = None,
    config: layers.Config = None,
    folders: layers.RuleFolders = None,
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON a rule.")] = False,
) -> int:
    """Every rule in the order in which it is tried: pack, id, code, mode, on which successes, examples, look-alikes.

    The mode is off where a pack is opt-in and neither rules.packs nor a route's packs name it.
    """
    made = workbench(config, folders, quiet=as_json)
    book = made.rulebook
    unknown = sorted(set(packs or ()) - set(book.packs))
    if unknown:
        raise Failure(f"No pack {unknown[0]!r}; there are {', '.join(book.packs)}.", field="PACK")
    in_force = _in_force(made)
    order = {pack: place for place, pack in enumerate(dict.fromkeys((*in_force, *book.packs)))}
    infos = [
        info
        for info in sorted(book.rules, key=lambda info: order[info.pack])
        if not packs or info.pack in packs
    ]
    modes = {info.name: info.mode if info.pack in in_force else "off" for info in infos}
    proofs = _proofs(infos)
    if as_json:
        for info in infos:
            members = info._asdict() | {
                "mode": modes[info.name],
                "examples": proofs[info.name, False],
                "look_alikes": proofs[info.name, True],
            }
            emit(members)
        return 0
    narrow = sys.stdout.isatty() and console().width < WIDE
    (_by_pack if narrow else _in_one)(infos, modes, proofs)
    off = sorted({info.pack for info in infos if modes[info.name] == "off"})
    print(f"{counted(len(infos), 'rule')} in {counted(len({info.pack for info in infos}), 'pack')}.")
    if off:
        print(f"Opt-in and off until rules.packs names them in the settings: {', '.join(off)}.")
    if narrow:
        print("The numbers are examples / look-alikes. A wider terminal shows on which successes too.")
    return 0


def _in_one(infos: list[RuleInfo], modes: dict[str, str], proofs: Proofs) -> None:
    table(
        ["pack", "rule", "code", "mode", "success", "examples", "look-alikes"],
        [
            (
                Styled(info.pack, "dim") if info.opt_in else info.pack,
                info.id,
                coded(info.code),
                _mode(modes[info.name]),
                info.on_success or "-",
                proofs[info.name, False],
                proofs[info.name, True],
            )
            for info in infos
        ],
        right=["examples", "look-alikes"],
        keep=["rule"],
    )


def _by_pack(infos: list[RuleInfo], modes: dict[str, str], proofs: Proofs) -> None:
    """A table a pack, without the columns for which 80 have no room: a rule's name must be there whole."""
    for pack, rows in groupby(infos, key=attrgetter("pack")):
        table(
            ["rule", "code", "mode", "examples"],
            [
                (
                    info.id,
                    coded(info.code),
                    _mode(modes[info.name]),
                    f"{proofs[info.name, False]} / {proofs[info.name, True]}",
                )
                for info in rows
            ],
            title=pack,
            right=["examples"],
            keep=["rule"],
        )


def _mode(mode: str) -> Styled:
    return Styled(mode, {"shadow": "yellow", "off": "dim"}.get(mode, ""))


def _in_force(made: Normalizer) -> list[str]:
    """The packs that are tried on some route, in the order of the first that tries them."""
    usual = [info.pack for info in made.rulebook.rules if not info.opt_in]
    return list(dict.fromkeys(pack for route in made.routes.routes for pack in (route.packs or usual)))


def _proofs(infos: list[RuleInfo]) -> Proofs:
    counts: Proofs = Counter()
    for folder in dict.fromkeys(Path(info.file).parent for info in infos):
        try:
            counts.update((example.rule, example.look_alike) for example in examples(folder))
        except ExampleError as unreadable:
            raise Failure(str(unreadable), exit_code=1) from None
    return counts
