"""`saywhy replay`: many saved responses through the rules, and what became of them."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from saywhy.cli import layers, recordings
from saywhy.cli.output import Failure, Styled, coded, complain, counted, emit, table
from saywhy.cli.recordings import Complaint, Recording
from saywhy.cli.scores import Result, Scores
from saywhy.cli.workbench import judge, workbench
from saywhy.core.normalize import Normalizer
from saywhy.edge.packs import FILE

RULES_SHOWN = 25
"""Rules in the table; --json has them all."""


def replay(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH",
            help="Files (.http, .har, .jsonl, .jsonl.gz) or folders of them.",
            show_default=False,
        ),
    ],
    all_packs: Annotated[bool, typer.Option("--all-packs", help="Switch the opt-in packs on.")] = False,
    accept: Annotated[
        str,
        typer.Option(
            metavar="TYPE", help="What the caller asks for. (application/problem+json)", show_default=False
        ),
    ] = "application/problem+json",
    config: layers.Config = None,
    rules: layers.RuleFolders = None,
    misses: Annotated[
        int, typer.Option(metavar="NUMBER", help="How many misses to list. (40)", min=0, show_default=False)
    ] = 40,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 1 when an expectation is not met.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON a response.")] = False,
) -> int:
    """Many saved responses through the rules: codes, what matched, and, where expectations stand, right and wrong.

    A record of a .jsonl file has: id, status, headers (values may be lists), body or body_base64 or file, and may have
    method, url, category, look_alike, expected_code (null: must pass untouched), also_acceptable, expected_field.
    """
    normalizer = workbench(config, rules, all_packs=all_packs, quiet=as_json)
    there = _there(paths)
    for path in there:
        if not as_json and (folder := _rules_beside(path, normalizer)):
            complain(
                f"{folder} holds rules that were not asked; --rules {folder} asks them too.", weight="note"
            )
    files = [file for path in there for file in recordings.find(path)]
    if not files:
        raise Failure(
            f"No {', '.join(recordings.SUFFIXES)} below {', '.join(map(str, paths))}.", field="PATH"
        )
    scores, complaints = Scores(), len(paths) - len(there)
    now = time.time()
    for item in _watched(files, accept, quiet=as_json):
        if isinstance(item, Complaint):
            complaints += 1
            complain(str(item))
            continue
        result = Result.of(item, judge(normalizer, item.head, item.body, now=now))
        scores.add(result)
        if as_json:
            emit(result.line())
    if not as_json:
        _report(scores, misses)
        if complaints:
            print(f"{counted(complaints, 'complaint')}; see above.")
    return 1 if complaints or (strict and scores.wrong) else 0


def _there(paths: list[Path]) -> list[Path]:
    """The paths that are there; the others are told. Raises Failure where none is."""
    gone = [f"{path}: there is no such file or folder." for path in paths if not path.exists()]
    if len(gone) == len(paths):
        raise Failure("\n".join(gone), field="PATH")
    for line in gone:
        complain(line)
    return [path for path in paths if path.exists()]


def _rules_beside(path: Path, normalizer: Normalizer) -> Path | None:
    """The folder with rule packs that `path` is or lies in, where its rules are not among those that judge."""
    here = path.resolve()
    packs = here.glob(f"*/{FILE}") if here.is_dir() else ()
    found = next(
        (
            file
            for file in (here / FILE, *packs, *(above / FILE for above in here.parents[:2]))
            if file.is_file()
        ),
        None,
    )
    known = {Path(rule.file).resolve() for rule in normalizer.rulebook.rules}
    if found is None or found in known:
        return None
    return path if found.is_relative_to(here) else found.parent


def _watched(files: list[Path], accept: str, *, quiet: bool) -> Iterator[Recording | Complaint]:
    """All items of all files; with a progress bar where somebody watches."""
    if quiet or not sys.stderr.isatty():
        for file in files:
            yield from (read.item for read in recordings.read(file, accept))
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    sizes = {file: file.stat().st_size if file.is_file() else 0 for file in files}
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[done]} responses"),
               TextColumn("file"), MofNCompleteColumn() if len(files) > 1 else TextColumn(""), TimeRemainingColumn())  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("replaying", total=max(sum(sizes.values()), 1), done=0)
        before = done = 0
        for file in files:
            for read in recordings.read(file, accept):
                done += 1
                progress.update(task, completed=before + read.position, done=done)
                yield read.item
            before += sizes[file]


def _report(scores: Scores, misses: int) -> None:
    if not scores.total:
        return
    _counted("code", scores.codes, colour=True)
    _counted("action", scores.actions)
    _counted("decided by", scores.deciders)
    if scores.rules:
        _counted("rule", scores.rules, most=RULES_SHOWN)
    if scores.judged:
        _expectations(scores, misses)
    print(
        f"{counted(scores.total, 'response')}, {scores.seconds:.2f} s in the core ({scores.milliseconds_each:.2f} ms each)."
    )


def _counted(name: str, counts: Counter[str], *, colour: bool = False, most: int | None = None) -> None:
    rows: list[tuple[Any, ...]] = [
        (coded(key) if colour else key, count, f"{100 * count / counts.total():.1f} %")
        for key, count in counts.most_common(most)
    ]
    if (others := len(counts) - len(rows)) > 0:
        left = counts.total() - sum(row[1] for row in rows)
        rows.append((f"({others} more)", left, f"{100 * left / counts.total():.1f} %"))
    table([name, "responses", "share"], rows, right=["responses", "share"])


def _expectations(scores: Scores, misses: int) -> None:
    rows = [
        (name, tally.right + tally.wrong, tally.right, tally.wrong, f"{tally.share:.1f} %")
        for name, tally in sorted(scores.by_category.items())
    ]
    every = scores.everything
    rows.append(("all", every.right + every.wrong, every.right, every.wrong, f"{every.share:.1f} %"))
    table(
        ["category", "expected", "right", "wrong", "share"],
        rows,
        right=["expected", "right", "wrong", "share"],
    )
    coded_only = scores.codes_expected
    if coded_only.total:
        print(f"Codes expected: {coded_only.total}, right {coded_only.right} ({coded_only.share:.1f} %).")
    if scores.fields_expected.total:
        fields = scores.fields_expected
        print(f"Fields expected: {fields.total}, right {fields.right} ({fields.share:.1f} %).")
    if scores.untouched.total:
        print(
            f"To pass untouched: {scores.untouched.total}, of which {scores.untouched_rewritten} rewritten and "
            f"{scores.untouched_marked} annotated or redacted."
        )
    print()
    wrong = scores.misses[:misses]
    if wrong:
        table(
            ["miss", "status", "expected", "got", "action", "by"],
            [
                (
                    miss.id,
                    miss.original_status,
                    miss.expected_text,
                    Styled(miss.code or "-", "red"),
                    miss.action,
                    miss.rule or miss.decided_by or "-",
                )
                for miss in wrong
            ],
            right=["status"],
        )
        if len(scores.misses) > len(wrong):
            print(
                f"... and {len(scores.misses) - len(wrong)} more; --misses {len(scores.misses)} lists them all.\n"
            )
