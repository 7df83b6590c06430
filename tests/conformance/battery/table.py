"""What came out, as Markdown: one row a proxy, then every failure by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from battery.cases import THEMES
from battery.run import Result


def counts(results: Sequence[Result]) -> tuple[int, int, int]:
    """Pass, fail, note."""
    words = [result.word for result in results]
    return words.count("pass"), words.count("fail"), words.count("note")


def markdown(
    found: Mapping[str, Sequence[Result]], releases: Mapping[str, str], missing: Sequence[str]
) -> str:
    """The whole report."""
    lines = ["| proxy | version | cases | pass | fail | notes |", "|---|---|--:|--:|--:|--:|"]
    for name, results in found.items():
        passed, failed, noted = counts(results)
        lines.append(f"| {name} | {releases[name]} | {len(results)} | {passed} | {failed} | {noted} |")
    lines += [f"| {name} | not installed | | | | |" for name in missing]
    for name, results in found.items():
        failures = {result.case.name for result in results if result.word == "fail"}
        lines += ["", f"{name}: {'no failures' if not failures else ''}".rstrip()]
        for theme, cases in THEMES.items():
            names = [f"`{case.name}`" for case in cases if case.name in failures]
            if names:
                lines.append(f"- {theme}: {', '.join(names)}")
    return "\n".join(lines)
