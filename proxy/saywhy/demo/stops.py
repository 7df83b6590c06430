"""What the tour visits: one row a failure, with the question it answers and what must come out."""

from __future__ import annotations

from typing import Literal, NamedTuple


class Stop(NamedTuple):
    """One stop of the tour.

    `body` is a form, or JSON where it begins with a brace; `accept` is what the agent asks for. `action`, `status` and
    `code` are what the proxy makes of it: the tour's own test compares them.
    """

    title: str
    method: str
    path: str
    moral: str
    action: Literal["rewrite", "annotate", "redact", "pass"]
    status: int
    code: str
    body: str = ""
    accept: str = "application/json"

    @property
    def body_type(self) -> str:
        """The media type of the body."""
        return "application/json" if self.body.startswith("{") else "application/x-www-form-urlencoded"

    def curl(self, base: str) -> str:
        """The agent's request as a line to paste."""
        words = ["curl", "-i", "-H", f"'Accept: {self.accept}'"]
        if self.body and self.body_type == "application/json":
            words += ["-H", f"'Content-Type: {self.body_type}'"]
        if self.body:
            words += ["-d", f"'{self.body}'"]
        return " ".join([*words, f"'{base}{self.path}'"])


WAREHOUSE = "/warehouse"
"""Paths below this one belong to a second site, which nobody started."""

STOPS = (
    Stop("A CAPTCHA wall", "GET", "/prices",
         "No amount of retrying helps: a person has to take this step.",
         "rewrite", 403, "needs_human"),
    Stop("Sold out, answered with 200", "POST", "/cart",
         "The status said success. The agent learns that nothing was bought.",
         "rewrite", 409, "out_of_stock", body="sku=lamp"),
    Stop("A page about something sold out", "GET", "/products/lamp",
         "Content stays content: the page arrives as it is, one header field says the rest.",
         "annotate", 200, "out_of_stock"),
    Stop("A form with a mistake in it", "POST", "/checkout",
         "The name of the field, not a picture of a red line.",
         "rewrite", 422, "invalid_input", body="email=ines@&quantity=1"),
    Stop("The site's own API, as it is", "POST", "/api/orders",
         "The shop's own apps read this JSON, so it stays; one header field is added.",
         "redact", 422, "invalid_input", body='{"quantity": 0}'),
    Stop("The same, for one who asks for problem details", "POST", "/api/orders",
         "A caller who asks for RFC 9457 gets it, with the original inside.",
         "rewrite", 422, "invalid_input", body='{"quantity": 0}', accept="application/problem+json"),
    Stop("Too many requests", "GET", "/search?q=rake",
         "How long to wait, in seconds, in the body and in Retry-After.",
         "rewrite", 429, "rate_limited"),
    Stop("Maintenance", "GET", "/sale",
         "Closed, not broken: come back later. Here as Markdown.",
         "rewrite", 503, "temporarily_unavailable", accept="text/markdown"),
    Stop("A stack trace with secrets in it", "GET", "/orders/7",
         "The trace, the password and the key stay inside.",
         "rewrite", 500, "internal"),
    Stop("A redirect to the sign-in page", "GET", "/account",
         "An agent that followed it would take a login form for the account.",
         "rewrite", 401, "auth_required"),
    Stop("A sign-in page with 401", "GET", "/account/orders",
         "WWW-Authenticate stays, so that a caller who can sign in still does.",
         "rewrite", 401, "auth_required"),
    Stop("An empty 502", "GET", "/stock",
         "Not one byte from the site, and still an answer.",
         "rewrite", 502, "temporarily_unavailable"),
    Stop("A page that is not there", "GET", "/products/rake",
         "Stop looking.",
         "rewrite", 404, "not_found"),
    Stop("A site that is down", "POST", f"{WAREHOUSE}/pick",
         "The proxy's own failure: the request was never sent, so even a POST is safe to repeat.",
         "rewrite", 502, "temporarily_unavailable", body="sku=lamp"),
    Stop("A healthy page", "GET", "/products/kettle",
         "It speaks of captcha and sold out, and nothing happens to it.",
         "pass", 200, ""),
)  # fmt: skip
