"""Every condition, what it takes and what it leaves alone; each row is one rule against one response."""

import pytest

from saywhy.core.model import Fields, Head, Request, Response
from saywhy.core.page import read
from saywhy.core.rules import Rulebook, RuleInfo
from saywhy.core.rules.compiled import compile_rule
from saywhy.core.rules.shape import Pack

PAGE = """<!doctype html><html><head><title>Kettle &ndash; Sold&nbsp;Out</title>
<script src="https://cdn7.walls.example/tags/v2.js?x=1"></script><script src="/_wall/check.js"></script></head>
<body class="product single"><h1>Kettle</h1><p class="stock gone">Currently&nbsp;<b>sold</b> OUT</p>
<button name="add" disabled>Add</button><!-- support: 77 --><template><p id="tpl">not here</p></template></body></html>"""


def rulebook(*whens: dict, **more: object) -> Rulebook:
    rules = [
        {"id": f"r{n}", "about": "x", "when": when, "then": {"code": "out_of_stock"}, **more}
        for n, when in enumerate(whens)
    ]
    pack = Pack.model_validate({"pack": "p", "about": "x", "rules": rules})
    return Rulebook(
        [
            compile_rule(rule, RuleInfo("p", rule.id, "out_of_stock", "enforce", False, "", "", 0))
            for rule in pack.rules
        ]
    )


def exchange(
    body=PAGE,
    *,
    status=403,
    media="text/html",
    method="GET",
    target="/shop/kettle?id=1",
    host="Shop.Example:8080",
    **fields,
):
    lines = {"content-type": media} if media else {}
    lines |= {name.replace("_", "-"): value for name, value in fields.items()}
    head = Head(
        Request(method, target.encode("latin-1"), Fields.of({"host": host})),
        Response(status, Fields.of(lines)),
    )
    return head, read(head.response.fields, body if isinstance(body, bytes) else body.encode())


def holds(when: dict, **how: object) -> bool:
    head, page = exchange(**how)
    notes: list = []
    match = rulebook(when).match(head, page, note=notes.append)
    quick = rulebook(when).match(head, page)
    # The road with notes looks at every rule, the quick one only behind its door: they must agree.
    assert (match.evidence is None) == (quick.evidence is None)
    assert notes[0].outcome == ("stopped" if match.evidence is None else "matched")
    assert notes[0].condition
    return match.evidence is not None


JSON = {
    "body": '{"error": {"code": "SOLD_OUT", "n": 3, "ok": false, "list": [{"a": null}]}, "a/b": "~"}',
    "media": "application/json",
}
LD = {"body": '<script type="application/ld+json">{"@type":"Product","offers":[{"@type":"Offer","availability":"http://schema.org/OutOfStock"},'
      '{"@type":"Offer","availability":"InStock"}]}</script>'}  # fmt: skip
LD_GONE = {"body": LD["body"].replace("InStock", "SoldOut")}


@pytest.mark.parametrize(
    ("when", "how"),
    [
        ({"status": 403}, {}),
        ({"status": [404, "400-410"]}, {}),
        ({"status": "4xx"}, {}),
        ({"status": "4XX"}, {}),
        ({"method": ["post", "GET"]}, {}),
        ({"host": "shop.example"}, {}),
        ({"host": "*.example"}, {}),
        ({"path": "/shop/*"}, {}),
        ({"path": "/**"}, {}),
        ({"path": "**kettle"}, {}),
        ({"path": ["/x", "/shop/k?ttle", "/shop/kettle"]}, {}),
        ({"header": {"X-Wall": True}}, {"x_wall": "1"}),
        ({"header": {"x-wall": "Challenge"}}, {"x_wall": "challenge"}),
        ({"header": {"x-wall": "chal*"}}, {"x_wall": "challenge"}),
        ({"header": {"x-wall": ["a", "b"]}}, {"x_wall": ["z", "B"]}),
        ({"header": {"x-wall": {"re": "^v[0-9]+$"}}}, {"x_wall": "v22"}),
        ({"header": {"x-wall": 7}}, {"x_wall": "7"}),
        ({"header": {"x-wall": False}}, {}),
        ({"cookie": "wall"}, {"set_cookie": ["a=1", "Wall=2; Path=/"]}),
        ({"cookie": {"wall_*": "2"}}, {"set_cookie": "wall_77=2; Path=/"}),
        ({"cookie": {"wall": False}}, {"set_cookie": "other=1"}),
        ({"media": "html"}, {}),
        ({"media": "text/*"}, {}),
        ({"media": ["json", "html"]}, {}),
        ({"media": "json"}, JSON | {"media": "text/html"}),
        ({"media": "empty"}, {"body": ""}),
        ({"title": "sold out"}, {}),
        ({"title": {"is": "KETTLE – SOLD OUT"}}, {}),
        ({"title": {"re": "^Kettle.*Out$"}}, {}),
        ({"contains": "currently sold out"}, {}),
        ({"contains": ["absent", "Currently  SOLD\nout"]}, {}),
        ({"contains": {"any": "support: 77", "in": "source"}}, {}),
        ({"contains": {"all": ["kettle", "sold out"], "in": "text"}}, {}),
        ({"contains": {"any": "kettle – sold out", "in": "title"}}, {}),
        ({"contains": "straße"}, {"body": "<p>HAUPTSTRAßE"}),
        ({"contains": "нет в наличии"}, {"body": "<p>НЕТ В НАЛИЧИИ"}),
        ({"contains": "tükendi kaldı"}, {"body": "<p>TÜKENDİ KALDI"}),
        ({"contains": "εξαντλημένος"}, {"body": "<p>ΕΞΑΝΤΛΗΜΈΝΟΣ"}),
        ({"contains": "we're closed"}, {"body": "<p>We’re closed"}),
        ({"contains": "sold out"}, {"body": '{"message": "so\\u006cd out"}', "media": "application/json"}),
        ({"status": 403, "matches": "(?i)SOLD.?out"}, {}),
        ({"status": 403, "matches": ["absent", "support: [0-9]+"]}, {}),
        ({"contains": "sold", "matches": {"re": "class=.stock", "in": "source"}}, {}),
        ({"select": ".stock.gone"}, {}),
        ({"select": {"css": "p.stock", "text": "(?i)sold out"}}, {}),
        ({"select": {"css": "button", "attr": {"name": "add", "disabled": True}}}, {}),
        ({"select": {"css": "button", "attr": {"type": False}}}, {}),
        ({"select": {"css": "body", "attr": {"class": "*single*"}}}, {}),
        ({"select": [".absent", "h1"]}, {}),
        ({"script": "walls.example"}, {}),
        ({"script": "cdn7.walls.example/tags/*"}, {}),
        ({"script": "/_wall/*"}, {}),
        ({"script": ["x.example", "*.walls.example"]}, {}),
        ({"json": {"pointer": "/error/code", "value": "sold_out"}}, JSON),
        ({"json": {"pointer": "/error/code", "re": "^SOLD"}}, JSON),
        ({"json": {"/error/n": 3, "/error/ok": False}}, JSON),
        ({"json": {"pointer": "/error/list/0/a", "exists": True}}, JSON),
        ({"json": {"pointer": "/error/x", "exists": False}}, JSON),
        ({"json": {"pointer": "/a~1b", "value": "~"}}, JSON),
        (
            {
                "json": [
                    {"pointer": "/error/n", "re": "3"},
                    {"pointer": "/error/code", "value": ["a", "SOLD*"]},
                ]
            },
            JSON,
        ),
        ({"jsonld": "Product"}, LD),
        ({"jsonld": {"type": "Offer", "availability": "OutOfStock"}}, LD),
        (
            {
                "jsonld": {
                    "type": "https://schema.org/Product",
                    "availability": ["out of stock", "SoldOut"],
                    "every": True,
                }
            },
            LD_GONE,
        ),
        ({"size": {"bytes": 5000}}, {}),
        ({"size": {"text": "5-60"}}, {}),
        ({"size": 5000}, {}),
        ({"all": [{"select": "h1"}, {"contains": "sold out"}]}, {}),
        ({"any": [{"select": "h6"}, {"contains": "sold out"}]}, {}),
        ({"not": {"select": "button:not([disabled])"}}, {}),
        ({"not": [{"status": 404}, {"any": [{"title": "x"}, {"select": "h6"}]}]}, {}),
    ],
)
def test_holds(when, how):
    assert holds(when, **how)


@pytest.mark.parametrize(
    ("when", "how"),
    [
        ({"status": 404}, {}),
        ({"status": ["5xx", "200-299"]}, {}),
        ({"method": "POST"}, {}),
        ({"host": "example"}, {}),
        ({"host": "shop.example.com"}, {}),
        ({"path": "/*"}, {}),
        ({"path": "/shop"}, {}),
        ({"path": "/shop/kettle?id=1"}, {}),
        ({"header": {"x-wall": True}}, {}),
        ({"header": {"x-wall": "challenge"}}, {"x_wall": "no challenge"}),
        ({"header": {"x-wall": "a.c"}}, {"x_wall": "abc"}),
        ({"header": {"x-wall": True, "x-other": True}}, {"x_wall": "1"}),
        ({"header": {"x-wall": False}}, {"x_wall": "1"}),
        ({"cookie": "wall"}, {"set_cookie": "wall2=1; wall=2"}),
        ({"cookie": "wall"}, {}),
        ({"media": "json"}, {}),
        ({"media": "application/*"}, {}),
        ({"title": "kettle pot"}, {}),
        ({"title": {"is": "kettle"}}, {}),
        ({"title": "sold out"}, {"body": "<title>x</title><p>sold out"}),
        ({"contains": "in stock"}, {}),
        ({"contains": {"any": "support: 77", "in": "text"}}, {}),
        ({"contains": {"any": "not here", "in": "text"}}, {}),
        ({"contains": {"all": ["kettle", "absent"]}}, {}),
        ({"contains": {"any": "sold out", "in": "title"}}, {"body": "<p>sold out"}),
        ({"status": 403, "matches": "(?-i)SOLD"}, {}),
        ({"select": "#tpl2"}, {}),
        ({"select": {"css": "h1", "text": "Sold"}}, {}),
        ({"select": {"css": "button", "attr": {"name": "remove"}}}, {}),
        ({"select": {"css": "button", "attr": {"disabled": False}}}, {}),
        ({"select": "h1"}, {"body": "h1", "media": "text/plain"}),
        ({"script": "alls.example"}, {}),
        ({"script": "walls.example.com"}, {}),
        ({"script": "/tags"}, {}),
        ({"json": {"pointer": "/error/code", "value": "sold"}}, JSON),
        ({"json": {"/error/n": "3"}}, JSON),
        ({"json": {"/error/n": True}}, JSON),
        ({"json": {"/error/ok": 0}}, JSON),
        ({"json": {"pointer": "/error/list/1", "exists": True}}, JSON),
        ({"json": {"pointer": "/error"}}, {}),
        ({"json": {"pointer": "/error/x", "exists": False}}, {"body": "not json"}),
        ({"jsonld": "Event"}, LD),
        ({"jsonld": {"type": "Product", "availability": "OutOfStock", "every": True}}, LD),
        ({"jsonld": {"type": "Event", "availability": ["OutOfStock", "SoldOut"], "every": True}}, LD_GONE),
        ({"jsonld": {"availability": "OutOfStock"}}, {}),
        ({"size": 100}, {}),
        ({"size": {"text": 10}}, {}),
        ({"size": {"bytes": "5000-9000"}}, {}),
        ({"all": [{"select": "h1"}, {"contains": "absent"}]}, {}),
        ({"any": [{"select": "h6"}, {"contains": "absent"}]}, {}),
        ({"not": {"select": "button[disabled]"}}, {}),
        ({"contains": "sold out", "not": [{"select": "h6"}, {"select": "h1"}]}, {}),
        ({"contains": "strasse"}, {"body": "<p>Hauptstraße"}),
        ({"contains": "sold out"}, {"body": b"\x89PNG sold out", "media": "image/png"}),
        ({"contains": "sold out"}, {"body": PAGE, "content_encoding": "x-own"}),
    ],
)
def test_does_not_hold(when, how):
    assert not holds(when, **how)


@pytest.mark.parametrize(
    ("when", "words"),
    [
        ({"status": 404}, "status 403 is not 404"),
        ({"status": ["5xx", 404]}, "status 403 is none of 500-599, 404"),
        ({"contains": ["a1", "b1", "c1"]}, "contains: none of 3 literals"),
        ({"contains": {"all": ["kettle", "b1"]}}, "contains: 1 of 2 literals missing"),
        ({"header": {"x-wall": True}}, "header x-wall is absent"),
        ({"select": "h6"}, "select: nothing is 'h6'"),
        ({"title": "tea"}, "title 'Kettle – Sold Out' is another"),
        ({"json": {"pointer": "/a", "value": 1}}, "json: the body is not JSON"),
        ({"jsonld": "Product"}, "jsonld: the page has no structured data"),
        ({"not": {"status": 403}}, "not: what must not be there is there"),
        ({"any": [{"status": 404}, {"select": "h6"}]}, "any: status 403 is not 404; select: nothing is 'h6'"),
    ],
)
def test_steps_say_what_stopped_a_rule(when, words):
    notes: list = []
    rulebook(when).match(*exchange(), note=notes.append)
    assert [(note.rule, note.outcome, note.condition) for note in notes] == [("p/r0", "stopped", words)]


def test_every_condition_has_a_row():
    from saywhy.core.rules.groups import ROWS
    from saywhy.core.rules.shape import When

    assert {row.attribute for row in ROWS} | {"all", "any", "not_"} == set(When.model_fields)
