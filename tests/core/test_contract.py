"""The tables equal the published ones, every status has its code, and the schema says what is sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest
from pydantic import ValidationError

from saywhy.core.compose import bare, failure_envelope
from saywhy.core.contract import codes, kinds, words
from saywhy.core.contract.envelope import Envelope, Error, Recovery
from saywhy.core.contract.schema import json_schema
from saywhy.core.contract.statuses import code_for_status
from saywhy.core.failures import FAILURES
from saywhy.core.model import Head, Request, Response
from saywhy.core.scrub.clean import Clean

BY_STATUS = {
    400: "invalid_input", 401: "auth_required", 402: "payment_required", 403: "not_allowed", 404: "not_found",
    405: "invalid_input", 406: "invalid_input", 407: "auth_required", 408: "temporarily_unavailable", 409: "conflict",
    410: "not_found", 411: "invalid_input", 412: "conflict", 413: "invalid_input", 414: "invalid_input",
    415: "invalid_input", 416: "invalid_input", 417: "invalid_input", 421: "invalid_input", 422: "invalid_input",
    423: "conflict", 425: "temporarily_unavailable", 428: "missing_field", 429: "rate_limited", 431: "invalid_input",
    451: "not_allowed",
    500: "internal", 501: "internal", 502: "temporarily_unavailable", 503: "temporarily_unavailable",
    504: "temporarily_unavailable", 520: "temporarily_unavailable", 521: "temporarily_unavailable",
    522: "temporarily_unavailable", 523: "temporarily_unavailable", 524: "temporarily_unavailable",
    525: "internal", 526: "internal", 527: "internal", 529: "temporarily_unavailable", 530: "internal",
}  # fmt: skip
"""Written out by hand from the design, so that a slip in the table shows."""


def _rows(path: Path) -> list[dict[str, str]]:
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    names = lines[0].split("\t")
    return [dict(zip(names, line.split("\t"), strict=True)) for line in lines[1:]]


@pytest.mark.parametrize("status", range(400, 600))
def test_status_has_its_code(status: int) -> None:
    assert code_for_status(status) == BY_STATUS.get(status, "invalid_input" if status < 500 else "internal")


def test_codes_equal_the_published_table(shared: Path) -> None:
    rows = _rows(shared / "contract" / "codes.tsv")
    ours = [
        {
            "code": row.code, "retry": row.retry, "status": str(row.status), "kind": row.kind, "origin": row.origin,
            "action": row.action, "same_safe": row.same_safe, "same_unsafe": row.same_unsafe,
            "effects_unsafe": row.effects_unsafe, "agent_should": row.advice,
        }
        for row in codes.CODES.values()
    ]  # fmt: skip
    assert ours == rows


def test_kinds_equal_the_published_table(shared: Path) -> None:
    rows = _rows(shared / "contract" / "kinds.tsv")
    ours = [
        {
            "kind": row.kind, "origin": row.origin, "action": row.action, "same_arguments": row.same_arguments,
            "side_effects": row.side_effects, "status": str(row.status), "code": row.code,
        }
        for row in kinds.KINDS.values()
    ]  # fmt: skip
    assert ours == rows


def test_tables_use_only_the_words() -> None:
    for row in codes.CODES.values():
        assert row.retry in get_args(words.Retry)
        assert row.origin in get_args(words.Origin)
        assert row.action in get_args(words.Action)
        assert row.same_safe in get_args(words.SameArguments)
        assert row.same_unsafe in get_args(words.SameArguments)
        assert row.effects_unsafe in get_args(words.SideEffects)
        assert row.kind in kinds.KINDS
    for kind in kinds.KINDS.values():
        assert kind.origin in get_args(words.Origin)
        assert kind.action in get_args(words.Action)
        assert kind.code in codes.CODES


def test_unknown_words_read_as_the_contracts_say() -> None:
    kind = kinds.look_up("brand_new")
    assert (kind.origin, kind.action, kind.same_arguments) == (
        "runtime",
        "inspect_and_escalate",
        "discouraged",
    )
    assert (kind.side_effects, kind.status, kind.code) == ("unknown", 500, "internal")
    code = codes.look_up("brand_new")
    assert (code.code, code.retry, code.origin) == ("brand_new", "once", "runtime")


def test_default_waits_belong_to_the_codes_that_wait() -> None:
    assert {code for code, row in codes.CODES.items() if row.retry == "after_delay"} == set(
        codes.DEFAULT_WAIT
    )


def _smallest(**changes: Any) -> dict[str, Any]:
    recovery = {"action": Clean("do_not_retry"), "same_arguments": Clean("never"), "guidance": Clean("Stop.")}
    return {
        "code": Clean("not_found"), "message": Clean("Nothing here."), "retry": Clean("no"), "kind": Clean("not_found"),
        "origin": Clean("discovery"), "recovery": Recovery.model_validate(recovery), "side_effects": Clean("none_expected"),
        "source": "site", **changes,
    }  # fmt: skip


@pytest.mark.parametrize("member", ["code", "message", "field", "kind", "hint", "documentation_url", "cause"])
def test_a_text_that_scrub_has_not_seen_is_refused(member: str) -> None:
    with pytest.raises(ValidationError, match="must have passed scrub"):
        Error.model_validate(_smallest(**{member: "raw"}))


def test_the_smallest_envelope_holds_what_always_stands_and_nothing_else() -> None:
    error = Envelope(error=Error.model_validate(_smallest())).as_dict()["error"]
    assert list(error) == [
        "code", "message", "field", "retry", "retry_after", "contract_version", "kind", "origin", "recovery",
        "side_effects", "source",
    ]  # fmt: skip
    assert error["field"] is None
    assert error["retry_after"] is None


def test_a_message_over_the_limit_is_refused() -> None:
    with pytest.raises(ValidationError):
        Error.model_validate(_smallest(message=Clean("x" * 501)))


def test_the_schema_is_a_schema_and_open_for_readers() -> None:
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    document = Envelope(error=Error.model_validate(_smallest())).as_dict()
    validator.validate(document)
    document["error"] |= {"retry": "a_word_of_2030", "newcomer": {"a": 1}}
    document["error"]["recovery"]["newcomer"] = True
    document["newcomer"] = 1
    validator.validate(document)
    assert "additionalProperties" not in schema["$defs"]["Error"]
    assert "after_delay" in str(schema["$defs"]["Error"]["properties"]["retry"])


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("field", 3),
        ("message", None),
        ("retry_after", "30"),
        ("errors", None),
        ("hint", None),
        ("message", "x" * 501),
    ],
)
def test_the_schema_refuses(member: str, value: object) -> None:
    document = Envelope(error=Error.model_validate(_smallest())).as_dict()
    document["error"][member] = value
    assert not jsonschema.Draft202012Validator(json_schema()).is_valid(document)


@pytest.mark.parametrize(
    "member", ["code", "message", "field", "retry", "retry_after", "kind", "recovery", "source"]
)
def test_the_schema_asks_for(member: str) -> None:
    document = Envelope(error=Error.model_validate(_smallest())).as_dict()
    del document["error"][member]
    assert not jsonschema.Draft202012Validator(json_schema()).is_valid(document)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_bare_envelopes_and_failures_are_valid(method: str) -> None:
    validator = jsonschema.Draft202012Validator(json_schema())
    for status in range(400, 600):
        validator.validate(bare(Head(Request(method), Response(status)), now=0).as_dict())
    for failure in FAILURES.values():
        validator.validate(failure_envelope(Request(method), failure).as_dict())


def test_failures_use_codes_and_kinds_of_the_tables() -> None:
    for failure in FAILURES.values():
        assert failure.code in codes.CODES
        assert failure.kind in kinds.KINDS
        assert 400 <= failure.status < 600
