"""YAML with lines: values as YAML 1.2 reads them, and where each key stands."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saywhy.edge.documents import DocumentError, did_you_mean, parse_document, read_document

HERE = Path("x.yaml")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("# only words", None),
        ("a: 1", {"a": 1}),
        ("a: no", {"a": "no"}),
        ("a: on", {"a": "on"}),
        ("a: 12:30", {"a": "12:30"}),
        ("a: 2026-11-30", {"a": "2026-11-30"}),
        ("a: true", {"a": True}),
        ("a: 'true'", {"a": "true"}),
        ("a: ~", {"a": None}),
        ("a:", {"a": None}),
        ("a: 1.5", {"a": 1.5}),
        ("a: 1e3", {"a": 1000.0}),
        ("a: 0x1F", {"a": "0x1F"}),
        ("a: -3", {"a": -3}),
        ("1: a", {"1": "a"}),
        ("true: a", {"true": "a"}),
        ("a: [b, {c: d}]", {"a": ["b", {"c": "d"}]}),
        ("a: >-\n  two\n  lines", {"a": "two lines"}),
        ("a: &x [1]\nb: *x", {"a": [1], "b": [1]}),
        ("a: !!str 1", {"a": "1"}),
        ("- a\n- b", ["a", "b"]),
        ("\ufeffa: b", {"a": "b"}),
    ],
)
def test_values(text, value, tmp_path):
    file = tmp_path / "x.yaml"
    file.write_text(text, encoding="utf-8")
    assert read_document(file).value == value


def test_lines():
    document = parse_document("a: 1\nb:\n  - c: 2\n    d: 3\n  - {e: 4}\n", HERE)
    assert document.line(()) == 1
    assert document.line(("a",)) == 1
    assert document.line(("b",)) == 2
    assert document.line(("b", 0, "d")) == 4
    assert document.line(("b", 1, "e")) == 5
    assert document.line(("b", 1, "e", "below", 3)) == 5
    assert document.line(("z",)) == 1


@pytest.mark.parametrize(
    ("word", "known", "said"),
    [
        ("contian", ["contains", "title"], 'did you mean "contains"?'),
        ("xyz", ["contains"], ""),
        ("on-success", ["on_success"], 'did you mean "on_success"?'),
    ],
)
def test_did_you_mean(word, known, said):
    assert did_you_mean(word, known) == said


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(
        st.text(max_size=80),
        st.lists(
            st.sampled_from(
                [
                    "a: ",
                    "- ",
                    "\n",
                    "  ",
                    "[",
                    "]",
                    "{",
                    "}",
                    "&x ",
                    "*x",
                    "!t ",
                    "'",
                    '"',
                    "|",
                    "? ",
                    ": ",
                    "#",
                    "x",
                ]
            ),
            max_size=25,
        ).map("".join),
    )
)
def test_never_anything_but_a_document_error(text):
    with suppress(DocumentError):
        assert parse_document(text, HERE).path == HERE
