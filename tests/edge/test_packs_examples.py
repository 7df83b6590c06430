"""Examples: how they are read, and that each shipped one proves its rule."""

import json
from pathlib import Path

import jsonschema
import pytest

from saywhy.core.page import read
from saywhy.core.rules import rules_schema
from saywhy.edge.documents import read_document
from saywhy.edge.examples import ExampleError, read_example, unproven
from saywhy.edge.packs import examples, load_rulebook, pack_folders, shipped_rules

PACK = """pack: p
about: x
rules:
  - {id: gone, about: x, when: {status: 410}, then: {code: not_found}}
  - {id: gone-too, about: x, when: {status: 411}, then: {code: not_found}}
"""


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    (tmp_path / "p" / "examples").mkdir(parents=True)
    (tmp_path / "p" / "rules.yaml").write_text(PACK)
    return tmp_path / "p"


def put(pack: Path, name: str, content: str | bytes) -> Path:
    path = pack / "examples" / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_reading(pack):
    path = put(
        pack,
        "gone.http",
        b"# Why\n#  it is here.\nPOST /cart?x=1 HTTP/1.1\r\nHost: h\r\n\r\nHTTP/1.1 410 Gone\r\nX-A: \xe9 \r\nX-A:2\r\n\r\nbody\r\n\xff\n",
    )
    head, body, about = read_example(path)
    assert (head.request.method, head.request.target, head.request.host) == ("POST", b"/cart?x=1", "h")
    assert (head.response.status, head.response.fields.all("x-a")) == (410, ["é", "2"])
    assert (body, about) == (b"body\r\n\xff\n", "Why it is here.")


def test_only_a_response(pack):
    head, body, about = read_example(put(pack, "gone.http", "HTTP/2 410\n\n# body"))
    assert (head.request.method, head.response.status, body, about) == ("GET", 410, b"# body", "")
    assert read_example(put(pack, "gone.http", "HTTP/1.1 204 No Content"))[1] == b""


def test_a_body_that_is_no_text_lies_beside(pack):
    path = put(pack, "gone.http", "HTTP/1.1 410 Gone\nContent-Encoding: gzip\n\n")
    put(pack, "gone.body", b"\x1f\x8b")
    assert read_example(path)[1] == b"\x1f\x8b"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", ":1: is no status line; write `HTTP/1.1 404 Not Found`."),
        ("hello", ":1: is no status line; write `HTTP/1.1 404 Not Found`."),
        ("HTTP/1.1 42 x\n\n", ":1: is no status line; write `HTTP/1.1 404 Not Found`."),
        ("GET / HTTP/1.1\nHost: h\n\n<p>", ":4: is no status line; write `HTTP/1.1 404 Not Found`."),
        (
            "HTTP/1.1 404 x\nA: 1\n<p>\n\n",
            ":3: is no field; write `Name: value`, and an empty line before the body.",
        ),
        (
            "HTTP/1.1 404 x\n A: 1\n\n",
            ":2: is no field; write `Name: value`, and an empty line before the body.",
        ),
    ],
)
def test_strictly(pack, content, message):
    path = put(pack, "gone.http", content)
    with pytest.raises(ExampleError) as caught:
        read_example(path)
    assert str(caught.value) == f"{path}{message}"


def test_names_tell_the_rule(pack):
    for name in (
        "gone",
        "gone-2",
        "gone-too",
        "gone-too-3",
        "look-alike-gone",
        "look-alike-shop-window",
        "look-alike-gone-too-1",
    ):
        put(pack, f"{name}.http", "HTTP/1.1 410 Gone\n\n")
    put(pack, "gone.json", '{"error": {"code": "not_found"}}')
    assert [(one.path.stem, one.rule, one.look_alike, one.expected) for one in examples(pack)] == [
        ("gone", "p/gone", False, {"error": {"code": "not_found"}}),
        ("gone-2", "p/gone", False, None),
        ("gone-too", "p/gone-too", False, None),
        ("gone-too-3", "p/gone-too", False, None),
        ("look-alike-gone", "p/gone", True, None),
        ("look-alike-gone-too-1", "p/gone-too", True, None),
        ("look-alike-shop-window", "", True, None),
    ]
    told = unproven(pack)
    assert len(told) == 6
    assert [line for line in told if "look-alike-gone-too-1.http:1: does not say why it is here" in line]
    put(pack, "look-alike-gone-too-1.http", "# Gone, and on purpose.\nHTTP/1.1 410 Gone\n\n")
    assert len(unproven(pack)) == 5


@pytest.mark.parametrize(
    ("name", "content"), [("other.http", "HTTP/1.1 410 Gone\n\n"), ("gone.json", "{"), ("gone.json", "[]")]
)
def test_examples_that_are_none(pack, name, content):
    put(pack, "gone.http", "HTTP/1.1 410 Gone\n\n")
    put(pack, name, content)
    with pytest.raises(ExampleError, match=name.replace(".", r"\.")):
        examples(pack)


def test_rules_without_proof_are_told(pack):
    file = pack / "rules.yaml"
    put(pack, "gone.http", "HTTP/1.1 410 Gone\n\n")
    assert unproven(pack) == [
        f"{pack / 'examples' / 'gone.http'}: has no expected envelope; run `saywhy test --update` and read what it wrote.",
        f"{file}:4: rule gone: has no look-alike; add examples/look-alike-gone.http, a page it must leave alone.",
        f"{file}:5: rule gone-too: has no example; add examples/gone-too.http with its envelope.",
        f"{file}:5: rule gone-too: has no look-alike; add examples/look-alike-gone-too.http, a page it must leave alone.",
    ]


def test_shipped_examples_prove_their_rules():
    book = load_rulebook([shipped_rules()])
    wrong = []
    found = examples(shipped_rules())
    assert len(found) > 60
    for one in found:
        page = read(one.head.response.fields, one.body)
        match = book.match(one.head, page, packs=book.packs)
        rule = match.evidence.rule if match.evidence else ""
        hit = rule == one.rule or (not one.rule and (rule or "").startswith(f"{one.pack}/"))
        if hit == one.look_alike:
            wrong.append((str(one.path), rule))
    assert wrong == []


def test_every_shipped_rule_is_proven():
    assert unproven(shipped_rules()) == []


def test_shipped_packs_fit_the_schema():
    check = jsonschema.Draft202012Validator(json.loads(json.dumps(rules_schema())))
    for folder in pack_folders(shipped_rules()):
        value = read_document(folder / "rules.yaml").value
        assert [error.message for error in check.iter_errors(value)] == []
