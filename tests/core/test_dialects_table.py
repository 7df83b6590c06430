"""Every dialect: what it says of a body, and the bodies that look like it and are not."""

import base64
import json
from typing import Any

import pytest

from saywhy.core import dialects, page
from saywhy.core.model import Evidence, Fields, Head, Request, Response

JSON = "application/json"


def ask(
    status: int, body: Any, media: str = JSON, fields: dict[str, str] | None = None, method: str = "GET"
) -> Evidence | None:
    """The evidence of a response with `body` (text, or a value that becomes JSON)."""
    section = Fields.of({"Content-Type": media, **(fields or {})})
    raw = body if isinstance(body, str) else json.dumps(body)
    return dialects.read(Head(Request(method), Response(status, section)), page.read(section, raw.encode()))


SOAP11 = '<?xml version="1.0" encoding="utf-8"?><s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><s:Fault><faultcode>s:{0}</faultcode><faultstring>{1}</faultstring></s:Fault></s:Body></s:Envelope>'
SOAP12 = '<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Body><e:Fault><e:Code><e:Value>e:Sender</e:Value><e:Subcode><e:Value>m:OutOfStock</e:Value></e:Subcode></e:Code><e:Reason><e:Text xml:lang="en">None left</e:Text></e:Reason></e:Fault></e:Body></e:Envelope>'

ROWS: dict[str, tuple[int, Any, str, tuple[str, str | None, str | None, str | None]]] = {
    # id: status, body, media, (dialect, code, field, message)
    "contract nested": (
        500,
        {"error": {"code": "out_of_stock", "retry": "no", "message": "Gone", "field": "sku"}},
        JSON,
        ("contract", "out_of_stock", "sku", "Gone"),
    ),
    "contract flat": (
        400,
        {"code": "missing_field", "retry": "fix_input", "message": "Say it", "field": "a"},
        JSON,
        ("contract", "missing_field", "a", "Say it"),
    ),
    "contract version alone": (
        422,
        {"error": {"contract_version": 1, "kind": "missing_param", "message": "Say it"}},
        JSON,
        ("contract", "missing_field", None, "Say it"),
    ),
    "contract, own code": (
        409,
        {"error": {"contract_version": 1, "code": "seat_taken", "message": "Taken"}},
        JSON,
        ("contract", "seat_taken", None, "Taken"),
    ),
    "problem": (
        409,
        {"type": "about:blank", "title": "Conflict", "detail": "The basket has changed."},
        "application/problem+json",
        ("problem", None, None, "The basket has changed."),
    ),
    "problem, sold out": (
        409,
        {"title": "Conflict", "detail": "This item is out of stock."},
        "application/problem+json",
        ("problem", "out_of_stock", None, "This item is out of stock."),
    ),
    "problem, pointers": (
        422,
        {"title": "Invalid", "errors": [{"detail": "must be positive", "pointer": "#/items/0/count"}]},
        "application/problem+json",
        ("problem", None, "count", "count: must be positive."),
    ),
    "problem, invalid-params": (
        400,
        {"title": "Invalid", "invalid-params": [{"name": "age", "reason": "is required"}]},
        "application/problem+json",
        ("problem", "missing_field", "age", "age: is required."),
    ),
    "problem, aspnet": (
        400,
        {
            "type": "https://tools.ietf.org/html/rfc9110#section-15.5.1",
            "title": "One or more validation errors occurred.",
            "status": 400,
            "errors": {"Name": ["The Name field is required."]},
        },
        JSON,
        ("problem", "missing_field", "Name", "The Name field is required."),
    ),
    "fastapi missing": (
        422,
        {"detail": [{"type": "missing", "loc": ["body", "count"], "msg": "Field required"}]},
        JSON,
        ("fastapi", "missing_field", "count", "count: Field required."),
    ),
    "fastapi nested": (
        422,
        {"detail": [{"type": "int_type", "loc": ["body", "items", 0, "n"], "msg": "Not an integer"}]},
        JSON,
        ("fastapi", "invalid_input", "items[0].n", "items[0].n: Not an integer."),
    ),
    "fastapi bad json": (
        422,
        {"detail": [{"type": "json_invalid", "loc": ["body", 3], "msg": "JSON decode error"}]},
        JSON,
        ("fastapi", "invalid_input", None, "JSON decode error."),
    ),
    "aip193": (
        400,
        {
            "error": {
                "code": 400,
                "status": "INVALID_ARGUMENT",
                "message": "Bad name",
                "details": [{"fieldViolations": [{"field": "pet.name", "description": "too long"}]}],
            }
        },
        JSON,
        ("aip193", None, "pet.name", "Bad name"),
    ),
    "aip193 key": (
        400,
        {
            "error": {
                "code": 400,
                "status": "INVALID_ARGUMENT",
                "message": "No",
                "details": [{"reason": "API_KEY_INVALID"}],
            }
        },
        JSON,
        ("aip193", "auth_required", None, "No"),
    ),
    "aip193 exists": (
        409,
        {"error": {"code": 409, "status": "ALREADY_EXISTS", "message": "Twice"}},
        JSON,
        ("aip193", "conflict", None, "Twice"),
    ),
    "stripe decline": (
        402,
        {"error": {"type": "card_error", "code": "card_declined", "message": "Declined."}},
        JSON,
        ("stripe", "payment_declined", None, "Declined."),
    ),
    "stripe param": (
        400,
        {"error": {"type": "invalid_request_error", "message": "Too small.", "param": "amount"}},
        JSON,
        ("stripe", None, "amount", "Too small."),
    ),
    "oauth": (
        400,
        {"error": "invalid_grant", "error_description": "Code used up."},
        JSON,
        ("oauth", "auth_required", None, "Code used up."),
    ),
    "oauth grant type": (
        400,
        {"error": "unsupported_grant_type"},
        JSON,
        ("oauth", "invalid_input", "grant_type", "The authorization server answered unsupported_grant_type."),
    ),
    "jsonapi": (
        422,
        {
            "errors": [
                {"title": "Bad", "detail": "is too short", "source": {"pointer": "/data/attributes/name"}}
            ]
        },
        "application/vnd.api+json",
        ("jsonapi", None, "name", "name: is too short."),
    ),
    "jsonapi query": (
        400,
        {"errors": [{"title": "Bad", "detail": "No such order", "source": {"parameter": "sort"}}]},
        JSON,
        ("jsonapi", None, "sort", "sort: No such order."),
    ),
    "graphql, 200": (
        200,
        {"data": None, "errors": [{"message": "Log in first", "extensions": {"code": "UNAUTHENTICATED"}}]},
        JSON,
        ("graphql", "auth_required", None, "Log in first"),
    ),
    "graphql, 400": (
        400,
        {
            "errors": [
                {
                    "message": 'Cannot query field "cost" on type "Item".',
                    "locations": [{"line": 1, "column": 2}],
                }
            ]
        },
        JSON,
        ("graphql", "invalid_input", "cost", 'Cannot query field "cost" on type "Item".'),
    ),
    "soap sender": (
        500,
        SOAP11.format("Client", "Item is sold out"),
        "text/xml",
        ("soap", "out_of_stock", None, "Item is sold out"),
    ),
    "soap validation": (
        500,
        SOAP11.format("Client", "Element 'count': 'x' is not valid"),
        "text/xml",
        ("soap", "invalid_input", "count", "Element 'count': 'x' is not valid"),
    ),
    "soap receiver": (500, SOAP11.format("Server", "Boom"), "text/xml", ("soap", None, None, "Boom")),
    "soap 1.2": (400, SOAP12, "application/soap+xml", ("soap", "out_of_stock", None, "None left")),
    "s3": (
        404,
        "<Error><Code>NoSuchKey</Code><Message>No such thing.</Message></Error>",
        "application/xml",
        ("aws", None, None, "No such thing."),
    ),
    "aws throttling": (
        400,
        "<ErrorResponse><Error><Code>Throttling</Code><Message>Rate exceeded</Message></Error></ErrorResponse>",
        "text/xml",
        ("aws", "rate_limited", None, "Rate exceeded"),
    ),
    "aws json": (
        400,
        {
            "__type": "com.amazon.x#ConditionalCheckFailedException",
            "message": "The conditional request failed",
        },
        "application/x-amz-json-1.0",
        ("aws", "conflict", None, "The conditional request failed"),
    ),
    "slack scope": (
        200,
        {"ok": False, "error": "missing_scope", "needed": "chat:write"},
        JSON,
        ("slack", "scope_missing", None, "The API answered missing_scope."),
    ),
    "mediawiki": (
        200,
        {"error": {"code": "ratelimited", "info": "Slow down."}},
        JSON,
        ("mediawiki", "rate_limited", None, "Slow down."),
    ),
    "woocommerce": (
        400,
        {"code": "woocommerce_rest_product_out_of_stock", "message": "Mug is gone.", "data": {"status": 400}},
        JSON,
        ("wordpress", "out_of_stock", None, "Mug is gone."),
    ),
    "wordpress params": (
        400,
        {
            "code": "rest_missing_callback_param",
            "message": "Missing parameter(s): email",
            "data": {"status": 400, "params": ["email"]},
        },
        JSON,
        ("wordpress", "missing_field", "email", "Missing parameter(s): email"),
    ),
    "woocommerce form": (
        200,
        {"result": "failure", "messages": "<ul><li>Mug is out of stock.</li></ul>"},
        JSON,
        ("wordpress", "out_of_stock", None, "<ul><li>Mug is out of stock.</li></ul>"),
    ),
    "decline, 200": (
        200,
        {"resultCode": "Refused", "refusalReason": "Expired Card", "pspReference": "1"},
        JSON,
        ("declines", "payment_declined", None, "Expired Card"),
    ),
    "decline, xml": (
        200,
        "<r><OrderId>1</OrderId><Response>Declined</Response><ErrMsg>No credit</ErrMsg></r>",
        "text/xml",
        ("declines", "payment_declined", None, "No credit"),
    ),
    "x402": (
        402,
        {
            "x402Version": 1,
            "error": "pay",
            "accepts": [
                {
                    "scheme": "exact",
                    "network": "n",
                    "maxAmountRequired": "5",
                    "payTo": "p",
                    "description": "A report",
                }
            ],
        },
        JSON,
        ("x402", "payment_required", None, "Payment required: A report."),
    ),
    "spring": (
        400,
        {
            "timestamp": "t",
            "status": 400,
            "error": "Bad Request",
            "path": "/x",
            "errors": [{"field": "qty", "code": "NotNull", "defaultMessage": "must not be null"}],
        },
        JSON,
        ("spring", "missing_field", "qty", "qty: must not be null."),
    ),
    "rails": (
        422,
        {"errors": {"email": ["can't be blank"], "name": ["is too long"]}},
        JSON,
        ("rails", "missing_field", "email", "email: can't be blank. name: is too long."),
    ),
    "laravel": (
        422,
        {"message": "The given data was invalid.", "errors": {"qty": ["The qty must be at least 1."]}},
        JSON,
        ("rails", None, "qty", "The qty must be at least 1."),
    ),
    "nestjs": (
        400,
        {
            "statusCode": 400,
            "error": "Bad Request",
            "message": ["qty must not be less than 1", "sku should not be empty"],
        },
        JSON,
        ("nestjs", None, "qty", "qty must not be less than 1. sku should not be empty."),
    ),
    "fastify": (
        400,
        {"statusCode": 400, "error": "Bad Request", "message": "body must have required property 'qty'"},
        JSON,
        ("nestjs", "missing_field", "qty", "body must have required property 'qty'."),
    ),
    "drf fields": (
        400,
        {"ship_to": ["This field is required."]},
        JSON,
        ("drf", "missing_field", "ship_to", "ship_to: This field is required."),
    ),
    "drf nested": (
        400,
        {"lines": [{"qty": ["Not a number."]}]},
        JSON,
        ("drf", "invalid_input", "lines[0].qty", "lines[0].qty: Not a number."),
    ),
    "drf detail": (403, {"detail": "You may not."}, JSON, ("drf", None, None, "You may not.")),
    "detail, sold out": (
        409,
        {"detail": "Item is sold out"},
        JSON,
        ("drf", "out_of_stock", None, "Item is sold out"),
    ),
    "drf list": (400, ["Mug is sold out."], JSON, ("drf", "out_of_stock", None, "Mug is sold out.")),
    "express-validator": (
        400,
        {"errors": [{"type": "field", "msg": "qty is required", "path": "qty", "location": "body"}]},
        JSON,
        ("issues", "missing_field", "qty", "qty is required."),
    ),
    "zod": (
        400,
        {
            "name": "ZodError",
            "message": '[{"code": "invalid_type", "path": ["lines", 0, "qty"], "message": "Invalid input: expected number, received string"}]',
        },
        JSON,
        (
            "issues",
            "invalid_input",
            "lines[0].qty",
            "lines[0].qty: Invalid input: expected number, received string.",
        ),
    ),
    "zod, missing": (
        400,
        {"error": {"issues": [{"code": "invalid_type", "path": ["qty"], "message": "Required"}]}},
        JSON,
        ("issues", "missing_field", "qty", "qty: Required."),
    ),
    "zod, flat": (
        400,
        {"formErrors": [], "fieldErrors": {"qty": ["Too small"]}},
        JSON,
        ("issues", "invalid_input", "qty", "qty: Too small."),
    ),
    "celebrate": (
        400,
        {
            "statusCode": 400,
            "error": "Bad Request",
            "message": "Validation failed",
            "validation": {"body": {"source": "body", "keys": ["qty"], "message": '"qty" is required'}},
        },
        JSON,
        ("issues", "missing_field", "qty", '"qty" is required.'),
    ),
    "openapi validator": (
        400,
        {
            "message": "request/body/qty must be integer",
            "errors": [
                {"path": "/body/qty", "message": "must be integer", "errorCode": "type.openapi.validation"}
            ],
        },
        JSON,
        ("issues", "invalid_input", "qty", "qty: must be integer."),
    ),
    "ajv": (
        422,
        {
            "errors": [
                {
                    "instancePath": "",
                    "keyword": "required",
                    "params": {"missingProperty": "qty"},
                    "message": "must have required property 'qty'",
                }
            ]
        },
        JSON,
        ("issues", "missing_field", "qty", "must have required property 'qty'."),
    ),
    "marshmallow": (
        422,
        {
            "code": 422,
            "errors": {"json": {"qty": ["Missing data for required field."]}},
            "status": "Unprocessable Entity",
        },
        JSON,
        ("rails", "missing_field", "qty", "qty: Missing data for required field."),
    ),
    "marshmallow, detail": (
        422,
        {"message": "Validation error", "detail": {"query": {"page": ["Not a valid integer."]}}},
        JSON,
        ("rails", None, "page", "page: Not a valid integer."),
    ),
    "litestar": (
        400,
        {
            "status_code": 400,
            "detail": "Validation failed for POST /items",
            "extra": [{"message": "Object missing required field `qty`", "key": "data", "source": "body"}],
        },
        JSON,
        ("message", "missing_field", "qty", "Object missing required field `qty`."),
    ),
    "the status again, sold out": (
        409,
        {"code": 409, "status": "Conflict", "message": "Sold out"},
        JSON,
        ("message", "out_of_stock", None, "Sold out"),
    ),
    "message": (404, {"message": "No such basket"}, JSON, ("message", None, None, "No such basket")),
    "message, limits in 403": (
        403,
        {"message": "You have exceeded a secondary rate limit."},
        JSON,
        ("message", "rate_limited", None, "You have exceeded a secondary rate limit."),
    ),
    "message, scope": (
        403,
        {"message": "Required scope: orders:read"},
        JSON,
        ("message", "scope_missing", None, "Required scope: orders:read"),
    ),
    "message, token": (
        400,
        {"error": "Token has expired"},
        JSON,
        ("message", "auth_required", None, "Token has expired"),
    ),
    "message, failure": (
        503,
        {"error": "out_of_stock", "message": "Back soon"},
        JSON,
        ("message", None, None, "Back soon"),
    ),
}


@pytest.mark.parametrize(("status", "body", "media", "said"), ROWS.values(), ids=ROWS)
def test_says(
    status: int, body: Any, media: str, said: tuple[str, str | None, str | None, str | None]
) -> None:
    evidence = ask(status, body, media)
    assert evidence is not None
    assert (evidence.rule, evidence.code, evidence.field, evidence.message) == (
        f"dialect/{said[0]}",
        *said[1:],
    )


def test_every_dialect_has_a_row() -> None:
    assert {name for name, _ in dialects.DIALECTS} == {said[0] for _, _, _, said in ROWS.values()}


SILENT = {
    "a success": (200, {"errors": [], "message": "Saved"}),
    "words in a success": (200, {"message": "Item is sold out", "error": "none"}),
    "translations": (200, {"Email": "Please fill in", "Password": "This field is required."}),
    "nothing": (404, {}),
    "a list": (404, []),
    "code zero": (200, {"errorCode": 0, "statusReason": "OK"}),
    "ok": (200, {"ok": True, "error": "missing_scope"}),
    "paid": (200, {"resultCode": "Authorised", "pspReference": "1"}),
    "a rejected essay": (200, {"status": "rejected", "title": "Essay"}),
    "commerce message": (
        200,
        {
            "messages": [{"type": "error", "code": "out_of_stock", "content": "Gone"}],
            "status": "not_ready_for_payment",
        },
    ),
    "numbers": (400, {"a": 1}),
    "a claim turned down": (200, {"status": "rejected", "amount": 120, "currency": "EUR"}),
    "texts in a success": (200, ["Mug is sold out."]),
    "issues in a success": (200, {"errors": [{"msg": "qty is required", "path": "qty", "location": "body"}]}),
}


@pytest.mark.parametrize(("status", "body"), SILENT.values(), ids=SILENT)
def test_says_nothing(status: int, body: Any) -> None:
    assert ask(status, body) is None


NO_CONTRACT = [
    {"error": {"code": "out_of_stock", "message": "Gone"}},
    {"error": {"code": "seat_taken", "retry": "no"}},
    {"error": {"code": "out_of_stock", "retry": "please"}},
    {"error": {"contract_version": "1", "message": "x"}},
    {"error": {"code": ["out_of_stock"], "retry": {}}},
]


@pytest.mark.parametrize("body", NO_CONTRACT)
def test_no_contract(body: Any) -> None:
    evidence = ask(409, body)
    assert evidence is None or evidence.decided_by == "dialect"


@pytest.mark.parametrize("status", [500, 502, 503, 520])
@pytest.mark.parametrize(
    "name", [name for name, row in ROWS.items() if row[3][0] not in ("contract", "soap", "x402")]
)
def test_a_server_failure_stays_one(name: str, status: int) -> None:
    evidence = ask(status, ROWS[name][1], ROWS[name][2])
    assert evidence is None or evidence.code is None


def test_below_400_only_annotates() -> None:
    for status, body, media, _ in ROWS.values():
        evidence = ask(200, body, media)
        assert evidence is None or evidence.on_success == "annotate", status


def test_waits_and_links() -> None:
    google = ask(
        429,
        {
            "error": {
                "code": 429,
                "status": "RESOURCE_EXHAUSTED",
                "message": "Slow",
                "details": [{"retryDelay": "31.2s"}, {"links": [{"url": "https://d.example/q"}]}],
            }
        },
    )
    assert google is not None
    assert (google.code, google.retry_after, google.documentation_url) == (
        "rate_limited",
        32,
        "https://d.example/q",
    )
    ours = ask(
        503,
        {
            "error": {
                "contract_version": 1,
                "code": "temporarily_unavailable",
                "message": "m",
                "recovery": {"retry_after_ms": 1500},
            }
        },
    )
    assert ours is not None
    assert (ours.retry_after, ours.outranks_failure) == (2, True)


def test_scope_challenge() -> None:
    challenge = 'DPoP algs="ES256", Bearer realm="a, \\"b\\"", error="insufficient_scope", scope="orders:read orders:write"'
    evidence = ask(403, {"message": "Not enough"}, fields={"WWW-Authenticate": challenge})
    assert evidence is not None
    assert evidence.decided_by == "header"
    assert evidence.code == "scope_missing"
    assert evidence.required_scopes == ("orders:read", "orders:write")
    assert evidence.message == "Not enough"


@pytest.mark.parametrize(
    "challenge",
    [
        "Bearer",
        'Bearer realm="insufficient_scope"',
        'Basic realm="x", charset="UTF-8"',
        'Bearer error="invalid_token"',
        "error=",
        '="',
        'a="b',
    ],
)
def test_other_challenges(challenge: str) -> None:
    evidence = ask(403, {"message": "Not you"}, fields={"WWW-Authenticate": challenge})
    assert evidence is not None
    assert evidence.code is None


def test_payment_fields() -> None:
    offer = base64.b64encode(
        json.dumps({"x402Version": 2, "accepts": [{"scheme": "exact"}]}).encode()
    ).decode()
    evidence = ask(402, "", "text/plain", {"PAYMENT-REQUIRED": offer, "crawler-price": "USD 0.01"})
    assert evidence is not None
    assert evidence.payment == {
        "x402Version": 2,
        "accepts": [{"scheme": "exact"}],
        "crawler_price": "USD 0.01",
    }
    assert ask(402, "", "text/plain", {"PAYMENT-REQUIRED": "%%%"}) is not None
    assert ask(200, "", "text/plain", {"crawler-price": "USD 0.01"}) is None


STRUCTURED = {
    "object": ('{"a":1}', JSON, True), "list": ("[1]", JSON, True), "xml": ("<a><b/></a>", "application/xml", True),
    "text as json": ("oops", JSON, False), "scalar": ('"oops"', JSON, False), "html as json": ("<html><p>x</p></html>", JSON, False),
    "broken": ('{"a":', JSON, False), "broken xml": ("<a><b></a>", "application/xml", False), "html": ("<p>x</p>", "text/html", False), "none": ("", JSON, False),
}  # fmt: skip


@pytest.mark.parametrize(("body", "media", "answer"), STRUCTURED.values(), ids=STRUCTURED)
def test_is_structured(body: str, media: str, answer: bool) -> None:
    assert dialects.is_structured(page.read(Fields.of({"Content-Type": media}), body.encode())) is answer


PROTOCOLS = {
    "json-rpc": ("/mcp", {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "m"}}, JSON, True),
    "json-rpc batch": ("/mcp", [{"jsonrpc": "2.0", "id": 1, "result": {}}], JSON, True),
    "grpc": ("/s/m", {}, "application/grpc+json", True),
    "oauth": ("/x", {"error": "invalid_grant", "error_description": "d"}, JSON, True),
    "oauth endpoint": ("/oauth2/token", {"error": "invalid_client"}, JSON, True),
    "own error": ("/oauth2/token", {"error": "no such thing"}, JSON, False),
    "a word alone": ("/orders", {"error": "invalid_request"}, JSON, False),
    "mentions": ("/mcp", {"jsonrpc": 2}, JSON, False),
    "plain": ("/orders", {"message": "m"}, JSON, False),
}


@pytest.mark.parametrize(("path", "body", "media", "answer"), PROTOCOLS.values(), ids=PROTOCOLS)
def test_is_protocol(path: str, body: Any, media: str, answer: bool) -> None:
    section = Fields.of({"Content-Type": media})
    head = Head(Request("POST", path.encode()), Response(400, section))
    assert dialects.is_protocol(head, page.read(section, json.dumps(body).encode())) is answer
