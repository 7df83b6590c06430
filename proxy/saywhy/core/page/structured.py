"""Structured data about what a page offers: JSON-LD, microdata, RDFa and product metas, all as `Thing`s.

schema.org says whether a thing can be had (`availability`); shops say so where no visible word does. Which thing the
page is about matters as much: related products sit on every product page, and one of them is always sold out.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from lxml import etree

from saywhy.core.page.html import Script, elements, own_text
from saywhy.core.page.jsonvalue import NOT_JSON, parse

_SUBTYPES = {
    "product": "individualproduct productmodel someproducts productgroup productcollection vehicle car motorcycle bicycle book "
    "drug dietarysupplement clothing",
    "event": "businessevent childrensevent comedyevent courseinstance danceevent deliveryevent educationevent eventseries "
    "exhibitionevent festival foodevent hackathon literaryevent musicevent publicationevent saleevent screeningevent socialevent "
    "sportsevent theaterevent visualartsevent conferenceevent performingartsevent",
    "offer": "aggregateoffer offerforlease offerforpurchase demand",
    "article": "newsarticle blogposting techarticle report socialmediaposting",
    "webpage": "itempage aboutpage checkoutpage collectionpage contactpage faqpage profilepage qapage searchresultspage",
}
_PARENTS = {child: parent for parent, children in _SUBTYPES.items() for child in children.split()}

_ELSEWHERE = frozenset(
    {"isrelatedto", "issimilarto", "isaccessoryorsparepartfor", "isconsumablefor", "itemlistelement", "review", "reviews",
     "subevent", "subevents", "superevent", "makesoffer", "hasoffercatalog", "performer", "location", "brand", "isvariantof",
     "author", "publisher", "comment", "mentions", "breadcrumb", "seller", "organizer"}
)  # fmt: skip
"""Properties that lead away from the thing the page is about."""

_VARIANTS = frozenset({"hasvariant", "model", "workexample"})
_OFFERS = frozenset({"offers", "offer"})
_MAIN = frozenset({"mainentity", "mainentityofpage", "about"})

_AVAILABILITY = {
    "oos": "outofstock", "outofstock": "outofstock", "unavailable": "outofstock", "soldout": "soldout",
    "instock": "instock", "available": "instock", "availablefororder": "backorder", "pending": "preorder",
}  # fmt: skip
"""Words of Open Graph and of sloppy sites, as schema.org's. Any other word stands for itself."""

_METAS = frozenset({"product:availability", "og:availability", "og:product:availability"})
_DEEPEST = 12


class Thing(NamedTuple):
    """One entity of the page.

    `types`: schema.org types, lower case, parents included. `offers`: one availability word an offer, lower case
    ("outofstock"), "" where an offer names none. `main`: whether the page is about it.
    """

    types: frozenset[str]
    offers: tuple[str, ...]
    main: bool


def type_word(name: str) -> str:
    """A schema.org type or availability in any spelling (URL, prefix, blanks, case) as one lower-case word."""
    last = name.strip().rstrip("/").rpartition("/")[2].rpartition("#")[2].rpartition(":")[2]
    return "".join(char for char in last.lower() if char.isalnum())


def availability_word(value: object) -> str:
    """An availability as schema.org names it, lower case; "" where `value` is none."""
    if isinstance(value, Mapping):
        value = value.get("@id") or value.get("@value") or value.get("name")
    if isinstance(value, list):
        value = value[0] if value else ""
    if not isinstance(value, str):
        return ""
    word = type_word(value)
    return _AVAILABILITY.get(word, word)


def _types(names: list[str]) -> frozenset[str]:
    words = {type_word(name) for name in names}
    return frozenset(words | {_PARENTS[word] for word in words if word in _PARENTS})


# JSON-LD


def jsonld_of(scripts: tuple[Script, ...], most: int) -> list[dict[str, Any]]:
    """The nodes of every JSON-LD script, arrays and @graph flattened, in order; at most `most`. Nested ones stay inside."""
    nodes: list[dict[str, Any]] = []
    for script in scripts:
        if "ld+json" not in script.type or len(nodes) >= most:
            continue
        text = (
            script.text.strip()
            .removeprefix("<!--")
            .removesuffix("-->")
            .removeprefix("//<![CDATA[")
            .removesuffix("//]]>")
        )
        value = parse(text.strip(), deepest=32, strict=False)
        waiting = [value] if value is not NOT_JSON else []
        while waiting and len(nodes) < most:
            item = waiting.pop(0)
            if isinstance(item, list):
                waiting = item[:most] + waiting
            elif isinstance(item, dict):
                graph = item.get("@graph")
                if isinstance(graph, list | dict):
                    waiting = [graph, *waiting]
                if "@type" in item or graph is None:
                    nodes.append(item)
    return nodes


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _node_types(node: Mapping[str, Any]) -> frozenset[str]:
    return _types([name for name in _listed(node.get("@type", [])) if isinstance(name, str)])


class _Graph:
    """JSON-LD nodes with their references: collects what each thing offers."""

    def __init__(self, nodes: list[dict[str, Any]], most: int) -> None:
        self.nodes = nodes
        self.left = most * 10  # nodes visited, so that references in a ring end
        self.by_id = {node["@id"]: node for node in nodes if isinstance(node.get("@id"), str)}

    def follow(self, value: Any) -> Iterator[Mapping[str, Any]]:
        for item in _listed(value):
            if not isinstance(item, dict):
                continue
            self.left -= 1
            if self.left < 0:
                return
            target = (
                self.by_id.get(item["@id"]) if set(item) == {"@id"} and isinstance(item["@id"], str) else item
            )
            if target is not None:
                yield target

    def offers(self, node: Mapping[str, Any], depth: int = 0) -> list[str]:
        """The availability of each offer of `node` and of its variants."""
        found: list[str] = []
        if depth > _DEEPEST:
            return found
        for key, value in node.items():
            word = type_word(key)
            if word in _OFFERS:
                for offer in self.follow(value):
                    found.extend(self.within(offer, depth + 1))
            elif word in _VARIANTS:
                for variant in self.follow(value):
                    found.extend(self.offers(variant, depth + 1))
        return found

    def within(self, offer: Mapping[str, Any], depth: int) -> list[str]:
        """An offer's own word; an aggregate without one is its parts."""
        if "availability" in offer:
            return [availability_word(offer["availability"])]
        return self.offers(offer, depth) or [""]

    def nested(self, node: Mapping[str, Any], depth: int = 0) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Every node below `node` with the property that leads to it."""
        if depth > _DEEPEST:
            return
        for key, value in node.items():
            if isinstance(value, dict | list):
                for child in self.follow(value):
                    yield type_word(key), child
                    yield from self.nested(child, depth + 1)


def _from_jsonld(nodes: list[dict[str, Any]], most: int) -> list[Thing]:
    graph = _Graph(nodes, most)
    top: list[tuple[Mapping[str, Any], frozenset[str], list[str]]] = []
    things: list[Thing] = []
    owned = {id(child) for node in nodes for _, child in _Graph(nodes, most).nested(node)}
    for node in nodes:
        types, offers = _node_types(node), graph.offers(node)
        if "offer" in types and not offers:
            offers = graph.within(node, 0)
        if id(node) in owned:
            things.append(Thing(types, tuple(offers), False))
        else:
            top.append((node, types, offers))
        for word, child in graph.nested(node):
            if len(things) >= most:
                break
            kinds = _node_types(child)
            below = tuple(graph.within(child, 0)) if "offer" in kinds else tuple(graph.offers(child))
            if kinds or below:
                main = word in _MAIN and not kinds & {"webpage"} and bool(below)
                things.append(Thing(kinds, below, main))
    offering = [entry for entry in top if entry[2]]
    one = _same(entry[0] for entry in offering)
    things.extend(Thing(types, tuple(offers), one and bool(offers)) for _, types, offers in top)
    return things


def _same(nodes: Iterator[Mapping[str, Any]]) -> bool:
    """Whether top-level nodes that offer something are one thing told once or twice, not a listing."""
    names = [(str(node.get("sku") or ""), str(node.get("name") or "")) for node in nodes]
    return len(names) <= 1 or all(name == names[0] and any(name) for name in names)


# Markup: microdata (itemprop) and RDFa (property), the same shape under other names


class _Words(NamedTuple):
    scope: etree.XPath
    type: str
    prop: str


_MARKUPS = (
    _Words(etree.XPath("//*[@itemprop='availability']", smart_strings=False), "itemtype", "itemprop"),
    _Words(
        etree.XPath("//*[@property='availability' or @property='schema:availability']", smart_strings=False),
        "typeof", "property",
    ),
)  # fmt: skip


def _from_markup(root: etree._Element, words: _Words, most: int) -> list[Thing]:
    """Things by climbing from each availability to the outermost scope that it belongs to."""
    offers: dict[etree._Element, list[str]] = {}
    away: set[etree._Element] = set()
    types: dict[etree._Element, set[str]] = {}
    for element in elements(words.scope, root)[:most]:
        value = next(
            (element.get(name) for name in ("href", "content", "resource") if element.get(name)), None
        )
        word = availability_word(value or own_text(element)[:80])
        owner, led_away, named = _climb(element, words)
        offers.setdefault(owner, []).append(word)
        types.setdefault(owner, set()).update(named)
        if led_away:
            away.add(owner)
    single = len(offers) - len(away) == 1
    return [
        Thing(_types(sorted(types[owner])), tuple(said), single and owner not in away)
        for owner, said in offers.items()
    ]


def _climb(element: etree._Element, words: _Words) -> tuple[etree._Element, bool, list[str]]:
    """The thing that an availability speaks of: the outermost scope above, or the one below a property that leads
    away (a related product); whether it does lead away; the types on the way.
    """
    owner, named, node = element, list[str](), element.getparent()
    steps = 0
    while node is not None and steps < 256:
        steps += 1
        kind = node.get(words.type)
        if kind is not None:
            said = kind.split()
            if not {type_word(name) for name in said} & {"webpage", "itempage", "itemlist", "collectionpage"}:
                owner = node
                named.extend(said)
        via = node.get(words.prop)
        if via is not None and kind is not None and {type_word(name) for name in via.split()} & _ELSEWHERE:
            return owner, True, named
        node = node.getparent()
    return owner, False, named


def _from_metas(root: etree._Element) -> list[Thing]:
    found = [
        availability_word(meta.get("content"))
        for meta in root.iter("meta")
        if (meta.get("property") or meta.get("name") or "").strip().lower() in _METAS
    ]
    return [Thing(frozenset({"product"}), tuple(found[:8]), True)] if found else []


def things_of(root: etree._Element, nodes: list[dict[str, Any]], most: int) -> tuple[Thing, ...]:
    """Every thing that the page describes, JSON-LD first; at most about `most` of each sort."""
    things = _from_jsonld(nodes, most)
    for words in _MARKUPS:
        things.extend(_from_markup(root, words, most))
    things.extend(_from_metas(root))
    return tuple(things)
