"""Pages that come again are read once, and nobody can tell but by the clock."""

import random
import sys
import threading

import pytest

from saywhy.core.model import Fields, Head, Request, Response
from saywhy.core.normalize import Normalizer
from saywhy.core.page import Familiar, Page, PageLimits, read
from saywhy.edge.packs import load_rulebook, shipped_rules

FILLING = "".join(
    f'<li class="item"><a href="/c/{number}">Basket {number}</a></li>\n' for number in range(40)
)
PAGE = (
    "<!DOCTYPE html><html><head><title>Gone fishing</title><script src='/a.js'>let x = 1</script></head><body><nav>"
    f"{FILLING}</nav><h1>Gone fishing</h1><p hidden>secret</p><p>The caf\xe9 is closed.</p></body></html>"
)
HTML = Fields([(b"Content-Type", b"text/html; charset=utf-8")])
LATIN = Fields([(b"Content-Type", b"text/html; charset=iso-8859-1")])
JSON_LD = (
    '<script type="application/ld+json">{"@type": "Product", "offers": {"availability": "SoldOut"}}</script>'
)


def said(page: Page) -> tuple[object, ...]:
    return (
        page.kind, page.media, page.source, page.size, page.truncated, page.title, page.text, list(page.lines),
        page.scripts, page.jsonld, page.things, page.fault, page.dom is None, page.json,
    )  # fmt: skip


BODIES = {
    "a page": PAGE.encode(),
    "a page cut in a letter": PAGE.encode()[: PAGE.encode().index(b"\xc3") + 1],
    "structured data": PAGE.replace("</body>", JSON_LD + "</body>").encode(),
    "too deep": ("<div>" * 400 + PAGE).encode(),
    "plain text": (b"Nothing to see here. " * 40),
    "an escape": b"<p>&#7;bell</p>" * 40,
    "JSON": b'{"error": "' + b"x" * 600 + b'"}',
    "no page": b"\x89PNG\0" * 100,
    "small": b"<p>gone</p>",
}


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("name", BODIES)
def test_what_it_says_is_the_same_every_time(name: str, complete: bool) -> None:
    body, familiar = BODIES[name], Familiar()
    for _ in range(5):
        page = familiar.read(HTML, bytes(bytearray(body)), complete=complete)
        assert said(page) == said(read(HTML, body, complete=complete))


def test_the_third_time_nothing_is_parsed(planted: list[str]) -> None:
    familiar = Familiar()
    texts = [familiar.read(HTML, bytes(bytearray(PAGE.encode())), complete=True).text for _ in range(6)]
    assert len(set(texts)) == 1
    assert len(planted) == 2


def test_of_a_long_page_what_is_read_decides(planted: list[str]) -> None:
    familiar = Familiar()
    for end in range(4):
        body = PAGE.encode().ljust(65_536) + b"x" * (end + 1)
        assert said(familiar.read(HTML, body, complete=True)) == said(read(HTML, body))
    assert len(planted) == 4 + 2
    whole = PAGE.encode().ljust(65_536)
    assert not familiar.read(HTML, whole, complete=True).truncated
    assert familiar.read(HTML, whole + b"x", complete=True).truncated


def test_what_comes_once_is_not_kept() -> None:
    familiar = Familiar()
    for number in range(300):
        assert str(number) in familiar.read(HTML, f"<p>{number}</p>{PAGE}".encode(), complete=True).text
    assert familiar.kept_bytes == 0


def test_how_a_page_is_labelled_matters() -> None:
    familiar = Familiar()
    for _ in range(3):
        assert "caf\xe9" in familiar.read(HTML, PAGE.encode(), complete=True).text
        assert "caf\xc3\xa9" in familiar.read(LATIN, PAGE.encode(), complete=True).text
        assert familiar.read(HTML, PAGE.encode(), complete=False).truncated
        assert not familiar.read(HTML, PAGE.encode(), complete=True).truncated


def test_it_is_bounded_and_forgets_the_oldest(planted: list[str]) -> None:
    most = 200_000
    familiar = Familiar(most=most)
    bodies = [f"<p>{number}</p>{PAGE}".encode() for number in range(100)]
    for body in bodies:
        for _ in range(2):
            familiar.read(HTML, body, complete=True)
        assert familiar.kept_bytes <= most
    assert familiar.kept_bytes > most / 2
    planted.clear()
    assert familiar.read(HTML, bodies[-1], complete=True).title
    assert not planted
    assert familiar.read(HTML, bodies[0], complete=True).title
    assert planted


def test_a_page_that_would_fill_it_is_not_kept() -> None:
    familiar = Familiar(most=1000)
    for _ in range(4):
        assert familiar.read(HTML, PAGE.encode(), complete=True).text
    assert familiar.kept_bytes == 0


def test_trees_are_nobody_elses() -> None:
    familiar = Familiar()
    pages = [familiar.read(HTML, PAGE.encode(), complete=True) for _ in range(4)]
    assert len({id(page.dom) for page in pages}) == 4


def test_limits_hold_as_ever() -> None:
    familiar = Familiar(PageLimits(decoded_bytes=300))
    for _ in range(4):
        page = familiar.read(HTML, PAGE.encode(), complete=True)
        assert page.truncated
        assert page.size == 300


def test_every_decision_is_made_anew() -> None:
    """Same page, other requests, heads and clocks: what a normalizer that never saw it before would say."""
    rulebook = load_rulebook([shipped_rules()])
    old = Normalizer(rulebook)
    body = PAGE.encode()
    for number, (status, accept, host, method) in enumerate(
        (status, accept, host, method)
        for status in (403, 404, 429, 503)
        for accept in (b"application/json", b"text/markdown", b"application/problem+json")
        for host in (b"a.example", b"b.example")
        for method in ("GET", "POST")
    ):
        fields = [(b"Content-Type", b"text/html"), (b"X-Number", b"%d" % number)]
        if number % 3:
            fields.append((b"Retry-After", b"%d" % number))
        asked = Fields([(b"Host", host), (b"Accept", accept)])
        head = Head(Request(method, b"/x%d" % number, asked), Response(status, Fields(fields)))
        verdicts = [
            one.normalize(head, one.triage(head), body, complete=True, now=1000.0 + number)
            for one in (old, Normalizer(rulebook))
        ]
        assert verdicts[0] == verdicts[1]


def test_threads_that_share_one_lose_no_count() -> None:
    familiar = Familiar(most=60_000)
    bodies = [f"<p>{number}</p>{PAGE}".encode() for number in range(40)]
    order = random.Random(1).choices(bodies, k=600)

    def read_all() -> None:
        for body in order:
            familiar.read(HTML, body, complete=True)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=read_all) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    kept = familiar._pages
    assert familiar.kept_bytes == sum(page.weigh() + len(key[3]) for key, page in kept.items()) > 0
