"""A page that differs from those before it in a few words is filled in, and says what parsing it says."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saywhy.core.model import Fields
from saywhy.core.page import Familiar, Page, read
from saywhy.core.page.stencil import Stencils, Told, cut, read_told

HTML = Fields([(b"Content-Type", b"text/html; charset=utf-8")])
MENU = "".join(f'<li class="item"><a href="/c/{number}">Basket {number}</a>\n' for number in range(40))


def page(body: str, head: str = "<title>Gone</title>") -> str:
    return f"<!DOCTYPE html><html><head>{head}</head><body><ul>{MENU}</ul>{body}</body></html>"


def said(one: Page) -> tuple[object, ...]:
    return one.title, one.text, list(one.lines), one.scripts, one.jsonld, one.things, one.fault


VARYING = {
    "a reference": ("<p>Reference: {}.</p>", ["4711", "a0b1-c2", "0", "x" * 60]),
    "a UUID": ("<p>{}</p>", ["0b1c-4d", "9f-00-ab", "77aa-1"]),
    "the path": ("<p>Nothing is at {} here.</p>", ["/a", "/a/b.html", "/%2e%2e/c:d"]),
    "the path, in a link too": ('<a href="/login?next={0}">{0}</a>', ["/a", "/b/c", "/d"]),
    "a nonce": ('<script nonce="{}">let x = 1</script><p>Gone.</p>', ["aB+/1", "c2", "d9"]),
    "a comment": ("<!-- request {} --><p>Gone.</p>", ["a1", "b2", "c-3"]),
    "a word in a script": ("<script>let id = '{}'; f(1 < 2)</script><p>Gone.</p>", ["a1", "b2", "c3"]),
    "the time": ("<p>At <b>{}</b></p>", ["10:00:01", "11:59:59", "23:00:00"]),
    "another alphabet": ("<p>Bestellung {}</p>", ["größe", "日本", "ключ"]),
    "an instruction": ("<p>Gone.<?php {}?></p>", ["a1", "b2", "c3"]),
    "between two": ("<i>{0}</i>{0}<b>{0}</b>", ["ab", "cd", "ef"]),
    "a hidden one": ("<p hidden>{}</p><p>Gone.</p>", ["a1", "b2", "c3"]),
}


@pytest.mark.parametrize("name", VARYING)
def test_a_page_that_varies_is_parsed_while_its_stencil_is_made(name: str, planted: list[str]) -> None:
    body, words = VARYING[name]
    familiar = Familiar()
    for count, word in enumerate([*words, "last1", "last2"], 1):
        source = page(body.format(word))
        one = familiar.read(HTML, source.encode(), complete=True)
        planted.clear()
        assert (one.title, one.text, list(one.lines)) == said(read(HTML, source.encode()))[:3]
        if count > 2:
            assert planted == [source]  # by the comparison alone
        assert said(one) == said(read(HTML, source.encode()))


def test_the_title_varies_too() -> None:
    stencils = Stencils()
    sources = [page("<h1>Gone</h1>", f"<title>No {word} here</title>") for word in ("a", "b", "c")]
    for source in sources[:2]:
        told = read_told(source)
        assert told is not None
        stencils.learn(source, told)
    assert stencils.read(sources[2]) == read_told(sources[2])
    assert stencils.read(sources[2]).title == "No c here"  # type: ignore[union-attr]


UNFIT = {
    "the name of a tag": "<{0}>x</{0}>",
    "an end tag": "<b>x</{}>",
    "what may end a script": "<script>x</{}>y</script>",
    "half a name": "<s{}>x",
    "the name of an attribute": "<p {}>x</p>",
    "what may hide": '<p style="display:{}">x</p>',
    "a reference": "<p>&{}</p>",
    "half a reference": "<p>&am{}</p>",
    "a number": "<p>&#{};</p>",
    "an unquoted value": "<p class={}>x</p>",
    "what opens a comment": "<p>x<!{}x>",
}


@pytest.mark.parametrize("name", UNFIT)
def test_what_may_change_how_the_rest_is_read_is_no_hole(name: str) -> None:
    one, other = (page(UNFIT[name].format(word)) for word in ("ins", "del"))
    told = read_told(other)
    assert told is not None
    assert cut(one, other, told) is None


@pytest.mark.parametrize(
    "word", ["", " ", "a b", "<b>", "a&amp;b", 'a"b', "a'b", "a=b", "a;b", "-->", "-a", "a-", "a--b", "\0", "\u2028"]
)  # fmt: skip
def test_a_word_that_is_more_than_a_word_does_not_fit(word: str) -> None:
    stencils = Stencils()
    body = "<!-- {0} --><p title='{0}'>Reference {0}</p>"
    for one in ("first", "second"):
        source = page(body.format(one))
        told = read_told(source)
        assert told is not None
        stencils.learn(source, told)
    assert stencils.read(page(body.format("third"))) is not None
    assert stencils.read(page(body.format(word))) is None
    assert stencils.read(page(body.format("third")) + "!") is None
    assert stencils.read(page(body.format("third"))[:-1]) is None


def test_pages_that_have_nothing_in_common_are_given_up_slowly() -> None:
    tried = 0
    stencils = Stencils()
    told = Told("", "", "")
    for number in range(600):
        before = stencils._failures
        stencils.learn(page("<p>x</p>" * (1 + number % 7)), told)
        tried += stencils._failures > before
    assert 3 < tried < 12


def test_stencils_are_bounded() -> None:
    stencils = Stencils()
    for sort in range(40):
        for word in ("one", "two"):
            source = page(f"<h1>{sort}</h1><p>{'long ' * 4000}{word}</p>")
            told = read_told(source)
            assert told is not None
            stencils.learn(source, told)
    assert 0 < stencils.kept_bytes <= 1 << 20
    assert len(stencils._kept) <= 16


WORDS = st.text("abXY019-/.%:!|bodyscrptamnhilev", min_size=1, max_size=12)
SHEETS = st.lists(
    st.sampled_from(
        ["<p>", "</p>", "<b>", "</b>", "<div hidden>", "</div>", "<br>", "<br/>", "<script>", "</script>", "<!-- ", " -->", "<title>",
         "</title>", "{}", "{}", " {} ", " {} ", '<a href="{}">', "<a title='x {} y'>", "</a>", "&amp;", "&", "&#", ";", " word ", "< ",
         "</", "<", ">", "=", "<style>", "</style>", "<textarea>", "<svg>", "</body>", "<td>", "\n", "-", "\"", "'"]
    ),
    min_size=1, max_size=14,
).map("".join)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(SHEETS, st.lists(WORDS, min_size=5, max_size=5))
def test_no_page_says_anything_else_than_parsing_says(sheet: str, words: list[str]) -> None:
    familiar = Familiar()
    for word in words:
        source = page(sheet.replace("{}", word)).encode()
        assert said(familiar.read(HTML, source, complete=True)) == said(read(HTML, source))
