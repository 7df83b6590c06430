"""Structured data: what a page offers, in every notation, and which thing it is about."""

import json

import pytest

from saywhy.core.model import Fields
from saywhy.core.page import availability_word, read, type_word


def page(body: str):
    return read(Fields.of({"content-type": "text/html; charset=utf-8"}), body.encode())


def ld(value: object) -> str:
    return f'<script type="application/ld+json">{value if isinstance(value, str) else json.dumps(value)}</script>'


def offer(word: str, **more: object) -> dict[str, object]:
    return {"@type": "Offer", "availability": f"https://schema.org/{word}", **more}


def product(*offers: object, **more: object) -> dict[str, object]:
    return {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": "Kettle",
        "offers": list(offers),
        **more,
    }


@pytest.mark.parametrize(
    ("written", "word"),
    [
        ("https://schema.org/OutOfStock", "outofstock"),
        ("http://schema.org/OutOfStock/", "outofstock"),
        ("schema:SoldOut", "soldout"),
        ("OutOfStock", "outofstock"),
        ("out of stock", "outofstock"),
        ("Out_Of-Stock", "outofstock"),
        ("oos", "outofstock"),
        ("in stock", "instock"),
        ("InStock", "instock"),
        ("https://schema.org/LimitedAvailability", "limitedavailability"),
        ({"@id": "http://schema.org/SoldOut"}, "soldout"),
        (["https://schema.org/SoldOut"], "soldout"),
        (None, ""),
        (3, ""),
        ([], ""),
        ({}, ""),
    ],
)
def test_availability_in_any_spelling(written, word):
    assert availability_word(written) == word


def test_types():
    assert (
        type_word("https://schema.org/Product")
        == type_word("schema:Product")
        == type_word("product")
        == "product"
    )


GONE = ("outofstock",)


@pytest.mark.parametrize(
    ("body", "mains"),
    [
        (ld(product(offer("OutOfStock"))), [GONE]),
        (ld([product(offer("OutOfStock"))]), [GONE]),
        (ld({"@graph": [{"@type": "WebSite"}, product(offer("OutOfStock"))]}), [GONE]),
        (ld({"@graph": [product({"@id": "#o"}), {"@id": "#o", **offer("OutOfStock")}]}), [GONE]),
        (ld({"@type": "ItemPage", "mainEntity": product(offer("OutOfStock"))}), [GONE]),
        (ld({"@type": ["Product", "Thing"], "offers": offer("OutOfStock")}), [GONE]),
        (ld(offer("SoldOut")), [("soldout",)]),
        (
            ld({"@type": "MusicEvent", "offers": [offer("SoldOut"), offer("SoldOut")]}),
            [("soldout", "soldout")],
        ),
        (
            ld(product({"@type": "AggregateOffer", "offers": [offer("OutOfStock"), offer("InStock")]})),
            [("outofstock", "instock")],
        ),
        (ld(product({"@type": "AggregateOffer", "availability": "OutOfStock"})), [GONE]),
        (ld(product({"@type": "Offer", "price": 3})), [("",)]),
        (
            ld(
                {
                    "@type": "ProductGroup",
                    "hasVariant": [product(offer("OutOfStock")), product(offer("InStock"))],
                }
            ),
            [("outofstock", "instock")],
        ),
        # Not what the page is about.
        (ld(product(offer("InStock"), isRelatedTo=product(offer("OutOfStock")))), [("instock",)]),
        (ld([product(offer("OutOfStock"), name="A"), product(offer("InStock"), name="B")]), []),
        (ld({"@type": "ItemList", "itemListElement": [{"item": product(offer("OutOfStock"))}]}), []),
        (ld({"@type": "Article", "about": "x"}), []),
        # The same product told twice is one.
        (ld(product(offer("OutOfStock"))) + ld(product(offer("OutOfStock"))), [GONE, GONE]),
        # Sloppy scripts.
        (ld('{"@type": "Offer",\n "availability": "OutOfStock", "description": "two\nlines"}'), [GONE]),
        (ld("<!-- " + json.dumps(offer("OutOfStock")) + " -->"), [GONE]),
        (ld('{"@type": "Offer", availability}') + ld(offer("OutOfStock")), [GONE]),
        ('<script>var x = {"availability": "OutOfStock"}</script>', []),
        # Microdata.
        (
            '<div itemscope itemtype="https://schema.org/Product"><div itemprop="offers" itemscope itemtype="https://schema.org/Offer">'
            '<link itemprop="availability" href="https://schema.org/OutOfStock"></div></div>',
            [GONE],
        ),
        (
            '<div itemscope itemtype="http://schema.org/Offer"><meta itemprop="availability" content="out of stock"></div>',
            [GONE],
        ),
        (
            '<div itemscope itemtype="http://schema.org/Offer"><span itemprop="availability">Sold out</span></div>',
            [("soldout",)],
        ),
        (
            '<div itemscope itemtype="http://schema.org/Product"><link itemprop="availability" href="InStock">'
            '<div itemprop="isRelatedTo" itemscope itemtype="http://schema.org/Product"><link itemprop="availability" href="OutOfStock"></div></div>',
            [("instock",)],
        ),
        (
            '<div itemscope itemtype="http://schema.org/Product"><link itemprop="availability" href="InStock"></div>'
            '<div itemscope itemtype="http://schema.org/Product"><link itemprop="availability" href="OutOfStock"></div>',
            [],
        ),
        # RDFa.
        (
            '<div vocab="https://schema.org/" typeof="Event"><div property="offers" typeof="Offer">'
            '<link property="availability" href="https://schema.org/SoldOut"></div></div>',
            [("soldout",)],
        ),
        # Metas.
        ('<meta property="product:availability" content="oos">', [GONE]),
        ('<meta property="og:availability" content="instock">', [("instock",)]),
        ('<meta name="description" content="availability: out of stock">', []),
    ],
)
def test_main_things(body, mains):
    found = [thing.offers for thing in page(f"<html><body>{body}<p>x").things if thing.main]
    assert found == mains


def test_nodes_are_flattened():
    assert [node["@type"] for node in page(ld({"@graph": [{"@type": "A"}, {"@type": "B", "x": {"@type": "C"}}]}) + ld([[{"@type": "D"}]])).jsonld] == [
        "A", "B", "D",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "value",
    [
        {"@id": "a", "@type": "Product", "offers": {"@id": "a"}},
        {"@graph": [{"@id": "a", "offers": {"@id": "b"}}, {"@id": "b", "offers": {"@id": "a"}}]},
        {"@type": {"x": 1}, "offers": 3, "@id": ["x"]},
        {"offers": [[[[{"availability": None}]]]]},
        "[" * 5000,
        {
            "@graph": [
                {"@type": "Product", "offers": [{"@id": f"{n % 7}"} for n in range(40)], "@id": f"{k % 7}"}
                for k in range(60)
            ]
        },
    ],
)
def test_odd_data_ends(value):
    found = page(ld(value) + "<link itemprop=availability href=x>")
    assert isinstance(found.things, tuple)
