"""`saywhy check`: settings and rule files, every mistake with file, line, key and remedy."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from saywhy.cli.output import Failure, emit, failure_line, table
from saywhy.edge.settings import Loaded, Settings, SettingsError, load

MOST_LINES = 50
"""More findings than that are one finding: work that has not begun."""


class Finding(NamedTuple):
    """One thing to mend; `weight` is error, or warning for what only --strict refuses."""

    weight: str
    message: str


def check(
    path: Annotated[
        Path | None,
        typer.Argument(
            metavar="PATH",
            help="A settings file, a folder of rule packs or a pack's rules.yaml; nothing: the environment and the shipped rules.",
            show_default=False,
        ),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Warnings are findings too: rules without example or look-alike, rules that can never win, envelopes that are out of date, certificates whose time is over, a proxy without a site.",
        ),
    ] = False,
    effective: Annotated[
        bool, typer.Option("--effective", help="Print every setting in force and where it was written.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> int:
    """Settings and rule files: every mistake with file, line, key and remedy. Exit code 0 says that serve would take them.

    Before a deployment, with the environment it will have:

        saywhy check saywhy.yaml --strict

    Who set that? The merged settings, each with its origin:

        saywhy check saywhy.yaml --effective

    While writing rules:

        saywhy check ./my-rules
    """
    if path is not None and not path.exists():
        raise Failure(f"{path}: there is no such file or folder.", exit_code=2, field="PATH")
    try:
        loaded = _read(path)
    except SettingsError as some:
        from saywhy.serve.mistakes import with_files

        wrong = with_files(some)
        return _report(
            [Finding("error", str(problem)) for problem in wrong.problems],
            None,
            strict=strict,
            effective=False,
            as_json=as_json,
        )
    findings = list(_findings(loaded, only_rules=path is not None and (path.is_dir() or _is_pack(path))))
    return _report(findings, loaded, strict=strict, effective=effective, as_json=as_json)


def _read(path: Path | None) -> Loaded:
    if path is not None and (path.is_dir() or _is_pack(path)):
        folder = path if path.is_dir() else path.parent
        return load(
            environ={},
            flags={("rules", "folders"): ("PATH", [folder]), ("rules", "shipped"): ("PATH", False)},
        )
    return load(path)


def _is_pack(path: Path) -> bool:
    """Whether `path` is the file of a rule pack, which says `pack` where settings have their sections."""
    from saywhy.edge.documents import DocumentError, read_document
    from saywhy.edge.packs import FILE

    try:
        value = read_document(path).value
    except DocumentError:
        return path.name == FILE  # whoever reads it as what it is called says what is wrong
    keys = set(value) if isinstance(value, dict) else set()
    if path.name == FILE:
        return not keys & (set(Settings.model_fields) - {"rules"})
    if "pack" in keys:
        raise Failure(
            f"{path}: is a rule pack; call it {FILE}, in a folder with the pack's name.", field="PATH"
        )
    return False


def _findings(loaded: Loaded, *, only_rules: bool) -> Iterator[Finding]:
    from saywhy.edge.assemble import rule_folders
    from saywhy.edge.eclipse import eclipsed
    from saywhy.edge.examples import unproven
    from saywhy.edge.ondisk import doubts_on_disk
    from saywhy.edge.packs import ExampleError, RuleErrors, read_packs, shipped_rules
    from saywhy.serve.mistakes import put_together

    settings: Settings = loaded.settings
    yield from (
        Finding("warning", str(one)) for one in (*loaded.doubts, *doubts_on_disk(loaded, serving=False))
    )
    try:
        put_together(loaded)
        packs = read_packs(rule_folders(settings))
    except (SettingsError, RuleErrors) as wrong:
        yield from (Finding("error", line) for line in str(wrong).splitlines())
        return
    yield from (Finding("warning", str(one)) for one in eclipsed(packs))
    for folder in (
        settings.rules.folders if not settings.rules.shipped else (*settings.rules.folders, shipped_rules())
    ):
        try:
            yield from (Finding("warning", line) for line in unproven(folder))
        except ExampleError as unreadable:
            yield Finding("error", str(unreadable))
    yield from (Finding("warning", line) for folder in settings.rules.folders for line in _stale(folder))
    if not settings.upstreams and not only_rules:
        yield Finding(
            "warning", "upstreams: there is no site to stand in front of; serve will want --upstream URL."
        )


def _stale(folder: Path) -> Iterator[str]:
    """The expected envelopes in `folder` that are not what its rules give now: what `saywhy test` fails on."""
    from saywhy.cli.proofs import prove
    from saywhy.edge.packs import examples, load_rulebook

    for proof in prove(load_rulebook([folder]), examples(folder)):
        if proof.fixable and not proof.ok and proof.example.expected is not None:
            path = proof.example.expected_path
            yield f"{path}: is not what the rules give now; `saywhy test {folder}` shows the difference, --update writes it."


def _report(
    findings: list[Finding], loaded: Loaded | None, *, strict: bool, effective: bool, as_json: bool
) -> int:
    errors = [one for one in findings if strict or one.weight == "error"]
    rows = list(loaded.effective()) if loaded is not None and effective else []
    if as_json:
        result: dict[str, Any] = {"ok": not errors, "findings": [one._asdict() for one in findings]}
        if effective:
            result["settings"] = [
                {"key": key, "value": value, "origin": origin} for key, value, origin in rows
            ]
        emit(result)
        if errors:
            first = Failure(errors[0].message, exit_code=1)
            print(failure_line("check", first), file=sys.stderr)
    else:
        if rows:
            table(
                ("setting", "value", "origin"), [(key, _shown(value), origin) for key, value, origin in rows]
            )
        for one in (*errors, *(one for one in findings if one not in errors))[:MOST_LINES]:
            print(f"{one.weight}: {one.message}")
        if len(findings) > MOST_LINES:
            print(f"... and {len(findings) - MOST_LINES} more; --json has all.")
        if not errors:
            print("Nothing to mend." if not findings else "Nothing that serve would refuse; --strict would.")
    return 1 if errors else 0


def _shown(value: Any) -> str:
    if value is None or value == [] or value == "":
        return "-"
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(value) if isinstance(value, list) else str(value)
