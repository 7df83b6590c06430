"""`saywhy test`: the examples that stand beside the rules."""
# ruff: noqa: PT028 - a command, not one of pytest's functions

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import Annotated

import typer

from saywhy.cli.output import Failure, Styled, emit, lined, table
from saywhy.cli.proofs import Proof, prove
from saywhy.edge.packs import FILE, ExampleError, RuleErrors, examples, load_rulebook, shipped_rules


def test(
    path: Annotated[
        Path | None,
        typer.Argument(
            metavar="PATH",
            help="A folder of packs, one pack or its rules.yaml, or one example. (the shipped packs)",
            show_default=False,
        ),
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Write down what comes out now as expected. Read what it wrote.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON an example.")] = False,
) -> int:
    """Run the examples in rule packs: each must be answered by its rule with its envelope, each look-alike must not."""
    folder, only = _folder_of(path or shipped_rules())
    try:
        book = load_rulebook([folder])
        found = [example for example in examples(folder) if only is None or example.path.resolve() == only]
    except RuleErrors as mistakes:
        raise Failure(str(mistakes), exit_code=2) from None
    except ExampleError as unreadable:
        raise Failure(str(unreadable), exit_code=1) from None
    proofs = list(prove(book, found))
    written = [proof for proof in proofs if update and proof.fixable and not proof.ok]
    for proof in written:
        proof.update()
    failed = [proof for proof in proofs if not proof.ok and not (update and proof.fixable)]
    if as_json:
        for proof in proofs:
            emit(_line(proof, fixed=update and proof.fixable and not proof.ok))
    else:
        _report(proofs, failed, written)
    if not found:
        raise Failure(f"No examples below {path or folder}.", exit_code=1)
    return 1 if failed else 0


def _folder_of(path: Path) -> tuple[Path, Path | None]:
    """The folder to load, and the one example that is meant, if one is."""
    if path.is_file() and path.suffix in (".http", ".json"):
        return path.resolve().parent.parent, path.with_suffix(".http").resolve()
    if path.is_file() and path.name == FILE:
        return path.resolve().parent, None
    if path.name == "examples" and path.is_dir():
        return path.resolve().parent, None
    return path, None


def _line(proof: Proof, *, fixed: bool) -> dict[str, object]:
    example = proof.example
    return {
        "example": str(example.path),
        "pack": example.pack,
        "rule": example.rule or None,
        "look_alike": example.look_alike,
        "ok": proof.ok or fixed,
        "problem": None if proof.ok or fixed else proof.problem,
        "updated": fixed,
        "diff": [] if fixed else proof.diff(),
    }


def _report(proofs: list[Proof], failed: list[Proof], written: list[Proof]) -> None:
    by_pack: defaultdict[str, list[Proof]] = defaultdict(list)
    for proof in proofs:
        by_pack[proof.example.pack].append(proof)
    bad = Counter(proof.example.pack for proof in failed)
    table(
        ["pack", "rules", "examples", "look-alikes", "failed"],
        [
            (
                pack,
                len({proof.example.rule for proof in some if not proof.example.look_alike}),
                sum(not proof.example.look_alike for proof in some),
                sum(proof.example.look_alike for proof in some),
                Styled(str(bad[pack]), "bold red" if bad[pack] else "green"),
            )
            for pack, some in by_pack.items()
        ],
        right=["rules", "examples", "look-alikes", "failed"],
    )
    for proof in failed:
        lined([Styled(f"{proof.example.path}: {proof.problem}.", "red")])
        lined(Styled(line, _diff_style(line)) for line in proof.diff())
    for proof in written:
        lined([f"wrote {proof.example.expected_path}"])
    verdict = (
        f"{len(failed)} of {len(proofs)} fail."
        if failed
        else f"All {len(proofs)} hold."
        if len(proofs) > 1
        else "It holds."
    )
    lined([Styled(verdict, "bold red" if failed else "bold green")])


def _diff_style(line: str) -> str:
    return {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "dim")
