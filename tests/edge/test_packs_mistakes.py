"""Wrong rule files: each gives one message with file, line, rule, key and remedy; and nothing is loaded."""

from pathlib import Path

import pytest

from saywhy.edge.packs import RuleErrors, load_rulebook, shipped_rules

BAD = Path(__file__).parent / "bad_rules"

MESSAGES = {
    "unknown-key": '8: rule notice: when.contian: unknown key; did you mean "contains"?',
    "bad-expression": "8: rule notice: when.matches: '(?i)(?<!nearly )sold out' is no RE2 expression (invalid perl operator: (?<!); "
    "RE2 has no look-ahead or look-behind; use `not` with a second condition",
    "long-repeat": "8: rule notice: when.matches: '(?i)sold out.{0,900}until' has 8119 steps for RE2, more than 6000: "
    "a counted repeat is written out so often; write `*` for it, count to less, or make a list of several expressions",
    "outranking-page": "9: rule captcha: outranks_failure: overrules server failures by what the page says (contains); "
    "remove outranks_failure, or make the rule of header conditions alone",
    "weak-success": "10: rule captcha: on_success: looks at successes with one weak condition; add a second, independent one "
    "(matches, title, select, script, json, jsonld, cookie, path or size), or name an exact vendor header",
    "twice-the-id": "8: rule notice: id: the id is taken (line 4); give every rule of a pack its own",
    "code-nearly-known": "9: rule notice: then.code: 'out_off_stock' is nearly a known code; did you mean 'out_of_stock'?",
    "bad-selector": "8: rule notice: when.select.css: 'button[name=add' is no CSS selector (Malformed attribute selector at position 6); "
    "mend it, and quote attribute values",
    "wrong-type": "7: rule notice: when.contains[0]: 1015 is not a text; put it in quotes: '1015'",
    "doorless-expression": "8: rule notice: when.matches: runs an expression on every page; "
    "put `contains` with a literal of the expression beside it",
    "unknown-name": "10: rule notice: then.message: {product} is extracted nowhere; did you mean {prodcut}?",
    "twice-the-key": '8: has the key "contains" twice (first in line 7); keep one',
    "missing-key": "4: rule notice: then: is missing; add it",
    "bad-status": "7: rule notice: when.status[1]: '4x' is no number, range (500-599) or class (4xx); write one of these",
    "bad-mode": "6: rule notice: mode: 'shadows' is no such word; did you mean \"shadow\"?",
    "tab": "4: is not YAML here: a tab stands where blanks must; indent with blanks",
    "generic-header": "8: rule server: outranks_failure: overrules server failures without a vendor's header; "
    "remove outranks_failure, or name a header that only this kind of answer carries",
    "empty": " holds no pack; write pack, about and rules",
}


def put(folder: Path, text: str | bytes, name: str = "rules.yaml") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def errors_of(*folders: Path, **how: object) -> list[str]:
    with pytest.raises(RuleErrors) as caught:
        load_rulebook(folders, **how)
    return [str(error) for error in caught.value.errors]


@pytest.mark.parametrize("name", MESSAGES)
def test_one_message_a_mistake(name, tmp_path):
    folder = put(tmp_path / name, (BAD / f"{name}.yaml").read_bytes())
    assert errors_of(folder) == [f"{folder / 'rules.yaml'}:{MESSAGES[name]}"]


def test_every_bad_file_has_its_message():
    assert {path.stem for path in BAD.glob("*.yaml")} == set(MESSAGES)


GOOD = "pack: {name}\nabout: x\nrules:\n  - id: a\n    about: x\n    when: {{status: 404}}\n    then: {{code: not_found}}\n"


def good(name: str) -> str:
    return GOOD.format(name=name)


def test_all_mistakes_of_all_packs_are_collected(tmp_path):
    put(tmp_path / "shop", (BAD / "unknown-key.yaml").read_bytes())
    put(tmp_path / "wall", (BAD / "weak-success.yaml").read_bytes())
    put(tmp_path / "fine", good("fine"))
    assert len(errors_of(tmp_path, tmp_path / "nowhere")) == 3


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfepack: x", ":1: is not UTF-8 here; save the file as UTF-8"),
        (b"pack: x\nabout: caf\xe9", ":2: is not UTF-8 here; save the file as UTF-8"),
        (b"# " + b"x" * (1 << 20), ": is larger than 1048576 bytes; split it"),
        (b"- a\n- b", ": holds no pack; write pack, about and rules"),
        (b"pack: x\n---\npack: y", ":2: holds a second document (---); keep one"),
        (b"pack: !!python/object:os.system x", ":1: has the tag tag:yaml.org,2002:python/object:os.system; remove it, plain values are all there is"),
        (b"pack: *x", ":1: refers to *x within itself; write it out"),
        (b"a: &x [*x]", ":1: refers to *x within itself; write it out"),
        (b"a: {<<: {b: 1}}", ":1: has a merge key (<<); write the keys out"),
        (b"a: b: c", ":1: is not YAML here: a second `: ` stands in the line; put the text in quotes"),
        (b"[" * 500, ":1: nests deeper than 40 levels; flatten it"),
        (b"[" * 100_000, ":1: is not YAML here: exceeded maximum nesting depth"),
        (b"{[a]: b}", ":1: has a key that is no plain text; put it in quotes"),
        (b"a: &a [" + b"x," * 1000 + b"]\nb: &b [" + b"*a," * 99 + b"]\nc: [" + b"*b," * 99 + b"]", ":2: holds more than 100000 values, aliases counted; split it"),
    ],
)  # fmt: skip
def test_files_that_are_no_packs(content, message, tmp_path):
    folder = put(tmp_path / "p", content)
    found = errors_of(folder)
    assert (
        found == [f"{folder / 'rules.yaml'}{message}"]
        or found[0].removesuffix("; mend it") == f"{folder / 'rules.yaml'}{message}"
    )


def test_billion_laughs_are_counted(tmp_path):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    folder = put(tmp_path / "p", "\n".join(lines))
    assert "holds more than 100000 values, aliases counted" in errors_of(folder)[0]


def test_folders(tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    assert errors_of(empty) == [
        f"{empty}: holds no pack (<pack>/rules.yaml); add one, or name the folder that holds the packs"
    ]
    assert errors_of(tmp_path / "none") == [
        f"{tmp_path / 'none'}: there is no such folder; name one that is there, or leave it out"
    ]
    file = tmp_path / "file"
    file.write_text("x")
    assert errors_of(file) == [
        f"{file}: is a file, not a folder of packs; name the folder that holds the packs"
    ]
    (empty / "p").mkdir()
    assert errors_of(empty) == [f"{empty / 'p'}: has no rules.yaml; add it, or move the folder elsewhere"]
    (empty / "p" / "rules.yaml").mkdir()
    assert errors_of(empty) == [f"{empty / 'p' / 'rules.yaml'}: is a folder, not a file; name the file in it"]


def test_unreadable(tmp_path):
    folder = tmp_path / "p"
    folder.mkdir()
    # A file that not even root can read.
    (folder / "rules.yaml").symlink_to("/proc/self/mem")
    assert errors_of(folder) == [
        f"{folder / 'rules.yaml'}: cannot be read (input/output error); check the path and who may read it"
    ]


def test_names(tmp_path):
    put(tmp_path / "p", good("other"))
    assert errors_of(tmp_path) == [
        f"{tmp_path / 'p' / 'rules.yaml'}:1: pack: 'other' lies in the folder 'p'; give both the same name"
    ]
    put(tmp_path / "p", good("p"))
    again = put(tmp_path / "again" / "p", good("p")).parent
    (message,) = errors_of(tmp_path / "p", again)
    assert message.startswith(f"{again / 'p' / 'rules.yaml'}:1: pack: the name 'p' is taken by ")
    assert errors_of(tmp_path / "p", disable=["p/b"], shadow=["x/y"]) == [
        "settings: rules.disable: 'p/b' is nothing among the rules; did you mean \"p/a\"?",
        "settings: rules.shadow: 'x/y' is nothing among the rules; see `saywhy rules` for what there is",
    ]


def test_a_group_without_a_condition(tmp_path):
    for when in (
        "{status: 404, all: [{title: null}]}",
        "{title: null}",
        "{any: [{status: 404}, {not: [{media: null}]}]}",
    ):
        folder = put(tmp_path / "p", good("p").replace("{status: 404}", when))
        (message,) = errors_of(folder)
        assert message.endswith("holds no condition; write one, or remove the group")


def test_mistakes_come_in_the_order_of_the_file(tmp_path):
    text = (
        good("p")
        + "  - {id: b, about: x, when: {statsu: 404}, then: {code: not_found}}\n  - {about: x, when: {media: htm}, then: {}}\nabotu: x\n"
    )
    lines = [int(message.split(":")[1]) for message in errors_of(put(tmp_path / "p", text))]
    assert lines == sorted(lines)
    assert len(lines) >= 4


def test_what_loads(tmp_path):
    put(tmp_path / "p", good("p"))
    put(tmp_path / "q", good("q").replace("about: x\nrules", "about: x\nopt_in: true\nrules"))
    put(tmp_path / "scrub", "its: own shape")
    put(tmp_path / "..data", "hidden")
    (tmp_path / "schema.json").write_text("{}")
    book = load_rulebook([tmp_path])
    assert [
        (rule.name, rule.code, rule.mode, rule.opt_in, rule.origin, rule.line) for rule in book.rules
    ] == [
        ("p/a", "not_found", "enforce", False, "site", 4),
        ("q/a", "not_found", "enforce", True, "site", 5),
    ]
    assert [rule.name for rule in load_rulebook([tmp_path], disable=["p/a"]).rules] == ["q/a"]
    assert [rule.name for rule in load_rulebook([tmp_path], disable=["p"]).rules] == ["q/a"]
    assert [rule.mode for rule in load_rulebook([tmp_path], shadow=["p/a"]).rules] == ["shadow", "enforce"]
    assert load_rulebook([]).rules == ()


def test_shipped_packs_load():
    book = load_rulebook([shipped_rules()])
    assert len(book.rules) > 30
    assert {rule.origin for rule in book.rules} == {"shipped"}
    assert book.has_success_rules


def test_schema_on_disk_is_fresh(root):
    import json

    from saywhy.core.rules import rules_schema

    assert json.loads((root / "rules" / "schema.json").read_text()) == rules_schema(), (
        "run `saywhy schema rules > rules/schema.json`"
    )
