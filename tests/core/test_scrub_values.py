"""JSON: whole values scrubbed deeply, and the floor redacted in place."""

import json

import pytest

from saywhy.core.scrub import Scrubber

SCRUB = Scrubber()


def test_what_is_left_of_a_sentence_is_told_by_its_name() -> None:
    once = SCRUB.clean_json({"PASSWORD": "0-----BEGIN PRIVATE KEY-----"})[0]
    assert once == {"PASSWORD": "[redacted]"} == SCRUB.clean_json(once)[0]


def test_deep_values() -> None:
    value = {
        "a": [{"msg": "<b>no</b> at 10.1.2.3"}, 5, None, True],
        "password": "abc",
        "stack": "x\ny",
        "password_hint": "none",
    }
    clean, counts = SCRUB.clean_json(value)
    assert clean == {
        "a": [{"msg": "no at [redacted]"}, 5, None, True],
        "password": "[redacted]",
        "stack": "[redacted]",
        "password_hint": "none",
    }
    assert counts == {"private_address": 1, "secret": 1, "trace": 1}


def test_secret_member_that_is_a_sentence_stays() -> None:
    assert SCRUB.clean_json({"password": "This field is required."})[0] == {
        "password": "This field is required."
    }


def test_values_are_bounded() -> None:
    clean, counts = SCRUB.clean_json({"list": ["word"] * 10_000}, max_bytes=1000)
    assert len(json.dumps(clean)) < 1600
    assert counts["truncated"] >= 1
    deep: object = "end"
    for _ in range(60):
        deep = [deep]
    assert SCRUB.clean_json(deep)[1] == {"truncated": 1}


FLOOR = {
    "key": (b'{"id": 7 , "m":"k AKIAIOSFODNN7EXAMPLE"}', b'{"id": 7 , "m":"k [redacted]"}'),
    "dsn": (b'{"m":"postgres://a:b@c/d refused","n":1.50}', b'{"m":"[redacted] refused","n":1.50}'),
    "pem": (b'{"m":"-----BEGIN PRIVATE KEY-----\\nAAAA\\n-----END PRIVATE KEY-----"}', b'{"m":"[redacted]"}'),
    "trace text": (
        b'{"m":"no","stack":"Error: no\\n    at f (/a/b.js:1:2)"}',
        b'{"m":"no","stack":"[redacted]"}',
    ),
    "trace list": (b'{"trace": [ {"file":"/a.php","line":1} ], "m":"no"}', b'{"trace": [], "m":"no"}'),
    "nested": (b'{"e":{"exceptions":{"stacktrace":["a","b"]}},"x":[1]}', b'{"e":{"exceptions":{}},"x":[1]}'),
    "frames": (b'{"m":"no at com.a.B.c(B.java:1) at com.a.B.d(B.java:2)"}', b'{"m":"no [redacted]"}'),
    "escapes kept": (
        '{"a":"\\u00e9 \u00e9","m":"xoxb-123456789012-abcdef"}'.encode(),
        '{"a":"\\u00e9 \u00e9","m":"[redacted]"}'.encode(),
    ),
    "xml": (
        b"<Error><Message>AKIAIOSFODNN7EXAMPLE</Message></Error>",
        b"<Error><Message>[redacted]</Message></Error>",
    ),
    "xml trace": (b"<e><trace><f>a</f></trace></e>", b"<e><trace>[redacted]</trace></e>"),
}


@pytest.mark.parametrize(("body", "redacted"), FLOOR.values(), ids=FLOOR)
def test_floor(body: bytes, redacted: bytes) -> None:
    result, counts = SCRUB.redact_floor(body)
    assert result == redacted
    assert sum(counts.values()) >= 1


KEPT = [
    b'{"email":"jane@corp.example","token":"9c1185a5c5e9fc54612808977ee8f548"}',
    b'{"path":"/var/www/x","stack":[],"trace":null,"trace_id":"4bf92f3577b34da6"}',
    b'{ "a" : 1.0 , "b":"\\u20ac\\/" }\n',
    b'{"trace":"4bf92f3577b34da6a3ce929d0e0e4736"}',
    b'{"m":"Item is sold out","url":"https://shop.example/a:1"}',
    b"<Error><Code>NoSuchKey</Code></Error>",
    b"\xff\xfe not json",
    b"",
]


@pytest.mark.parametrize("body", KEPT)
def test_floor_leaves_the_rest(body: bytes) -> None:
    assert SCRUB.redact_floor(body) == (body, {})
