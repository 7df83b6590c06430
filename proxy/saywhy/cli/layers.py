"""The flags that set settings, and reading all layers for a command: what `serve`, `check` and `healthcheck` share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from saywhy.cli.output import Failure, complain
from saywhy.edge.settings import Loaded, SettingsError, load

Config = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", help="A settings file (YAML).", show_default=False)
]
Upstream = Annotated[
    str | None,
    typer.Option(
        metavar="URL", help="The site: http://host:port, https://host:port or unix:/path.", show_default=False
    ),
]
Listen = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Where callers come in: host:port, :port, [v6]:port or unix:/path. (127.0.0.1:8080)",
        show_default=False,
    ),
]
Admin = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Health, reload and metrics; off switches it off. (127.0.0.1:9180)",
        show_default=False,
    ),
]
AdminThere = Annotated[
    str | None,
    typer.Option(
        "--admin",
        metavar="ADDRESS",
        help="Where the running proxy has its admin port: host:port, [v6]:port or unix:/path. (127.0.0.1:9180)",
        show_default=False,
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        metavar="N", help="Processes that serve, under one parent. (1: no parent)", show_default=False
    ),
]
RuleFolders = Annotated[
    list[Path] | None,
    typer.Option(
        "--rules",
        metavar="DIR",
        help="A folder of rule packs of your own, asked before the shipped ones; repeatable.",
        show_default=False,
    ),
]
LogFormat = Annotated[
    str | None,
    typer.Option(metavar="FORMAT", help="auto, json or text. (auto: text on a terminal)", show_default=False),
]
LogLevel = Annotated[
    str | None, typer.Option(metavar="LEVEL", help="info, warning or error. (info)", show_default=False)
]
PublicUrl = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="How the outside reaches this proxy; makes problem types absolute.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="A failure is one JSON line on standard error.")]

Flags = Mapping[tuple[str | int, ...], tuple[str, Any]]


def flags(
    *,
    upstream: str | None = None,
    listen: str | None = None,
    admin: str | None = None,
    workers: int | None = None,
    rules: Sequence[Path] | None = None,
    log_format: str | None = None,
    log_level: str | None = None,
    public_url: str | None = None,
) -> Flags:
    """Settings path -> (the flag, its value), for the flags that were given."""
    table: dict[tuple[str | int, ...], tuple[str, Any]] = {
        ("upstreams", "default", "url"): ("--upstream", upstream),
        ("listen",): ("--listen", listen),
        ("admin",): ("--admin", admin),
        ("workers",): ("--workers", workers),
        ("rules", "folders"): ("--rules", list(rules) if rules else None),
        ("log", "format"): ("--log-format", log_format),
        ("log", "level"): ("--log-level", log_level),
        ("public_url",): ("--public-url", public_url),
    }
    return {path: given for path, given in table.items() if given[1] is not None}


def settings(config: Path | None, given: Flags, *, quiet: bool = False, files: bool = False) -> Loaded:
    """All layers; what is doubted is told on standard error unless `quiet`. Raises Failure (exit code 2) with every
    problem, a line each, those of the files that the settings name among them where `files` are to be used.
    """
    try:
        loaded = load(config, flags=given)
    except SettingsError as some:
        wrong = some
        if files:
            from saywhy.serve.mistakes import with_files

            wrong = with_files(some)
        raise Failure(str(wrong), exit_code=2, field=wrong.problems[0].key or None) from None
    for doubt in () if quiet else loaded.doubts:
        complain(str(doubt), weight="warning")
    return loaded
