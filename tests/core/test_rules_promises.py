"""What the rulebook promises: order, successes, server failures, shadows, bounds; and that it never raises."""

import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saywhy.core.model import Fields, Head, Request, Response
from saywhy.core.page import read
from saywhy.core.rules import Rulebook, RuleInfo, Work, rules_schema
from saywhy.core.rules.compiled import compile_rule
from saywhy.core.rules.fold import fold, fold_literal
from saywhy.core.rules.shape import Pack
from saywhy.edge.packs import load_rulebook
from saywhy.edge.rulefaults import RuleErrors


def book(
    *rules: dict,
    pack: str = "p",
    opt_in: bool = False,
    origin: str = "shipped",
    work: Work | None = None,
    more: tuple = (),
) -> Rulebook:
    """A rulebook of one pack, `more` being (pack name, rules, opt_in, origin) rows behind it."""
    compiled = []
    for name, rows, opted, whence in ((pack, rules, opt_in, origin), *more):
        for n, row in enumerate(rows):
            full = {"id": f"r{n}", "about": "x", "then": {"code": "needs_human"}} | row
            rule = Pack.model_validate({"pack": name, "about": "x", "rules": [full]}).rules[0]
            info = RuleInfo(
                name,
                rule.id,
                rule.then.code,
                rule.mode,
                opted,
                "",
                "",
                0,
                whence,
                rule.on_success or "",
                rule.outranks_failure,
            )
            compiled.append(compile_rule(rule, info))
    return Rulebook(compiled, work=work)


def head(status: int = 403, method: str = "GET", media: str = "text/html", **fields: str) -> Head:
    lines = {"content-type": media} | {name.replace("_", "-"): value for name, value in fields.items()}
    return Head(Request(method, b"/", Fields.of({"host": "h"})), Response(status, Fields.of(lines)))


def ask(
    rules: Rulebook,
    asked: Head,
    body: bytes = b"<p>captcha wall</p>",
    *,
    complete: bool = True,
    **how: object,
):
    return rules.match(asked, read(asked.response.fields, body, complete=complete), **how)


def named(match) -> str | None:
    return match.evidence.rule if match.evidence else None


CAPTCHA = {"when": {"contains": "captcha"}}
WALL = {"when": {"contains": "wall"}, "then": {"code": "not_allowed"}}
VENDOR = {"when": {"header": {"x-wall": "challenge"}}, "outranks_failure": True, "on_success": "rewrite"}
SUCCESS = {"when": {"contains": "captcha", "select": "p"}, "on_success": "rewrite"}


def test_first_match_wins():
    assert named(ask(book(CAPTCHA, WALL), head())) == "p/r0"
    assert named(ask(book(WALL, CAPTCHA), head())) == "p/r0"
    assert ask(book(WALL, CAPTCHA), head()).evidence.code == "not_allowed"
    assert named(ask(book({"when": {"contains": "absent"}}, WALL), head())) == "p/r1"


def test_packs_are_tried_in_the_order_named():
    rules = book(CAPTCHA, more=(("q", [WALL], False, "site"),))
    assert named(ask(rules, head())) == "p/r0"
    assert named(ask(rules, head(), packs=("q", "p"))) == "q/r0"
    assert named(ask(rules, head(), packs=("q",))) == "q/r0"
    assert named(ask(rules, head(), packs=())) is None
    assert named(ask(rules, head(), packs=("no-such",))) is None


def test_opt_in_packs_must_be_named():
    rules = book(CAPTCHA, opt_in=True)
    assert named(ask(rules, head())) is None
    assert named(ask(rules, head(), packs=("p",))) == "p/r0"
    assert rules.packs == ("p",)


def test_origins_are_told_apart():
    rules = book(CAPTCHA, more=(("own", [WALL], False, "site"),))
    assert named(ask(rules, head(), origin="site")) == "own/r0"
    assert named(ask(rules, head(), origin="shipped")) == "p/r0"


def test_heads_alone_decide_vendor_rules():
    rules = book(
        VENDOR, {"when": {"status": 403}}, {"when": {"header": {"x-wall": True}, "contains": "captcha"}}
    )
    evidence = rules.match_head(head(x_wall="challenge")).evidence
    assert (evidence.rule, evidence.decided_by, evidence.outranks_failure) == ("p/r0", "header", True)
    assert evidence.signals == ("header x-wall",)
    # A status alone is no signal of a vendor, and a rule that needs the page is not for heads.
    assert named(rules.match_head(head(x_wall="other"))) is None
    assert named(rules.match_head(head())) is None
    # With an origin, `match` leaves to `match_head` what is its.
    assert named(ask(rules, head(x_wall="challenge"), origin="shipped")) == "p/r1"
    assert named(ask(rules, head(x_wall="challenge"))) == "p/r0"


@pytest.mark.parametrize(
    ("rule", "status", "matches"),
    [
        (CAPTCHA, 403, True),
        (CAPTCHA, 499, True),
        (CAPTCHA, 999, True),
        (CAPTCHA, 200, False),
        (CAPTCHA, 302, False),
        (CAPTCHA, 500, False),
        (CAPTCHA, 503, False),
        (CAPTCHA, 599, False),
        (SUCCESS, 200, True),
        (SUCCESS, 403, True),
        (SUCCESS, 503, False),
        # A rule that agrees with the status overrules nothing.
        (CAPTCHA | {"then": {"code": "temporarily_unavailable"}}, 503, True),
        (CAPTCHA | {"then": {"code": "temporarily_unavailable"}}, 500, False),
        (CAPTCHA | {"then": {"code": "internal"}}, 500, True),
        (CAPTCHA | {"then": {"code": "not_found"}}, 500, False),
    ],
)
def test_a_page_never_overrules_a_server_failure_and_successes_need_a_rule_that_says_so(
    rule, status, matches
):
    assert (named(ask(book(rule), head(status))) is not None) == matches


@pytest.mark.parametrize("status", [200, 302, 403, 429, 500, 503])
def test_an_exact_vendor_header_speaks_everywhere(status):
    assert named(book(VENDOR).match_head(head(status, x_wall="challenge"))) == "p/r0"
    assert named(ask(book(VENDOR), head(status, x_wall="challenge"))) == "p/r0"


def test_shadowed_rules_are_named_and_passed_over():
    rules = book(CAPTCHA | {"mode": "shadow"}, {"when": {"contains": "absent"}, "mode": "shadow"}, WALL)
    match = ask(rules, head())
    assert (named(match), match.shadowed) == ("p/r2", ("p/r0",))
    notes: list = []
    ask(rules, head(), note=notes.append)
    assert [(note.rule, note.outcome) for note in notes] == [
        ("p/r0", "shadowed"),
        ("p/r1", "stopped"),
        ("p/r2", "matched"),
    ]
    vendor = book(VENDOR | {"mode": "shadow"}).match_head(head(x_wall="challenge"))
    assert (vendor.evidence, vendor.shadowed) == (None, ("p/r0",))


@pytest.mark.parametrize(
    ("rule", "asked", "wanted"),
    [
        (SUCCESS, head(200), True),
        (CAPTCHA, head(200), False),
        (VENDOR, head(200), False),
        (VENDOR, head(200, x_wall="challenge"), True),
        (
            SUCCESS | {"when": {"media": "html", "contains": "x", "select": "p"}},
            head(200, media="image/png"),
            False,
        ),
        (
            SUCCESS | {"when": {"media": "html", "contains": "x", "select": "p"}},
            head(200, media="application/grpc"),
            False,
        ),
        (SUCCESS | {"when": {"media": "html", "contains": "x", "select": "p"}}, head(200, media=""), False),
        *[
            (SUCCESS | {"when": {"contains": "x", "select": "p"}}, head(200, media=media), seen)
            for media, seen in {
                "text/html": True,
                "application/xhtml+xml": True,
                "application/json": True,
                "application/hal+json": True,
                "": False,
                "text/plain": False,
                "text/markdown": False,
                "application/octet-stream": False,
                "application/xml": False,
                "application/rss+xml": False,
                "image/svg+xml": False,
                "image/png": False,
                "application/x-ndjson": False,
                "application/pdf": False,
            }.items()
        ],
        *[
            (SUCCESS | {"when": {"media": named, "contains": "x", "size": 800}}, asked, seen)
            for named, asked, seen in [
                ("text", head(200, media="text/plain"), True),
                ("text", head(200, media="text/plain", content_length="800"), True),
                ("text", head(200, media="text/plain", content_length="801"), False),
                ("text", head(200, media="text/plain", content_length="801", content_encoding="gzip"), True),
                ("text", head(200, media="application/octet-stream"), False),
                ("text", head(200, media=""), False),
                ("html", head(200, media="text/plain"), False),
                ("html", head(200, media="text/html", content_length="9000"), False),
                ("xml", head(200, media="application/xml"), True),
                ("xml", head(200, media="application/rss+xml"), False),
                ("text", head(200, media="text/markdown"), False),
                ("text/*", head(200, media="text/markdown"), True),
                ("application/pdf", head(200, media="application/pdf"), True),
                ("binary", head(200, media="image/png"), False),
            ]
        ],
        (
            SUCCESS | {"when": {"media": "text", "contains": "x", "size": {"text": 10}}},
            head(200, media="text/plain", content_length="641"),
            False,
        ),
        *[
            (VENDOR, head(200, media=media, x_wall="challenge"), True)
            for media in ("", "text/plain", "application/octet-stream", "application/xml", "image/png")
        ],
        (
            SUCCESS | {"when": {"media": "json", "json": {"/a": 1}, "contains": "a"}},
            head(200, media="text/html"),
            True,
        ),
        (
            SUCCESS | {"when": {"media": ["html", "text"], "contains": "x", "select": "p"}},
            head(200, media="application/json"),
            False,
        ),
        (SUCCESS | {"when": {"method": "POST", "contains": "x", "select": "p"}}, head(200), False),
        (SUCCESS | {"when": {"method": "POST", "contains": "x", "select": "p"}}, head(200, "POST"), True),
        (SUCCESS | {"when": {"status": "200-299", "contains": "x", "select": "p"}}, head(302), False),
        (
            SUCCESS | {"when": {"contains": "x", "not": {"header": {"x-ok": True}}}},
            head(200, x_ok="1"),
            False,
        ),
        (SUCCESS | {"when": {"contains": "x", "not": {"title": "fine"}}}, head(200, x_ok="1"), True),
        (
            SUCCESS | {"when": {"any": [{"header": {"x-a": True}}, {"cookie": "b"}], "contains": "x"}},
            head(200),
            False,
        ),
        (
            SUCCESS | {"when": {"any": [{"header": {"x-a": True}}, {"title": "b"}], "contains": "x"}},
            head(200),
            True,
        ),
    ],
)
def test_which_successes_must_be_seen(rule, asked, wanted):
    rules = book(rule)
    assert rules.has_success_rules == bool(rule.get("on_success"))
    assert rules.wants_success(asked) == wanted
    assert rules.wants_success(asked, ("p",)) == wanted
    assert not rules.wants_success(asked, ("other",))


def test_what_must_not_be_there_cannot_be_known_from_a_cut_success():
    rules = book({"when": {"contains": "captcha", "not": {"select": "button"}}, "on_success": "annotate"})
    assert named(ask(rules, head(200))) == "p/r0"
    cut = ask(rules, head(200), complete=False)
    assert (named(cut), cut.exhausted) == (None, True)
    assert named(ask(rules, head(403), complete=False)) == "p/r0"


def test_past_a_bound_the_status_decides_and_it_shows():
    many = [{"when": {"status": 403, "matches": f"absent{n}"}} for n in range(30)]
    enough = ask(book(*many, WALL), head())
    assert (named(enough), enough.exhausted) == ("p/r30", False)
    tight = ask(book(*many, WALL, work=Work(expressions=10)), head())
    assert (named(tight), tight.exhausted) == (None, True)
    few_bytes = ask(book(*many, work=Work(bytes=100)), head(), b"<p>" + b"word " * 100)
    assert (named(few_bytes), few_bytes.exhausted) == (None, True)
    selects = [{"when": {"select": f".absent{n}"}} for n in range(30)]
    few_nodes = ask(book(*selects, work=Work(nodes=20)), head())
    assert (named(few_nodes), few_nodes.exhausted) == (None, True)


def test_a_page_without_a_tree_leaves_selectors_undecided():
    body = b"<p class=x>captcha" + b"<div>" * 5000
    notes: list = []
    match = ask(
        book({"when": {"select": ".x"}}, {"when": {"not": {"select": ".y"}}}, CAPTCHA),
        head(),
        body,
        note=notes.append,
    )
    assert (named(match), match.exhausted) == ("p/r2", True)
    assert notes[0].condition == "undecided: the page is too large or too deep for a tree"


@pytest.mark.parametrize(
    ("then", "expected"),
    [
        ({"message": "Fixed."}, {"message": "Fixed."}),
        ({"extract": {"message": {"css": "h1"}}}, {"message": "Wait a bit"}),
        ({"message": "Fixed.", "extract": {"message": {"css": "h6"}}}, {"message": "Fixed."}),
        ({"message": "Fixed.", "extract": {"message": {"css": "h1"}}}, {"message": "Wait a bit"}),
        (
            {"message": "Wait {n} s.", "extract": {"n": {"re": "in ([0-9]+) minutes"}}},
            {"message": "Wait 7 s."},
        ),
        ({"message": "Wait {n} s.", "extract": {"n": {"re": "in ([0-9]+) days"}}}, {"message": None}),
        (
            {"extract": {"retry_after": {"re": "in ([0-9]+) minutes", "unit": "minutes"}}},
            {"retry_after": 420},
        ),
        ({"retry_after": 9, "extract": {"retry_after": {"css": "h1"}}}, {"retry_after": 9}),
        ({"retry_after": 9}, {"retry_after": 9}),
        ({"extract": {"field": {"css": "input", "attr": "name"}}}, {"field": "email"}),
        ({"field": "qty"}, {"field": "qty"}),
        ({"extract": {"message": {"header": "X-Reason"}}}, {"message": "because"}),
        ({"extract": {"message": {"header": "x-reason", "re": "b(e)", "group": 0}}}, {"message": "be"}),
        ({"extract": {"message": {"re": "<!-- (.*?) -->", "in": "source"}}}, {"message": "why"}),
        ({"extract": {"message": {"re": "T.*", "in": "title", "group": 0}}}, {"message": "Title"}),
        ({"extract": {"continue_url": {"css": "a", "attr": "href"}}}, {"continue_url": "/go"}),
        ({"extract": {"continue_url": {"css": "a:last-of-type", "attr": "href"}}}, {"continue_url": None}),
        (
            {"documentation_url": "https://x.example/{w}", "extract": {"w": {"css": "b"}}},
            {"documentation_url": "https://x.example/bit"},
        ),
        (
            {
                "alternatives": [{"name": "{w}"}, {"name": "{gone}"}],
                "extract": {"w": {"css": "b"}, "gone": {"css": "h6"}},
            },
            {"alternatives": ({"name": "bit"},)},
        ),
        ({"extract": {"message": {"css": "#long"}}}, {"message": "x" * 500}),
    ],
)
def test_what_a_rule_says(then, expected):
    body = (
        "<title>Title</title><h1>Wait a <b>bit</b></h1><p>Back in 7 minutes.</p><!-- why --><input name=email>"
        f'<a href="/go">go</a><a href="javascript:x()">bad</a><p id=long>{"x" * 900}'
    ).encode()
    evidence = ask(
        book({"when": {"status": 403}, "then": {"code": "own_word"} | then}), head(x_reason="because"), body
    ).evidence
    assert evidence.code == "own_word"
    assert {name: getattr(evidence, name) for name in expected} == expected


def test_json_values_are_extracted():
    rule = {
        "when": {"media": "json"},
        "then": {
            "code": "x",
            "extract": {"message": {"json": "/m"}, "field": {"json": "/f"}, "retry_after": {"json": "/n"}},
        },
    }
    evidence = ask(book(rule), head(media="application/json"), b'{"m": "so", "f": true, "n": 30}').evidence
    assert (evidence.message, evidence.field, evidence.retry_after) == ("so", None, 30)


# Folding


def test_folding_keeps_every_place():
    for code in range(0x110000):
        if not 0xD800 <= code <= 0xDFFF:
            assert len(fold(chr(code))) == 1


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60))
def test_folding_is_by_character(text):
    folded = fold(text)
    assert len(folded) == len(text)
    assert fold(folded) == folded
    assert fold(text.upper()) == fold(text.upper().lower()) or len(text.upper()) != len(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [("SOLD OUT", "sold out"), ("İSTANBUL", "istanbul"), ("ISPARTA ıspar", "isparta ispar"), ("ΣΊΣΥΦΟΣ", "σίσυφος"), ("Kelvin", "kelvin"),
     ("ÉPUISÉ", "épuisé"), ("ẞ", "ß"), ("РАСПРОДАНО", "распродано"), ("ＳＯＬＤ", "ｓｏｌｄ"), ("a‑b’s", "a-b's")],
)  # fmt: skip
def test_folding_covers_scripts(one, other):
    assert fold(one) == fold(other)


def test_literals_fold_their_space():
    assert fold_literal(" a \n B ") == " a b "
    assert fold_literal("  ") == " "


# Totality and cost

PIECES = st.sampled_from(
    [
        "captcha",
        "wall",
        "<p>",
        "</p>",
        "İ",
        "ß",
        "{",
        "}",
        "<title>",
        "<!--",
        "\x00",
        "<script src=//a.b>",
        "𝒳",
        "&amp;",
        '"a":1',
    ]
)
RULES = book(
    CAPTCHA, {"when": {"status": 403, "matches": "(a|b)*c"}}, {"when": {"select": "p > b", "not": {"title": "x"}}}, {"when": {"script": "a.b"}},
    {"when": {"json": {"/a": 1}}}, {"when": {"jsonld": "Product"}}, {"when": {"cookie": "a*", "header": {"x": {"re": "."}}}}, SUCCESS, VENDOR,
    {"when": {"host": "*", "path": "/**", "size": 10}, "then": {"code": "x", "message": "{m}", "extract": {"m": {"css": "p"}}}},
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(
    st.integers(100, 999),
    st.lists(
        st.tuples(
            st.sampled_from([b"x-wall", b"set-cookie", b"content-type", b"x", b"\xff", b"content-encoding"]),
            st.binary(max_size=30),
        ),
        max_size=5,
    ),
    st.one_of(
        st.binary(max_size=200), st.lists(PIECES, max_size=20).map(lambda parts: "".join(parts).encode())
    ),
    st.binary(max_size=20),
    st.booleans(),
)
def test_never_raises(status, lines, body, target, packed):
    asked = Head(Request("GET", target, Fields(lines)), Response(status, Fields(lines)))
    page = read(asked.response.fields, gzip.compress(body) if packed else body)
    RULES.wants_success(asked)
    notes: list = []
    for match in (RULES.match_head(asked), RULES.match(asked, page), RULES.match(asked, page, origin="site")):
        assert match.evidence is None or match.evidence.rule
    assert RULES.match(asked, page, note=notes.append).evidence == RULES.match(asked, page).evidence
    RULES.match_head(asked, note=notes.append)


def test_rules_behind_shut_doors_are_not_tried():
    thousand = [
        {"when": {"status": "4xx", "contains": f"phrase {n}", "matches": f"phrase.{n}"}} for n in range(1000)
    ]
    # Ten expressions are all there may be; a thousand rules whose literals are absent need none.
    match = ask(book(*thousand, WALL, work=Work(expressions=10)), head())
    assert (named(match), match.exhausted) == ("p/r1000", False)


def test_schema_is_json_schema():
    import jsonschema

    schema = rules_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    check = jsonschema.Draft202012Validator(schema)
    good = {"pack": "p", "about": "x", "rules": [{"id": "a", "about": "x", "when": {"status": [403, "5xx"], "contains": ["a"], "header": {"x": True},
            "select": {"css": "p", "text": "x"}, "not": [{"title": "x"}], "matches": {"re": "x", "in": "text"}, "size": {"text": 30}, "media": "html",
            "cookie": "a", "jsonld": {"type": "Offer"}, "json": {"pointer": "/a", "exists": True}}, "then": {"code": "x"}}]}  # fmt: skip
    assert list(check.iter_errors(good)) == []
    assert list(check.iter_errors(good | {"rulez": []}))
    good["rules"][0]["when"]["contians"] = ["x"]
    assert list(check.iter_errors(good))


@pytest.mark.parametrize(
    ("cookie", "words"),
    [
        ("[[1]]", "[1] is no name of a cookie"),
        ("[{a: true}]", "{'a': True} is no name of a cookie"),
        ("[1]", "1 is no name of a cookie"),
        ("true", "True is no name of a cookie"),
    ],
)
def test_a_cookie_that_has_no_name_is_a_sentence(tmp_path, cookie, words):
    pack = tmp_path / "notice"
    pack.mkdir()
    (pack / "rules.yaml").write_text(
        "pack: notice\nabout: x\nrules:\n  - id: one\n    about: x\n    when:\n      status: 403\n"
        f"      cookie: {cookie}\n    then: {{code: not_allowed}}\n"
    )
    with pytest.raises(RuleErrors) as caught:
        load_rulebook([tmp_path])
    (error,) = caught.value.errors
    assert (error.line, error.rule, error.key) == (8, "one", "when.cookie")
    assert words in error.message + error.remedy
    assert "write a name" in error.message + error.remedy


DESCRIBED = {
    "when": {"select": {"css": "[aria-invalid=true]", "follow": ["aria-errormessage", "aria-describedby"], "text": "street"}}
}  # fmt: skip


@pytest.mark.parametrize(
    ("page", "holds"),
    [
        ("<input aria-invalid=true aria-describedby=e><p id=e>The street is unknown.</p>", True),
        ("<p id=e>The street is unknown.</p><input aria-invalid=true aria-errormessage=e>", True),
        (
            "<input aria-invalid=true aria-describedby='h e'><p id=h>A hint.</p><p id=e>No such street.</p>",
            True,
        ),
        ("<input aria-invalid=true aria-describedby=e><p id=f>The street is unknown.</p>", False),
        ("<input aria-invalid=true aria-describedby=e><p id=e></p>The street is unknown.", False),
        ("<input aria-invalid=true>The street is unknown.", False),
        ("<input aria-invalid=true aria-describedby=e><p id=e>The city is unknown.</p>", False),
    ],
)
def test_a_selector_follows_an_attribute_to_its_text(page, holds):
    said = book(DESCRIBED).match(head(422), read(Fields.of({"content-type": "text/html"}), page.encode()))
    assert (said.evidence is not None) == holds
