"""One rule ready to be tried: what there is to know about it, its conditions, what it says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from saywhy.core.model import Evidence
from saywhy.core.rules.conditions import Condition
from saywhy.core.rules.extract import Saying
from saywhy.core.rules.groups import ROWS, compile_when
from saywhy.core.rules.shape import Rule, When

Origin = Literal["site", "shipped"]


class RuleInfo(NamedTuple):
    """What there is to know about a rule without asking it anything."""

    pack: str
    id: str
    code: str
    mode: Literal["enforce", "shadow"]
    opt_in: bool
    about: str
    file: str
    line: int
    origin: Origin = "site"
    on_success: str = ""
    outranks_failure: bool = False

    @property
    def name(self) -> str:
        """pack/id"""
        return f"{self.pack}/{self.id}"


class CompiledRule(NamedTuple):
    """A rule ready to be tried. `signals`: what it looks at, in words; `vendor`: heads alone decide it, by at least one
    field (order of evidence 2); `early`: its plainest conditions, on status, method and media; `media`: the kinds and types
    that it names; `fields`: where fields are its door, their names, of which one must be there.
    """

    info: RuleInfo
    condition: Condition
    signals: tuple[str, ...]
    saying: Saying
    vendor: bool
    early: tuple[Condition, ...] = ()
    bit: int = 0
    media: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()


_EARLY = ("status", "method", "media")


def compile_rule(rule: Rule, info: RuleInfo) -> CompiledRule:
    """The rule as conditions and sayings."""
    condition = compile_when(rule.when)
    vendor = condition.head_only and asks_header(rule.when)
    signals = tuple(_signals(rule.when))
    early = tuple(
        row.build(value)
        for row in ROWS
        if row.key in _EARLY and (value := getattr(rule.when, row.attribute)) is not None
    )
    doors = sorted(condition.door or ())
    return CompiledRule(
        info,
        condition,
        signals,
        Saying.of(rule.then),
        vendor,
        early,
        media=rule.when.media or (),
        fields=tuple(what for _, what in doors) if all(where == "field" for where, _ in doors) else (),
    )


def asks_header(when: When) -> bool:
    """Whether some condition of the group, or below it, is on a field of the response."""
    groups = (*(when.all or ()), *(when.any or ()))
    return when.header is not None or any(asks_header(group) for group in groups)


def _signals(when: When) -> Iterator[str]:
    """What was seen, in words of our own."""
    for name in sorted(when.model_fields_set):
        key = name.rstrip("_")
        if key == "header" and when.header is not None:
            yield from (f"header {field.lower()}" for field in when.header)
        elif key in {"all", "any"}:
            for group in getattr(when, name) or ():
                if key == "all":
                    yield from _signals(group)
        elif key not in {"not", "status", "method", "host", "path", "media", "size"}:
            yield key


def base_of(rule: CompiledRule) -> Evidence:
    info = rule.info
    on_success: Literal["", "rewrite", "annotate"] = (
        "rewrite" if info.on_success == "rewrite" else "annotate" if info.on_success == "annotate" else ""
    )
    return Evidence(
        decided_by="header" if rule.vendor else "rule",
        rule=info.name,
        signals=rule.signals,
        outranks_failure=info.outranks_failure,
        on_success=on_success,
    )
