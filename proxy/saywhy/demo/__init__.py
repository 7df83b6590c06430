"""The demo: a shop that fails in every way, the real proxy before it, and a tour of before and after.

`pages` are the shop's pages, `shop` serves them (aiohttp), `stops` is the table of what the tour visits, `stage` puts
shop and proxy on loopback ports, `tour` makes real requests through the proxy and prints what came back. Nothing here
is imported by the proxy; a shop's page may be as wrong as pages are.
"""
