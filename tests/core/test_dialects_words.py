"""What words and phrases mean, and the ones that only look so."""

import pytest

from saywhy.core.dialects import words

PHRASES = [
    (409, "Not enough stock for Mug", "out_of_stock"), (400, "Nur noch 0 Stück, ausverkauft", "out_of_stock"), (422, "库存不足", "out_of_stock"),
    (402, "Your card was declined.", "payment_declined"), (400, "Insufficient funds", "payment_declined"),
    (403, "API rate limit exceeded for this address.", "rate_limited"), (400, "Too many attempts, slow down", "rate_limited"),
    (400, "missing or malformed jwt", "auth_required"), (403, "Your session has expired", "auth_required"), (400, "API key not valid.", "auth_required"),
    (403, "Missing scope orders:read", "scope_missing"), (403, "We have detected unusual activity.", "needs_human"), (403, "Solve the CAPTCHA first", "needs_human"),
    (422, "An order with this number already exists", "conflict"), (400, "Cannot cancel an order with status 'shipped'", "conflict"),
    (404, "The blue mug is sold out", "out_of_stock"), (410, "Out of stock", "out_of_stock"), (403, "Maximum number of login attempts exceeded", "rate_limited"),
    # Look-alikes.
    (404, 'No album named "Sold Out"', None), (410, "The list Out of stock has been removed", None), (403, "Only members may rate", None),
    (400, "Stock symbol is unknown", None), (400, "The soldier was not found", None), (400, "decline_reason must be text", None),
    (429, "Too many requests", None), (404, "Rate limits page not found", None), (401, "Token has expired", None),
    (400, "expires must be a date", None), (400, "max_tokens is too large", None), (400, "scope must be one of a, b", None),
    (403, "You do not have permission to do this.", None), (400, "The robot name is too long", None), (400, "status must be open or closed", None),
    (400, "This field is required.", None), (400, "Human resources form is incomplete", None), (409, "Someone else edited this page", None),
]  # fmt: skip


@pytest.mark.parametrize(("status", "message", "code"), PHRASES)
def test_phrases(status: int, message: str, code: str | None) -> None:
    assert words.code_in(message, status) == code


TOKENS = [
    (400, "RateLimitExceeded", "rate_limited"), (403, "rate-limit.exceeded", "rate_limited"), (400, "https://api.example/errors/out-of-stock", "out_of_stock"),
    (402, "card-declined", "payment_declined"), (400, "not_found", "not_found"), (400, "Required", "missing_field"), (403, "missing_scope", "scope_missing"),
    (404, "bad_request", None), (401, "forbidden", None), (400, "teapot", None), (400, "", None), (400, None, None), (400, 7, None), (400, "x" * 200, None),
]  # fmt: skip


@pytest.mark.parametrize(("status", "token", "code"), TOKENS)
def test_tokens(status: int, token: object, code: str | None) -> None:
    assert words.code_of(token, status) == code


FIELDS = [
    ("Missing query parameter 'size'", "size"), ("body must have required property 'qty'", "qty"), ('"qty" is required', "qty"),
    ("Missing parameter(s): email", "email"), ('The "page" parameter is invalid.', "page"), ("Field 'age' must be a number", "age"),
    ("Key: 'Cart.Qty' Error:Field validation for 'Qty' failed on the 'required' tag", "Qty"), ("Element '{urn:x}count': no", "count"),
    ("Missing query parameter 'a'", "a"), ("'x' is not of type 'integer' - 'qty'", "qty"), ("body/lines/qty must be integer", "lines.qty"),
    ("Required input 'name' not provided", "name"), ("tools.0.name: Field required", "tools.0.name"),
    ("This field is required.", None), ("The request is invalid.", None), ("'XXL' is not one of ['S']", None), ("Something went wrong", None),
    ("You must be logged in.", None), ("Not found", None),
]  # fmt: skip


@pytest.mark.parametrize(("message", "field"), FIELDS)
def test_fields(message: str, field: str | None) -> None:
    assert words.field_in(message) == field


@pytest.mark.parametrize(
    "message",
    [
        "Field required",
        "can't be blank",
        "This field may not be blank.",
        "qty should not be empty",
        "Ce champ est obligatoire.",
        "必須です",
        "Tento údaj: Toto pole je povinné.",
        "שדה זה חובה",
        "Αυτό το πεδίο είναι απαραίτητο.",
        "Pole nesmí být prázdné.",
        "ne smije biti prazno",
        "boş olamaz",
        "nem lehet üres",
        "on nõutav",
        "'qty' is a required property",
        "The email field is required.",
    ],
)
def test_missing(message: str) -> None:
    assert words.says_missing(message)


@pytest.mark.parametrize(
    "message",
    [
        "must be a number",
        "is too long",
        "Enter a valid email address.",
        "is invalid",
        "The page is missing its style",
        "A valid number is required.",
        "Eine gültige Zahl ist erforderlich.",
        "Un nombre valide est requis.",
        "有効な数値を入力してください。",
        "必須大於3",
    ],
)
def test_not_missing(message: str) -> None:
    assert not words.says_missing(message) or "missing" in message


def test_scopes() -> None:
    assert words.scopes_in("Permission denied. Required Scope: billing:*:read") == ("billing:*:read",)
    assert words.scopes_in("The scope is wrong") == ()
