"""Settings and packs become a set, or every reason why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from saywhy.core.model import Fields, Head, Request, Response
from saywhy.core.page import read
from saywhy.edge.assemble import assemble, digest, rule_folders
from saywhy.edge.eclipse import eclipsed
from saywhy.edge.packs import RuleErrors, read_packs, shipped_rules
from saywhy.edge.settings import Loaded, Settings, SettingsError, load

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
    head = Head(
        Request(fields=Fields.of({"accept": "application/problem+json"})),
        Response(500, Fields.of({"content-type": "text/html"})),
    )
    assert assemble(made).triage(head).limit == 5000


WRONG_NAMES = """upstreams: {default: 'http://127.0.0.1:3000'}
rules:
  folders: [rules]
  shipped: false
  shadow:
    - bakery/cold-oven
    - nothing/like-it
  disable: [bakery/cold-ovn, bakry]
  packs: [bakrey]
"""


def test_names_that_settings_get_wrong_carry_their_line(folder: Path) -> None:
    file = folder.parent / "saywhy.yaml"
    file.write_text(WRONG_NAMES)
    loaded = load(file, environ={})
    with pytest.raises(SettingsError) as wrong:
        assemble(loaded.settings, loaded.origins)
    assert str(wrong.value).splitlines() == [
        f"{file}:7: rules.shadow names 'nothing/like-it', which is not among the rules; see `saywhy rules` for what there is.",
        f"{file}:8: rules.disable names 'bakery/cold-ovn', which is not among the rules; did you mean \"bakery/cold-oven\"?",
        f"{file}:8: rules.disable names 'bakry', which is not among the rules; did you mean \"bakery\"?",
        f"{file}:9: rules.packs names 'bakrey', which is not among the rules; did you mean \"bakery\"?",
    ]


def test_a_route_that_names_a_pack_nobody_has(folder: Path) -> None:
    made = settings(folder).model_copy(
        update={"routes": Settings.model_validate({"routes": [{"packs": ["bakerie"]}]}).routes}
    )
    with pytest.raises(SettingsError) as wrong:
        assemble(made, {("routes", 0): "saywhy.yaml:7"})
    said = "routes[0].packs names the pack 'bakerie', which is not among the rules; did you mean bakery?"
    assert str(wrong.value) == f"saywhy.yaml:7: {said}"


ORDERS = [
    # rules.packs, a route's packs, disable, the packs that are tried
    ([], [], [], ["bakery", "tea"]),
    (["spare"], [], [], ["spare", "bakery", "tea"]),
    (["tea", "spare"], [], [], ["tea", "spare", "bakery"]),
    (["tea"], ["spare"], [], ["spare", "bakery", "tea"]),
    (["spare"], ["tea"], [], ["tea", "bakery"]),
    (["spare"], [], ["tea"], ["spare", "bakery"]),
    ([], [], ["bakery"], ["tea"]),
    (["spare"], [], ["spare/cold-oven"], ["bakery", "tea"]),
]


@pytest.mark.parametrize(("packs", "route", "disable", "tried"), ORDERS)
def test_packs_that_are_named_come_first_and_the_others_follow(
    folder: Path, packs: list[str], route: list[str], disable: list[str], tried: list[str]
) -> None:
    for name in ("spare", "tea"):
        (folder / name).mkdir()
        opt_in = "opt_in: true\n" if name == "spare" else ""
        (folder / name / "rules.yaml").write_text(PACK.replace("pack: bakery\n", f"pack: {name}\n{opt_in}"))
    rules = {"folders": [str(folder)], "shipped": False, "packs": packs, "disable": disable}
    made = assemble(Settings.model_validate({"rules": rules, "routes": [{"packs": route}]}))
    head = Head(
        Request(fields=Fields.of({"accept": "application/json"})),
        Response(404, Fields.of({"content-type": "text/html"})),
    )
    steps: list[str] = []
    policy = made.triage(head).policy
    # A page that no rule holds for, so that every rule in force is tried.
    page = read(head.response.fields, b"<h1>No such bread</h1>")
    made.rulebook.match(head, page, packs=policy.packs, note=lambda step: steps.append(step.rule))
    assert steps == [f"{pack}/cold-oven" for pack in tried]


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
def test_examples_are_tried_before_a_set_is_one(
    folder: Path, files: dict[str, str], said: str | None, mode: str
) -> None:
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
    text = (
        PACK
        + "  - id: spare\n    about: Spare.\n    when: {status: [410], contains: [gone]}\n    then: {code: not_found}\n"
    )
    (folder / "bakery/rules.yaml").write_text(text)
    assert [rule.id for rule in assemble(settings(folder, disable=["bakery/cold-oven"])).rulebook.rules] == [
        "spare"
    ]


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
        f"  - id: {name}\n    about: One.\n    when: {when}\n    then: {{code: not_found}}\n"
        for name, when in (("above", above), ("below", below))
    )
    (folder / "bakery/rules.yaml").write_text(f"pack: bakery\nabout: A.\nrules:\n{rules}")
    found = [str(one) for one in eclipsed(read_packs([folder]))]
    assert len(found) == never
    assert all("rule below: can never win: above above it holds wherever it holds" in one for one in found)


MUTE = [
    # when, the rest of the rule, code, what is said of it
    ("{status: 200, title: [a], contains: [b]}", "", "not_found", "needs on_success: it asks for 200"),
    ("{status: [200, 3xx], contains: [b]}", "", "not_found", "needs on_success: it asks for 200 to 399"),
    ("{contains: [b], all: [{status: 200}]}", "", "not_found", "needs on_success: it asks for 200"),
    (
        "{contains: [b], any: [{status: 200}, {status: 302}]}",
        "",
        "not_found",
        "needs on_success: it asks for 200 to 302",
    ),
    ("{status: 200, title: [a], contains: [b]}", "on_success: rewrite, ", "not_found", ""),
    ("{status: [200, 404], contains: [b]}", "", "not_found", ""),
    (
        "{status: 503, contains: [b]}",
        "",
        "not_found",
        "can never win: a page's text never overrules a 5xx, and not_found is not what 503 means; give it the code temporarily_unavailable",
    ),
    (
        "{status: 5xx, contains: [b]}",
        "",
        "out_of_stock",
        "can never win: a page's text never overrules a 5xx, and out_of_stock is not what 500 to 599 means",
    ),
    ("{status: 503, contains: [b]}", "", "temporarily_unavailable", ""),
    ("{status: 5xx, contains: [b]}", "", "temporarily_unavailable", ""),
    ("{status: [404, 503], contains: [b]}", "", "not_found", ""),
    ("{status: 503, header: {x-shop-says: gone}}", "outranks_failure: true, ", "not_found", ""),
    ("{contains: [b], any: [{status: 404}, {title: [a]}]}", "", "not_found", ""),
]


@pytest.mark.parametrize(("when", "more", "code", "said"), MUTE)
def test_rules_that_may_speak_at_none_of_their_statuses(
    folder: Path, when: str, more: str, code: str, said: str
) -> None:
    rule = f"{{id: mute, about: One., when: {when}, {more}then: {{code: {code}}}}}"
    (folder / "bakery/rules.yaml").write_text(f"pack: bakery\nabout: A.\nrules:\n  - {rule}\n")
    found = [str(one) for one in eclipsed(read_packs([folder]))]
    assert len(found) == bool(said)
    assert all(f"{folder}/bakery/rules.yaml:4: rule mute: {said}" in one for one in found)


def test_none_of_the_shipped_rules_is_eclipsed() -> None:
    assert [str(one) for one in eclipsed(read_packs([shipped_rules()]))] == []
