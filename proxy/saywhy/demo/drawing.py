"""How the tour looks: panels side by side and colours on a terminal, the same words as plain lines elsewhere."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.rule import Rule
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from saywhy.core.contract.codes import look_up
from saywhy.demo.pages import PLANTED
from saywhy.demo.stage import Stage
from saywhy.demo.visits import Answer, Visit

SIDE_BY_SIDE = 104
"""Columns from which before and after stand beside each other."""

EXCERPT_LINES = 12
"""Lines of a page that are shown; enough for the part that went wrong."""

TELLING_FIELDS = (
    "Content-Type", "Retry-After", "Location", "WWW-Authenticate", "cf-mitigated", "X-Powered-By",
    "Agent-Error", "Proxy-Status",
)  # fmt: skip
"""Fields that tell something about the failure; the rest is left out on both sides."""

CACHE_FIELDS = ("Cache-Control", "Vary")
"""The same on every rewritten error, so shown with the first alone."""

_RETRY_STYLE = {
    "fix_input": "yellow", "no": "red", "refetch": "yellow", "get_grant": "magenta", "ask_human": "magenta",
    "after_delay": "cyan", "once": "red",
}  # fmt: skip


class Painter:
    """Draws on standard output. `watched` says whether that is a terminal."""

    def __init__(self) -> None:
        self.watched = sys.stdout.isatty()
        self._out = Console(highlight=False, width=None if self.watched else 200)

    def say(self, text: str = "", style: str = "") -> None:
        """One line; no markup is read."""
        if self.watched:
            self._out.print(Text(text, style=style), soft_wrap=True)  # a line to paste must stay one line
        else:
            print(text)

    def opening(self, stage: Stage, wanted: int, stops: int, failures: int) -> None:
        """Who listens where."""
        self.say()
        self.say("saywhy: why did it fail, said so that a program understands", "bold")
        self.say()
        self.say(f"  the shop   {stage.shop}   a site that nobody changed")
        self.say(f"  the proxy  {stage.proxy}   saywhy in front of it", "bold green")
        if stage.wanted_port_taken:
            self.say(f"             port {wanted} is taken, so the proxy listens on {stage.port}", "yellow")
        self.say()
        beside = self.watched and self._out.width >= SIDE_BY_SIDE
        order = "Left, what the site sends; right," if beside else "First what the site sends, then"
        well = "at the last nothing does" if stops - failures == 1 else f"at {stops - failures} nothing does"
        self.say(f"{stops} stops. At {failures} of them something goes wrong, {well}.")
        self.say(f"{order} what an agent gets through the proxy.")
        self.say("A browser gets the site's own bytes each time: that is checked as well.")

    def stop(self, number: int, total: int, visit: Visit, base: str) -> None:
        """One stop: its title, before and after, the browser, the line to paste."""
        self.say()
        title = f"{number}/{total}  {visit.stop.title}"
        if self.watched:
            self._out.print(Rule(Text(title, style="bold"), align="left", style="dim"))
        else:
            print(f"--- {title}")
        self.say(visit.stop.moral, "italic")
        before = (
            head_lines(visit.before) + excerpt(visit.before)
            if visit.before
            else ["(nothing: nobody listens there)"]
        )
        if self.watched:
            self._panels(before, visit, whole=number == 1)
        else:
            _plain("the site sends", before)
            _plain(
                "an agent gets",
                head_lines(visit.after, whole=number == 1) + after_lines(visit, whole=number == 1),
            )
        self.say(*_browser_line(visit))
        self.say(f"$ {visit.stop.curl(base)}", "bold cyan")
        if not visit.as_promised:
            self.say(
                f"! expected {visit.stop.status} {visit.stop.code or 'untouched'}, got {visit.after.status} {visit.code or 'untouched'}",
                "bold red",
            )

    def _panels(self, before: list[str], visit: Visit, *, whole: bool) -> None:
        colour = "red" if visit.stop.code else "green"
        status, *rest = before
        sent = Group(Text(status, style=f"bold {colour}"), Text("\n".join(rest), overflow="fold"))
        left = Panel(sent, title="the site sends", title_align="left", border_style=colour)
        right = Panel(
            _after(visit, whole=whole), title="an agent gets", title_align="left", border_style="green"
        )
        if self._out.width < SIDE_BY_SIDE:
            self._out.print(left, right)
            return
        grid = Table.grid(expand=True, padding=(0, 1))
        grid.add_column(ratio=9)
        grid.add_column(ratio=11)
        grid.add_row(left, right)
        self._out.print(grid)

    def events(self, seen: Sequence[tuple[float, str]]) -> None:
        """That a stream stays one."""
        self.say()
        self.say("Server-sent events pass one by one, as the shop sends them:", "bold")
        for seconds, data in seen:
            self.say(f"  after {seconds:4.1f} s  {data}")

    def closing(self, visits: Sequence[Visit]) -> None:
        """The sums."""
        failed = [visit for visit in visits if visit.stop.action == "rewrite" and visit.before]
        before = sum(len(visit.before.body) for visit in failed if visit.before)
        after = sum(len(visit.after.body) for visit in failed)
        planted = sorted({leak for visit in visits if visit.before for leak in visit.before.leaks()})
        escaped = sorted({leak for visit in visits for leak in visit.after.leaks()})
        untouched = sum(visit.browser_untouched for visit in visits)
        self.say()
        self._overview(visits)
        self.say(
            f"  {len(failed)} error pages of {before:,} bytes became {after:,} bytes that say what to do"
        )
        self.say(f"  {untouched} of {len(visits)} times a browser got what the site sent, byte for byte")
        self.say(
            f"  {len(planted)} of {len(PLANTED)} planted secrets stood in the shop's pages, {len(escaped)} in what agents got"
        )

    def _overview(self, visits: Sequence[Visit]) -> None:
        self.say("In all", "bold")
        width = max(len(visit.stop.title) for visit in visits)
        for visit in visits:
            sent = visit.before.status if visit.before else "---"
            told = f"{visit.after.status} {visit.code or 'untouched'}"
            retry = look_up(visit.code).retry if visit.code else ""
            style = _RETRY_STYLE.get(retry, "dim")
            self.say(f"  {visit.stop.title:<{width}}  {sent} -> {told:<28} {retry}".rstrip(), style)
        self.say()


def _plain(title: str, lines: Iterable[str]) -> None:
    print(f"  {title}:")
    for line in lines:
        print(f"    {line}".rstrip())


def head_lines(answer: Answer, *, whole: bool = False) -> list[str]:
    """The status line and the telling fields, then an empty line."""
    names = (*TELLING_FIELDS, *CACHE_FIELDS) if whole else TELLING_FIELDS
    fields = [f"{name}: {answer.fields[name]}" for name in names if name in answer.fields]
    return [f"HTTP {answer.status}, {len(answer.body):,} bytes", *fields, ""]


def excerpt(answer: Answer) -> list[str]:
    """The telling part of a page: its title, then what stands in its middle, shortened."""
    text = answer.body.decode("utf-8", "replace")
    if not text:
        return ["(no body)"]
    lines = []
    if "<title>" in text:
        lines.append("<title>" + text.partition("<title>")[2].partition("</title>")[0] + "</title>")
    for opening, closing in (("<main>", "</main>"), ("<body>", "</body>")):
        if opening in text:
            text = text.partition(opening)[2].partition(closing)[0]
            break
    lines += [line.rstrip() for line in text.splitlines() if line.strip()]
    return (
        lines
        if len(lines) <= EXCERPT_LINES
        else [*lines[: EXCERPT_LINES - 1], f"... {len(lines) - EXCERPT_LINES + 1} more lines"]
    )


def _error_of(answer: Answer) -> dict[str, Any] | None:
    if not answer.media.endswith("json"):
        return None
    value = json.loads(answer.body)
    error = value.get("error") if isinstance(value, dict) else None
    return error if isinstance(error, dict) else None


def in_short(error: dict[str, Any]) -> list[tuple[str, str]]:
    """The members an agent acts on, as name and JSON value."""
    recovery = error.get("recovery", {})
    rows = {name: error.get(name) for name in ("code", "message", "field", "retry", "retry_after")}
    rows["recovery.action"] = recovery.get("action")
    rows["recovery.guidance"] = recovery.get("guidance")
    rows["same_arguments"] = recovery.get("same_arguments")
    rows["side_effects"] = error.get("side_effects")
    rows["source"] = error.get("source")
    return [(name, json.dumps(value, ensure_ascii=False)) for name, value in rows.items()]


def after_lines(visit: Visit, *, whole: bool) -> list[str]:
    """What the agent got below the fields, in plain lines. The first envelope is shown whole, later ones in short."""
    if visit.stop.action != "rewrite":
        return ["(the site's own body)"]
    error = _error_of(visit.after)
    if error is None:
        return visit.after.body.decode("utf-8", "replace").splitlines()
    if whole or visit.after.media == "application/problem+json":
        return json.dumps(json.loads(visit.after.body), indent=2, ensure_ascii=False).splitlines()
    return [f"{name:<18} {value}" for name, value in in_short(error)]


def _after(visit: Visit, *, whole: bool) -> RenderableType:
    head = Text("\n".join(head_lines(visit.after, whole=whole)), style="dim")
    error = _error_of(visit.after)
    lines = after_lines(visit, whole=whole)
    if visit.stop.action != "rewrite":
        return Group(head, Text("\n".join(lines), style="green"))
    if error is None or whole or visit.after.media == "application/problem+json":
        lexer = "json" if error is not None else "markdown"
        return Group(
            head,
            Syntax("\n".join(lines), lexer, theme="ansi_dark", word_wrap=True, background_color="default"),
        )
    rows = Table.grid(padding=(0, 2))
    rows.add_column(style="dim", no_wrap=True)
    rows.add_column(overflow="fold")
    style = _RETRY_STYLE.get(look_up(str(error.get("code"))).retry, "white")
    for name, value in in_short(error):
        rows.add_row(name, Text(value, style=f"bold {style}" if name in ("code", "retry") else ""))
    return Group(head, rows)


def _browser_line(visit: Visit) -> tuple[str, str]:
    if visit.before is None:
        return f"A browser gets {visit.browser.status} and a plain sentence.", "dim"
    if visit.browser_untouched:
        return (
            f"A browser, through the same proxy: {visit.browser.status}, the same {len(visit.browser.body):,} bytes.",
            "dim",
        )
    return "! A browser did NOT get the site's bytes.", "bold red"
