"""Rule packs from folders: read all, check all, and only then make the rulebook.

A folder of rules holds one folder a pack, each with `rules.yaml` and `examples/`; a folder that itself has a
`rules.yaml` is one pack. `scrub` has its own shape and is not read here. A set with a mistake in it is no set: every
mistake is collected, and none of its rules is used.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from saywhy.core.rules import Rulebook, RuleInfo
from saywhy.core.rules.checks import flaws
from saywhy.core.rules.compiled import CompiledRule, Origin, compile_rule
from saywhy.core.rules.shape import Pack, Rule, When
from saywhy.edge.documents import Document, DocumentError, read_document
from saywhy.edge.examples import Example, ExampleError, examples
from saywhy.edge.rulefaults import RuleError, RuleErrors, from_faults, row, whole

__all__ = [
    "Example", "ExampleError", "LoadedPack", "RuleError", "RuleErrors", "UnknownNames", "examples", "in_order",
    "load_rulebook", "pack_folders", "read_packs", "shipped_rules",
]  # fmt: skip

FILE = "rules.yaml"
_NOT_PACKS = frozenset({"scrub"})
_MOST_PACKS = 500


class UnknownName(NamedTuple):
    """A name that settings give and no rule or pack has. `key` is the setting, such as rules.disable."""

    key: str
    name: str
    remedy: str


class UnknownNames(RuleErrors):
    """Names among disable, shadow and packs that are nothing: a misspelt one would silently do nothing."""

    def __init__(self, names: Iterable[UnknownName]) -> None:
        self.names = tuple(names)
        super().__init__(
            RuleError(
                "settings", 0, "", one.key, f"{one.name!r} is nothing among the rules", one.remedy.rstrip(".")
            )
            for one in self.names
        )


class LoadedPack(NamedTuple):
    """A pack that was read: its models, and the document that knows their lines."""

    pack: Pack
    document: Document
    origin: Origin


def shipped_rules() -> Path:
    """The folder of the packs that come with saywhy: in the wheel, else in the checkout."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "rulepacks"
    return installed if installed.is_dir() else package.parent.parent / "rules"


def pack_folders(folder: Path) -> list[Path]:
    """The folders of packs in `folder`, by name. Raises RuleErrors where it cannot be one."""
    try:
        _refuse_circle(folder)
        if not folder.exists():
            raise RuleErrors(
                [
                    whole(
                        folder,
                        "there is no such folder",
                        "name one that is there, or leave it out",
                    )
                ]
            )
        if not folder.is_dir():
            raise RuleErrors(
                [whole(folder, "is a file, not a folder of packs", "name the folder that holds the packs")]
            )
        if (folder / FILE).exists():
            return [folder]
        found = sorted(
            entry for entry in folder.iterdir()
            if not entry.name.startswith(".") and entry.name not in _NOT_PACKS and (entry.is_dir() or _circular(entry))
        )  # fmt: skip
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise RuleErrors(
            [whole(folder, f"cannot be read ({reason})", "give the process the right to read it")]
        ) from None
    if not found:
        raise RuleErrors(
            [
                whole(
                    folder,
                    f"holds no pack (<pack>/{FILE})",
                    "add one, or name the folder that holds the packs",
                )
            ]
        )
    if len(found) > _MOST_PACKS:
        raise RuleErrors(
            [whole(folder, f"holds {len(found)} folders", f"keep at most {_MOST_PACKS} packs in one folder")]
        )
    return found


def read_packs(folders: Iterable[Path]) -> list[LoadedPack]:
    """Every pack of `folders`, in order. Raises RuleErrors with every mistake in every file."""
    errors: list[RuleError] = []
    packs: list[LoadedPack] = []
    shipped = shipped_rules()
    for folder in folders:
        origin: Origin = "shipped" if _same(folder, shipped) else "site"
        try:
            found = pack_folders(folder)
        except RuleErrors as mistakes:
            errors.extend(mistakes.errors)
            continue
        for place in found:
            try:
                packs.append(_read_pack(place, origin, named=place != folder))
            except RuleErrors as mistakes:
                errors.extend(mistakes.errors)
    errors.extend(_twice(packs))
    if errors:
        raise RuleErrors(errors)
    return packs


def _refuse_circle(folder: Path) -> None:
    """Raises RuleErrors where symbolic links lead from `folder` back to it."""
    if _circular(folder):
        remedy = "point it at the folder that holds the rules"
        raise RuleErrors([whole(folder, "is a symbolic link that leads back to itself", remedy)])


def _circular(path: Path) -> bool:
    try:
        path.stat()
    except OSError as error:
        return error.errno == errno.ELOOP
    return False


def _same(one: Path, other: Path) -> bool:
    try:
        return one.resolve() == other.resolve()
    except (
        OSError,
        RuntimeError,
    ):  # RuntimeError: symbolic links in a circle, which is told when the folder is read
        return False


def _read_pack(folder: Path, origin: Origin, *, named: bool) -> LoadedPack:
    _refuse_circle(folder)
    path = folder / FILE
    if not path.exists() and not path.is_symlink():
        raise RuleErrors([whole(folder, f"has no {FILE}", "add it, or move the folder elsewhere")])
    try:
        document = read_document(path)
    except DocumentError as error:
        message, _, remedy = error.message.rstrip(".").partition("; ")
        raise RuleErrors([whole(path, message, remedy or "mend it", line=error.line)]) from None
    if not isinstance(document.value, dict):
        raise RuleErrors([whole(path, "holds no pack", "write pack, about and rules")])
    try:
        pack = Pack.model_validate(document.value)
    except ValidationError as error:
        raise RuleErrors(from_faults(document, error.errors(include_url=False))) from None
    errors = list(_mistakes(pack, document))
    if named and pack.pack != folder.name:
        errors.append(
            row(
                document,
                ("pack",),
                f"{pack.pack!r} lies in the folder {folder.name!r}",
                "give both the same name",
            )
        )
    if errors:
        raise RuleErrors(errors)
    return LoadedPack(pack, document, origin)


def _mistakes(pack: Pack, document: Document) -> Iterator[RuleError]:
    first: dict[str, int] = {}
    for place, rule in enumerate(pack.rules):
        here: tuple[str | int, ...] = ("rules", place)
        if rule.id in first:
            line = document.line(("rules", first[rule.id], "id"))
            yield row(
                document, (*here, "id"), f"the id is taken (line {line})", "give every rule of a pack its own"
            )
        first.setdefault(rule.id, place)
        for empty in _empty_groups(rule.when, ("when",)):
            yield row(document, (*here, *empty), "holds no condition", "write one, or remove the group")
        for flaw in flaws(rule):
            yield row(document, (*here, *flaw.path), flaw.message, flaw.remedy)


def _empty_groups(when: When, path: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    groups = [(key, place, group) for key, name in (("all", "all"), ("any", "any"), ("not", "not_"))
              for place, group in enumerate(getattr(when, name) or ())]  # fmt: skip
    if all(getattr(when, name) is None for name in type(when).model_fields):
        yield path
    for key, place, group in groups:
        yield from _empty_groups(group, (*path, key, place))


def _twice(packs: Iterable[LoadedPack]) -> Iterator[RuleError]:
    first: dict[str, LoadedPack] = {}
    for loaded in packs:
        name = loaded.pack.pack
        if name in first:
            other = first[name].document.path
            yield row(
                loaded.document,
                ("pack",),
                f"the name {name!r} is taken by {other}",
                "rename one; to change single rules, disable them by name",
            )
        first.setdefault(name, loaded)


def load_rulebook(
    folders: Sequence[Path],
    *,
    disable: Iterable[str] = (),
    shadow: Iterable[str] = (),
    packs: Sequence[str] | None = None,
) -> Rulebook:
    """All rules of `folders` in their order. `disable` names rules (pack/id) and whole packs, `shadow` rules; `packs`
    are tried first where a route says nothing (see `in_order`). Raises RuleErrors with every mistake, UnknownNames where
    all files are sound and a name is not.
    """
    loaded = read_packs(folders)
    disabled, shadowed = frozenset(disable), frozenset(shadow)
    rules = [
        (_info(one, place, rule, shadowed), rule)
        for one in loaded
        for place, rule in enumerate(one.pack.rules)
    ]
    names = [info.name for info, _ in rules]
    known_packs = [one.pack.pack for one in loaded]
    unknown = list(_unknown("rules.disable", disabled, [*names, *known_packs]))
    unknown += _unknown("rules.shadow", shadowed, names)
    unknown += _unknown("rules.packs", frozenset(packs or ()), known_packs)
    if unknown:
        raise UnknownNames(unknown)
    kept = [(info, rule) for info, rule in rules if not disabled & {info.name, info.pack}]
    compiled: list[CompiledRule] = [compile_rule(rule, info) for info, rule in kept]
    return Rulebook(compiled, packs=in_order(packs or (), [info for info, _ in kept]))


def in_order(named: Sequence[str], rules: Iterable[RuleInfo]) -> tuple[str, ...] | None:
    """The packs that are in force where settings name `named`: those first, in that order, also where they are opt-in;
    then every other pack that is not. None (a rulebook's own choice) where nothing is named.
    """
    if not named:
        return None
    return tuple(dict.fromkeys((*named, *(info.pack for info in rules if not info.opt_in))))


def _info(loaded: LoadedPack, place: int, rule: Rule, shadowed: frozenset[str]) -> RuleInfo:
    pack = loaded.pack
    return RuleInfo(
        pack=pack.pack,
        id=rule.id,
        code=rule.then.code,
        mode="shadow" if f"{pack.pack}/{rule.id}" in shadowed else rule.mode,
        opt_in=pack.opt_in,
        about=" ".join(rule.about.split()),
        file=str(loaded.document.path),
        line=loaded.document.line(("rules", place)),
        origin=loaded.origin,
        on_success=rule.on_success or "",
        outranks_failure=rule.outranks_failure,
    )


def _unknown(key: str, names: frozenset[str], known: Sequence[str]) -> Iterator[UnknownName]:
    for name in sorted(names - set(known)):
        near = get_close_matches(name, known, n=1)
        remedy = f'did you mean "{near[0]}"?' if near else "see `saywhy rules` for what there is."
        yield UnknownName(key, name, remedy)
