"""The shop's pages, as a small shop's software would write them: meant for people, and of no help to a program.

Every secret in here is made up and planted, so that the tour can show that it does not get out.
"""

from __future__ import annotations

import json
from html import escape

SHOP = "Alder & Finch"

_STYLE = """
  body{font:16px/1.5 Georgia,serif;margin:0;color:#2b2a27;background:#f7f4ec}
  header,main,footer{max-width:44rem;margin:auto;padding:1rem}
  header a{color:#2f5d50;margin-right:1rem;text-decoration:none}
  .card{background:#fff;border:1px solid #e2dccb;border-radius:6px;padding:1rem;margin:1rem 0}
  .out-of-stock,.field-error{color:#a3322b}
  button{background:#2f5d50;color:#fff;border:0;border-radius:4px;padding:.6rem 1.2rem}
  button[disabled]{background:#b9b4a6}
"""

PLANTED = (
    "correct-horse-battery-9c1",
    "afk_7Qm2Zr8Xw4Lp0Vt6Ns3Yd1Bc5Hg9Kj",
    "/srv/alderfinch/shop/orders.py",
)
"""What must not get out: a password in a connection string, an API key, a path of the server's disk."""


def page(title: str, main: str, *, head: str = "") -> str:
    """A page of the shop around the HTML `main`; `title` is plain text."""
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{escape(title)} | {escape(SHOP)}</title>
<meta name="viewport" content="width=device-width"><style>{_STYLE}</style>{head}</head>
<body><header><strong>{escape(SHOP)}</strong> &nbsp; <a href="/">Home</a><a href="/products/kettle">Kettle</a>
<a href="/products/lamp">Lamp</a><a href="/account">Account</a></header>
<main>{main}</main>
<footer><small>&copy; {escape(SHOP)}, garden and hearth. <a href="/terms">Terms</a></small></footer></body></html>
"""


def _offer(name: str, sku: str, availability: str) -> str:
    data = {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": name,
        "sku": sku,
        "offers": {
            "@type": "Offer",
            "price": "48.00",
            "priceCurrency": "EUR",
            "availability": f"https://schema.org/{availability}",
        },
    }
    return f'<script type="application/ld+json">{json.dumps(data)}</script>'


HOME = page(
    "Home",
    '<h1>For the garden and the hearth</h1><div class="card">Kettles, lamps, and the odd rake.</div>',
)

IN_STOCK = page(
    "Copper kettle",
    """<div class="product"><h1>Copper kettle</h1><p class="price">48.00 EUR</p><p class="stock in-stock">12 in stock</p>
<form class="cart" method="post" action="/cart"><input type="hidden" name="sku" value="kettle">
<button name="add" type="submit">Add to basket</button></form>
<div class="card"><b>Review by Ines:</b> the first time I came it was sold out, and then a captcha. Worth the wait!</div></div>
<script src="https://www.google.com/recaptcha/api.js" async></script>""",
    head=_offer("Copper kettle", "kettle", "InStock"),
)
"""A healthy page that speaks of sold out and captcha: what a careless rule would fall for."""

SOLD_OUT = page(
    "Storm lamp",
    """<div class="product"><h1>Storm lamp</h1><p class="price">48.00 EUR</p><p class="stock out-of-stock">Out of stock</p>
<form class="cart" method="post" action="/cart"><input type="hidden" name="sku" value="lamp">
<button name="add" type="submit" disabled>Sold out</button></form>
<p>We expect the next delivery in spring.</p></div>""",
    head=_offer("Storm lamp", "lamp", "OutOfStock"),
)

CART_SOLD_OUT = page(
    "Basket",
    """<h1>Your basket</h1><div class="product"><div class="woocommerce-error" role="alert">You cannot add
&quot;Storm lamp&quot; to the basket because the product is out of stock.</div>
<p class="stock out-of-stock">Out of stock</p></div>""",
    head=_offer("Storm lamp", "lamp", "OutOfStock"),
)

CHALLENGE = """<!DOCTYPE html><html lang="en-US"><head><title>Just a moment...</title>
<meta http-equiv="refresh" content="360"><meta name="robots" content="noindex,nofollow"></head>
<body><div class="main-wrapper" role="main"><h1>shop.example</h1><h2 id="challenge-title">Checking if you are human</h2>
<noscript><div id="challenge-error-text">Enable JavaScript and cookies to continue</div></noscript></div>
<form id="challenge-form" action="/prices?t=1" method="POST"></form>
<script src="/cdn-cgi/challenge-platform/h/g/orchestrate/chl_page/v1"></script></body></html>
"""

FORM_ERRORS = page(
    "Checkout",
    """<h1>Checkout</h1><form method="post" action="/checkout">
<p><label for="email">E-mail</label> <input id="email" name="email" value="ines@" aria-invalid="true" aria-describedby="email-error"></p>
<p id="email-error" class="field-error errorlist">Enter a valid e-mail address.</p>
<p><label for="quantity">Quantity</label> <input id="quantity" name="quantity" value="1"></p>
<button type="submit">Order</button></form>""",
)

API_ERRORS = {
    "detail": [
        {
            "type": "greater_than_equal",
            "loc": ["body", "quantity"],
            "msg": "Input should be greater than or equal to 1",
            "input": 0,
            "ctx": {"ge": 1},
        }
    ]
}

TOO_MANY = page(
    "Too many searches from your address",
    "<h1>Slow down, please</h1><p>Too many searches from your address. Try again in a moment.</p>",
)

MAINTENANCE = page(
    "We are restocking the shelves",
    "<h1>We are restocking the shelves</h1><p>The shop is closed for maintenance and opens again in two minutes.</p>",
)

CRASH = f"""<html><head><title>OperationalError at /orders/7</title></head><body>
<h1>OperationalError at /orders/7</h1>
<pre class="exception_value">connection to server at "db.alderfinch.internal" (10.20.0.7) failed: too many clients</pre>
<h2>Traceback</h2><pre>
Traceback (most recent call last):
  File "{PLANTED[2]}", line 88, in show
    order = await pool.fetchrow(QUERY, number)
  File "/usr/lib/python3/dist-packages/asyncpg/pool.py", line 542, in fetchrow
    async with self.acquire() as connection:
sqlalchemy.exc.OperationalError: (psycopg.OperationalError) too many clients already
</pre><h2>Settings</h2><table>
<tr><td>DATABASE_URL</td><td>postgres://shop:{PLANTED[0]}@db.alderfinch.internal/shop</td></tr>
<tr><td>WAREHOUSE_API_KEY</td><td>{PLANTED[1]}</td></tr></table></body></html>
"""

SIGN_IN = page(
    "Sign in",
    """<h1>Sign in</h1><form method="post" action="/login"><p><input name="username" autocomplete="username"></p>
<p><input name="password" type="password" autocomplete="current-password"></p><button>Sign in</button></form>""",
)

MISSING = page(
    "This page has flown",
    "<h1>This page has flown</h1><p>Try the <a href='/'>front page</a>, or a different spelling.</p>",
)
