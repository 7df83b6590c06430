"""What becomes of a page's own words: look-alikes are sentences that stay."""

import pytest

from saywhy.core.compose import Found, compose
from saywhy.core.compose.message import from_title, says_something
from saywhy.core.model import Fields, Head, Request, Response
from saywhy.core.page import read
from saywhy.core.scrub import Scrubber

SCRUBBER = Scrubber()
OURS = {
    400: "shop.example did not accept the request as it was sent.",
    401: "shop.example answers this request only to somebody who has signed in.",
    403: "shop.example does not allow this request.",
    404: "shop.example has no page at this address.",
    405: "shop.example does not take this method at this address.",
    410: "What was at this address at shop.example is gone for good.",
    429: "shop.example has had too many requests and asks to wait.",
    503: "shop.example is out of service at the moment.",
}


def message(status: int, html: str) -> str:
    fields = Fields.of({"content-type": "text/html; charset=utf-8"})
    head = Head(Request("GET", b"/a", Fields.of({"host": "shop.example"})), Response(status, fields))
    return compose(
        Found(head, (), read(fields, html.encode())), scrubber=SCRUBBER, now=0
    ).envelope.error.message


@pytest.mark.parametrize(
    ("title", "kept"),
    [
        ("Not here | Alder & Finch", None),
        ("Alder & Finch", None),
        ("Sold | Alder + Finch + Sons", None),
        ("Gone - The Alder Shop", None),
        ("Objekt nicht gefunden!", None),
        ("Objet non trouvé!", None),
        ("객체 없음!", None),
        ("找不到对象！", None),
        ("Nesne mevcut değil!", None),
        ("Объект не найден!", None),
        ("Your basket has expired | Alder & Finch", "Your basket has expired"),
        ("Alder & Finch | The workshop closes until June", "The workshop closes until June"),
        ("Salt & pepper mills are discontinued", "Salt & pepper mills are discontinued"),
    ],
)
def test_title(title: str, kept: str | None) -> None:
    assert from_title(title, "shop.example") == kept


STOCK = [
    (404, "<h1>Not Found</h1><p>The requested URL was not found on this server.</p>"),
    (404, "<p>The requested URL was not found on the server. If you entered the URL manually please check your spelling and try again.</p>"),
    (400, "<p>The browser (or proxy) sent a request that this server could not understand.</p>"),
    (401, "<p>The server could not verify that you are authorized to access the URL requested. You either supplied the wrong credentials (e.g. a bad password), or your browser doesn't understand how to supply the credentials required.</p>"),
    (403, "<p>You don't have the permission to access the requested resource. It is either read-protected or not readable by the server.</p>"),
    (403, "<p>You don't have permission to access /a on this server.</p><p>Additionally, a 403 error was met on the way.</p>"),
    (405, "<p>The method is not allowed for the requested URL.</p>"),
    (405, "<p>The requested method DELETE is not allowed for this URL.</p>"),
    (410, "<p>The requested URL is no longer available on this server and there is no forwarding address.</p>"),
    (503, "<p>The server is temporarily unable to service your request due to maintenance downtime or capacity problems. Please try again later.</p>"),
    (404, "<p><b>Type</b> Status Report</p><p><b>Message</b> The requested resource [/a] is not available</p><p><b>Description</b> The origin server did not find a current representation for the target resource or is not willing to disclose that one exists.</p>"),
    (404, "<p><b>Tipo</b> Informe de estado</p><p><b>mensaje</b> x</p><p><b>Descripción</b> El recurso requerido no está disponible.</p>"),
    (404, "<h1>Objet non trouvé!</h1><p>L'URL demandée n'a pas pu être trouvée sur ce serveur. Si vous avez tapé l'URL à la main, veuillez vérifier.</p>"),
    (404, "<h1>객체 없음!</h1><p>요청한 URL을 이 서버에서 찾을 수 없습니다.</p>"),
    (404, "<p>The page you were looking for doesn't exist.</p><p>You may have mistyped the address or the page may have moved.</p>"),
    (404, "<p>The resource you are looking for has been removed, had its name changed, or is temporarily unavailable.</p>"),
]  # fmt: skip


@pytest.mark.parametrize(("status", "html"), STOCK)
def test_a_ready_made_sentence_gives_way_to_ours(status: int, html: str) -> None:
    assert message(status, f"<title>{status}</title>{html}") == OURS[status]


KEPT = [
    (
        "<p>The oak table was not found in this warehouse.</p>",
        "The oak table was not found in this warehouse.",
    ),
    ("<p>Request forbidden by a rule of the owner.</p>", "Request forbidden by a rule of the owner."),
    ("<p>A conflict with your other order was found.</p>", "A conflict with your other order was found."),
    (
        "<p>Every size (e.g. Small. or Large.) has left us.</p>",
        "Every size (e.g. Small. or Large.) has left us.",
    ),
    ("<p>We moved the catalogue<br>to another address.</p>", "We moved the catalogue to another address."),
    ("Not Found<br><br>Our spring list was taken down.", "Our spring list was taken down."),
]


@pytest.mark.parametrize(("html", "kept"), KEPT)
def test_a_sentence_of_the_sites_own_stays(html: str, kept: str) -> None:
    assert message(404, f"<title>404</title>{html}") == kept


@pytest.mark.parametrize(
    "menu",
    [
        "<ul><li>Home<li>Shop<li>Cart</ul>",
        "<nav><a href=/>Home</a> <a href=/s>Shop</a></nav>",
        "<table><tr><td>Home</td><td>Shop</td></tr></table>",
        "<h1>Oops</h1><div>Menu</div>",
    ],
)
def test_no_menu_is_read_into_the_sentence(menu: str) -> None:
    html = f"<title>404</title>{menu}<p>Our spring list was taken down.</p><footer>Imprint Terms</footer>"
    assert message(404, html) == "Our spring list was taken down."


@pytest.mark.parametrize(
    "text",
    [
        "Our systems have seen unusual activity. Please try again later.",
        "The file was not found on this server. Its owner removed it on 3 May.",
        "You need the role editor to get permission to access /projects; ask Kim.",
    ],
)
def test_a_message_with_more_than_the_stock_sentence_says_something(text: str) -> None:
    assert says_something(text)
