"""`saywhy rules`: every rule that would be in force."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from saywhy.cli import layers
from saywhy.cli.output import Failure, Styled, coded, emit, table
from saywhy.cli.workbench import workbench
from saywhy.core.rules import RuleInfo
from saywhy.edge.packs import ExampleError, examples


def rules(
    packs: Annotated[list[str] | None, typer.Argument(help="Only these packs.", show_default=False)] = None,
    config: layers.Config = None,
    folders: layers.RuleFolders = None,
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON a rule.")] = False,
) -> int:
    """Every rule in the order in which it is tried: pack, id, code, mode, on which successes, examples, look-alikes.

    A pack marked opt-in counts only where the settings name it.
    """
    book = workbench(config, folders).rulebook
    unknown = sorted(set(packs or ()) - set(book.packs))
    if unknown:
        raise Failure(f"No pack {unknown[0]!r}; there are {', '.join(book.packs)}.", field="PACKS")
    infos = [info for info in book.rules if not packs or info.pack in packs]
    proofs = _proofs(infos)
    if as_json:
        for info in infos:
            members = info._asdict() | {
                "examples": proofs[info.name, False],
                "look_alikes": proofs[info.name, True],
            }
            emit(members)
        return 0
    table(
        ["pack", "rule", "code", "mode", "success", "examples", "look-alikes"],
        [
            (
                Styled(info.pack, "dim") if info.opt_in else info.pack,
                info.id,
                coded(info.code),
                Styled(info.mode, "yellow" if info.mode == "shadow" else ""),
                info.on_success or "-",
                proofs[info.name, False],
                proofs[info.name, True],
            )
            for info in infos
        ],
        right=["examples", "look-alikes"],
    )
    opt_in = sorted({info.pack for info in infos if info.opt_in})
    print(f"{len(infos)} rules in {len({info.pack for info in infos})} packs.")
    if opt_in:
        print(f"Opt-in, not in force unless the settings name them: {', '.join(opt_in)}.")
    return 0


def _proofs(infos: list[RuleInfo]) -> Counter[tuple[str, bool]]:
    """(rule, whether look-alikes) -> how many."""
    counts: Counter[tuple[str, bool]] = Counter()
    for folder in dict.fromkeys(Path(info.file).parent for info in infos):
        try:
            counts.update((example.rule, example.look_alike) for example in examples(folder))
        except ExampleError as unreadable:
            raise Failure(str(unreadable), exit_code=1) from None
    return counts
