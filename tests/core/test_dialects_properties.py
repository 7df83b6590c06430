"""Any JSON and any XML, under any status: dialects never raise."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from saywhy.core import dialects, page
from saywhy.core.model import Fields, Head, Request, Response

_NAMES = st.sampled_from(
    "error errors detail message code type title status data ok needed loc msg extensions source pointer param details fieldViolations "
    "reason accepts x402Version retry contract_version kind recovery retry_after statusCode timestamp path params result messages "
    "resultCode pspReference status_details jsonrpc id __type fields validation keys extra invalid-params links".split()
)
_LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 10**12), st.floats(allow_nan=False), st.text(max_size=20),
    st.sampled_from(["missing_scope", "card_error", "no", "out_of_stock", "refused", "failure", "#/a/b", "is required", "INVALID_ARGUMENT", "3.5s"]),
)  # fmt: skip
_VALUES = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.one_of(_NAMES, st.text(max_size=5)), inner, max_size=5),
    ),
    max_leaves=20,
)
_STATUS = st.sampled_from([200, 302, 400, 401, 402, 403, 404, 409, 422, 429, 500, 503])
_MEDIA = st.sampled_from(["application/json", "application/problem+json", "application/vnd.api+json"])


@settings(max_examples=400, deadline=None)
@given(_VALUES, _STATUS, _MEDIA)
def test_any_json(value: object, status: int, media: str) -> None:
    section = Fields.of({"Content-Type": media})
    head, body = (
        Head(Request("POST"), Response(status, section)),
        page.read(section, json.dumps(value).encode()),
    )
    evidence = dialects.read(head, body)
    assert evidence is None or status < 500 or evidence.code is None or evidence.outranks_failure
    dialects.is_structured(body)
    dialects.is_protocol(head, body)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "<Fault>",
                "</Fault>",
                "<Error>",
                "</Error>",
                "<Code>",
                "</Code>",
                "<Message>",
                "</Message>",
                "a",
                "<!DOCTYPE a>",
                "&b;",
                "<s:Envelope>",
                "declined",
            ]
        ),
        max_size=12,
    ).map("".join),
    _STATUS,
)
def test_any_xml(text: str, status: int) -> None:
    section = Fields.of({"Content-Type": "application/xml"})
    head, body = Head(Request(), Response(status, section)), page.read(section, text.encode())
    found = dialects.read(head, body)
    assert found is None or found.decided_by in ("contract", "dialect", "header")
    assert dialects.is_structured(body) in (True, False)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=80), st.sampled_from([401, 402, 403]))
def test_any_field_value(value: str, status: int) -> None:
    section = Fields.of({"WWW-Authenticate": value, "PAYMENT-REQUIRED": value})
    found = dialects.read_head(Head(Request(), Response(status, section)))
    assert found is None or found.decided_by == "header"
