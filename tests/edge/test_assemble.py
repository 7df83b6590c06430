"""Settings and packs become a set, or every reason why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from saywhy.core.model import Fields, Head, Request, Response
from saywhy.edge.assemble import assemble, digest, rule_folders
from saywhy.edge.eclipse import eclipsed
from saywhy.edge.packs import RuleErrors, read_packs, shipped_rules
from saywhy.edge.settings import Loaded, Settings, SettingsError

PACK = """
pack: bakery
about: What this bakery says.
rules:
  - id: cold-oven
    about: The oven is cold.
    when: {status: [404], contains: [oven is cold]}
    then: {code: temporarily_unavailable, message: The bakery is closed today.}
"""
COLD = "HTTP/1.1 404 Not Found\nContent-Type: text/html\n\n<h1>The oven is cold</h1>\n"
WARM = "HTTP/1.1 404 Not Found\nContent-Type: text/html\n\n<h1>No such bread</h1>\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An operator's folder with one pack."""
    (tmp_path / "rules/bakery/examples").mkdir(parents=True)
    (tmp_path / "rules/bakery/rules.yaml").write_text(PACK)
    return tmp_path / "rules"


def settings(folder: Path, **more: object) -> Settings:
    """Settings with this folder and no shipped rules."""
    return Settings.model_validate({"rules": {"folders": [str(folder)], "shipped": False, **more}})


def test_the_shipped_rules_make_a_set() -> None:
    normalizer = assemble(Settings())
    assert len(normalizer.rulebook.rules) > 50
    assert normalizer.routes.only is not None


def test_an_operators_rules_are_asked_first(folder: Path) -> None:
    made = Settings.model_validate({"rules": {"folders": [str(folder)]}})
    assert rule_folders(made) == (folder, shipped_rules())
    assert assemble(made).rulebook.rules[0].name == "bakery/cold-oven"


def test_held_body_bytes_bound_what_is_wanted_of_a_body() -> None:
    made = Settings.model_validate({"limits": {"held_body_bytes": 5000}})
    head = Head(Request(fields=Fields.of({"accept": "application/problem+json"})), Response(500, Fields.of({"content-type": "text/html"})))
    assert assemble(made).triage(head).limit == 5000


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"disable": ["bakery/cold-ovn"]}, 'did you mean "bakery/cold-oven"?'),
        ({"shadow": ["nothing/like-it"]}, "rules.shadow"),
        ({"packs": ["bakry"]}, 'did you mean "bakery"?'),
    ],
)
def test_names_that_settings_get_wrong(folder: Path, change: dict[str, object], said: str) -> None:
    with pytest.raises(RuleErrors) as wrong:
        assemble(settings(folder, **change))
    assert said in str(wrong.value)


def test_a_route_that_names_a_pack_nobody_has(folder: Path) -> None:
    made = settings(folder).model_copy(update={"routes": Settings.model_validate({"routes": [{"packs": ["bakerie"]}]}).routes})
    with pytest.raises(SettingsError) as wrong:
        assemble(made)
    assert str(wrong.value) == "routes[0].packs names the pack 'bakerie', which is not among the rules; did you mean bakery?"


EXAMPLES = [
    ({"cold-oven.http": COLD, "look-alike-cold-oven.http": WARM}, None),
    ({"cold-oven.http": WARM}, "is an example of bakery/cold-oven, and no rule answers"),
    ({"look-alike-cold-oven.http": COLD}, "is a look-alike, and bakery/cold-oven answers; narrow the rule"),
    ({"look-alike-anything.http": COLD}, "is a look-alike, and bakery/cold-oven answers; narrow the rule"),
    ({"no-such-rule.http": COLD}, "is named after no rule"),
    ({"cold-oven.http": "nonsense"}, "is no status line"),
]


@pytest.mark.parametrize(("files", "said"), EXAMPLES)
@pytest.mark.parametrize("mode", ["enforce", "shadow"])
def test_examples_are_tried_before_a_set_is_one(folder: Path, files: dict[str, str], said: str | None, mode: str) -> None:
    for name, text in files.items():
        (folder / "bakery/examples" / name).write_text(text)
    made = settings(folder, shadow=["bakery/cold-oven"] if mode == "shadow" else [])
    if said is None:
        assert len(assemble(made).rulebook.rules) == 1
        return
    with pytest.raises(RuleErrors) as wrong:
        assemble(made)
    assert said in str(wrong.value)
    assert str(folder) in str(wrong.value)


def test_the_example_of_a_disabled_rule_is_not_tried(folder: Path) -> None:
    (folder / "bakery/examples/cold-oven.http").write_text(WARM)
    text = PACK + "  - id: spare\n    about: Spare.\n    when: {status: [410], contains: [gone]}\n    then: {code: not_found}\n"
    (folder / "bakery/rules.yaml").write_text(text)
    assert [rule.id for rule in assemble(settings(folder, disable=["bakery/cold-oven"])).rulebook.rules] == ["spare"]


def test_the_digest_is_of_the_file_and_the_operators_folders(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "saywhy.yaml"
    file.write_text("# a\n")
    loaded = Loaded(settings(folder), {}, file)
    before = digest(loaded)
    file.write_text("# b\n")
    middle = digest(loaded)
    (folder / "bakery/rules.yaml").write_text(PACK + "\n")
    assert len({before, middle, digest(loaded)}) == 3


WHENS = [
    # above, below, whether below can never win
    ("{status: [404], contains: [a]}", "{status: [404], contains: [a], title: [b]}", True),
    ("{status: 4xx, contains: [a]}", "{status: 4xx, contains: [a]}", True),
    ("{status: [403, 404], contains: [a]}", "{status: [404], contains: [a]}", True),
    ("{header: {x-a: '1'}}", "{header: {x-a: '1', x-b: '2'}}", True),
    ("{status: [404], contains: [a], title: [b]}", "{status: [404], contains: [a]}", False),
    ("{status: [404], contains: [a]}", "{status: [403, 404], contains: [a]}", False),
    ("{status: [404], contains: [a]}", "{status: [404], contains: [b]}", False),
    ("{status: [404]}", "{header: {x-a: '1'}, status: [404]}", False),  # header rules are tried first
    ("{status: [404], path: [/a]}", "{status: [404], path: [/b]}", False),
]


@pytest.mark.parametrize(("above", "below", "never"), WHENS)
def test_rules_that_can_never_win(folder: Path, above: str, below: str, never: bool) -> None:
    rules = "".join(
        f"  - id: {name}\n    about: One.\n    when: {when}\n    then: {{code: not_found}}\n" for name, when in (("above", above), ("below", below))
    )
    (folder / "bakery/rules.yaml").write_text(f"pack: bakery\nabout: A.\nrules:\n{rules}")
    found = [str(one) for one in eclipsed(read_packs([folder]))]
    assert len(found) == never
    assert all("rule below: can never win: above above it holds wherever it holds" in one for one in found)


def test_none_of_the_shipped_rules_is_eclipsed() -> None:
    assert [str(one) for one in eclipsed(read_packs([shipped_rules()]))] == []
