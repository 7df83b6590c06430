"""For any text whatever: scrub never raises, and scrubbing twice is scrubbing once."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from saywhy.core.scrub import Scrubber

SCRUB = Scrubber()

_PIECES = st.sampled_from(
    ["<|", "|>", "<b>", "</b>", "&lt;", "&amp;", "&#x202e;", "[redacted]", "password=", "token: ", "Bearer ", "eyJhbGciOi.", "at ",
     "/var/www/", "C:\\", "\\\\", "10.0.0.1", "://", "@", "-----BEGIN PRIVATE KEY-----", "-----END", "ghp_", "SELECT a FROM b", "File \"",
     "line 3", ":12:5", ".py", ".java:", "Error:", "\n", "\u200b", "\u202e", "\ud800", "[INST", "…", ". ", "\"", "'", "=", ";", "xY7", "1" * 16, "#0 "]
)  # fmt: skip
TEXTS = st.one_of(
    st.text(max_size=300), st.lists(st.one_of(_PIECES, st.text(max_size=8)), max_size=40).map("".join)
)
VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXTS
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(TEXTS, st.sampled_from(["trace", "password"])), inner, max_size=4),
    ),
    max_leaves=12,
)


@settings(max_examples=400, deadline=None)
@given(TEXTS, st.integers(1, 600))
def test_clean_is_a_fixed_point(text: str, limit: int) -> None:
    once = SCRUB.clean(text, limit=limit)
    assert len(once) <= limit
    assert once == " ".join(once.split())
    assert SCRUB.clean(once, limit=limit) == once
    assert SCRUB.findings(once) == {}


@settings(max_examples=150, deadline=None)
@given(VALUES)
def test_values_stay_json_and_settle(value: object) -> None:
    once, _ = SCRUB.clean_json(value, max_bytes=100_000)
    json.dumps(once).encode()
    assert SCRUB.clean_json(once, max_bytes=100_000)[0] == once


@settings(max_examples=150, deadline=None)
@given(VALUES)
def test_floor_keeps_json_well_formed(value: object) -> None:
    body = json.dumps(value).encode()
    once, _ = SCRUB.redact_floor(body)
    json.loads(once)
    assert SCRUB.redact_floor(once)[0] == once


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300))
def test_floor_takes_any_bytes(body: bytes) -> None:
    once, _ = SCRUB.redact_floor(body)
    assert SCRUB.redact_floor(once)[0] == once
