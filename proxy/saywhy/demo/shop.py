"""The shop: an aiohttp site that fails in every way a shop can. It knows nothing of the proxy."""

from __future__ import annotations

import asyncio

from aiohttp import web

from saywhy.demo import pages

routes = web.RouteTableDef()


def _html(text: str, status: int = 200, **fields: str) -> web.Response:
    headers = {name.replace("_", "-"): value for name, value in fields.items()}
    return web.Response(text=text, status=status, content_type="text/html", charset="utf-8", headers=headers)


@routes.get("/")
async def home(request: web.Request) -> web.Response:
    """Nothing wrong here."""
    return _html(pages.HOME, ETag='"home-1"', Cache_Control="public, max-age=60")


@routes.get("/products/kettle")
async def kettle(request: web.Request) -> web.Response:
    """In stock, though the page speaks of sold out and captcha."""
    return _html(pages.IN_STOCK)


@routes.get("/products/lamp")
async def lamp(request: web.Request) -> web.Response:
    """A product page of something that is sold out: content, not a failure."""
    return _html(pages.SOLD_OUT)


@routes.post("/cart")
async def cart(request: web.Request) -> web.Response:
    """The failure with a friendly 200."""
    return _html(pages.CART_SOLD_OUT, Set_Cookie="basket=b-17; Path=/; HttpOnly")


@routes.get("/prices")
async def prices(request: web.Request) -> web.Response:
    """A wall that only a person gets past."""
    return _html(pages.CHALLENGE, 403, cf_mitigated="challenge", Server="cloudflare")


@routes.post("/checkout")
async def checkout(request: web.Request) -> web.Response:
    """The form again, with a red line under one field."""
    return _html(pages.FORM_ERRORS, 422)


@routes.post("/api/orders")
async def order(request: web.Request) -> web.Response:
    """The shop's own API has errors of its own shape."""
    return web.json_response(pages.API_ERRORS, status=422)


@routes.get("/search")
async def search(request: web.Request) -> web.Response:
    """Too many requests."""
    return _html(pages.TOO_MANY, 429, Retry_After="30")


@routes.get("/sale")
async def sale(request: web.Request) -> web.Response:
    """Closed for maintenance."""
    return _html(pages.MAINTENANCE, 503, Retry_After="120")


@routes.get("/orders/7")
async def crash(request: web.Request) -> web.Response:
    """A debug page in production, with all that it tells."""
    return _html(pages.CRASH, 500, X_Powered_By="Shopsoft 4.2")


@routes.get("/account")
async def account(request: web.Request) -> web.Response:
    """A redirect to the sign-in page."""
    return web.Response(status=302, headers={"Location": "/login?next=/account"})


@routes.get("/login")
async def sign_in(request: web.Request) -> web.Response:
    """The sign-in page itself, with 200: fine for people."""
    return _html(pages.SIGN_IN)


@routes.get("/account/orders")
async def orders(request: web.Request) -> web.Response:
    """A sign-in page with the status it deserves."""
    return _html(pages.SIGN_IN, 401, WWW_Authenticate='Bearer realm="shop"')


@routes.get("/stock")
async def stock(request: web.Request) -> web.Response:
    """A gateway that says nothing at all."""
    return web.Response(status=502)


@routes.get("/events")
async def events(request: web.Request) -> web.StreamResponse:
    """Three server-sent events, one every 0.2 s."""
    stream = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"})
    await stream.prepare(request)
    for number in range(1, 4):
        await stream.write(f"event: stock\ndata: {number} kettles left\n\n".encode())
        await asyncio.sleep(0.2)
    return stream


async def missing(request: web.Request) -> web.Response:
    """Everything else."""
    return _html(pages.MISSING, 404)


def build() -> web.Application:
    """The shop as an application."""
    app = web.Application()
    app.add_routes(routes)
    app.router.add_route("*", "/{anything:.*}", missing)
    return app
