"""`saywhy explain`: one response before and after, and every step of why."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from saywhy.cli import layers
from saywhy.cli.fetching import fetch
from saywhy.cli.output import Failure, complain, emit
from saywhy.cli.recordings import asking_for
from saywhy.cli.story import tell
from saywhy.cli.workbench import workbench
from saywhy.core.explain import explain as trace
from saywhy.core.model import Head
from saywhy.edge.examples import ExampleError, read_example

ACCEPT = "application/problem+json"
STDIN_BYTES = 1 << 20
MANY = (".har", ".jsonl", ".jsonl.gz", ".ndjson")


class Saved(NamedTuple):
    """What is to be explained."""

    head: Head
    body: bytes
    complete: bool


def explain(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="A saved response (.http), a URL that is asked once, or - for standard input.",
            show_default=False,
        ),
    ],
    accept: Annotated[
        str | None,
        typer.Option(
            metavar="TYPE",
            help=f"What the caller asks for. (the file's own, else {ACCEPT})",
            show_default=False,
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            metavar="METHOD", help="The request's method. (the file's own, else GET)", show_default=False
        ),
    ] = None,
    all_packs: Annotated[bool, typer.Option("--all-packs", help="Switch the opt-in packs on.")] = False,
    every: Annotated[
        bool,
        typer.Option(
            "--all", help="Name every rule that was tried, also those that a cheap condition stopped."
        ),
    ] = False,
    config: layers.Config = None,
    rules: layers.RuleFolders = None,
    as_json: Annotated[bool, typer.Option("--json", help="The whole trace as one line of JSON.")] = False,
) -> int:
    """One response: before, after, and every step of why.

    An .http file is what `curl -si URL > page.http` writes: status line, fields, an empty line, the body. Lines of a
    request may come first. The URL is asked once, without following redirects; nothing else leaves this machine.
    """
    normalizer = workbench(config, rules, all_packs=all_packs, quiet=as_json)
    saved = _read(source, method, accept)
    found = trace(normalizer, saved.head, saved.body, complete=saved.complete, now=time.time())
    if as_json:
        emit(found.as_dict())
    else:
        tell(found, every=every)
    return 0


def _read(source: str, method: str | None, accept: str | None) -> Saved:
    if "://" in source:
        head, body, complete = fetch(source, (method or "GET").upper(), accept or ACCEPT)
        return Saved(head, body, complete)
    if source.endswith(MANY):
        raise Failure(
            f"{source} holds many responses, explain looks at one; saywhy replay {source} takes them all.",
            field="SOURCE",
        )
    try:
        head, body, _ = _from_stdin() if source == "-" else read_example(Path(source))
    except ExampleError as why:
        raise Failure(str(why), exit_code=2, field="SOURCE") from None
    asked = head.request
    if method:
        asked = type(asked)(method.upper(), asked.target, asked.fields, asked.scheme)
    if accept or "accept" not in asked.fields:
        asked = asking_for(asked, accept or ACCEPT)
    return Saved(Head(asked, head.response), body, complete=True)


def _from_stdin() -> tuple[Head, bytes, str]:
    """Standard input in the form of an example. Its reader wants a file, and names it in what it says."""
    if sys.stdin.isatty():
        complain("reading a response from the terminal; Ctrl-D ends it.", weight="note")
    data = sys.stdin.buffer.read(STDIN_BYTES + 1)
    if not data:
        raise Failure(
            "Standard input is empty; pipe a response into it: curl -si URL | saywhy explain -",
            field="SOURCE",
        )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "stdin.http"
        file.write_bytes(data)
        try:
            return read_example(file)
        except ExampleError as why:
            raise ExampleError(str(why).replace(str(file), "standard input")) from None
