"""The meter: every series from closed sets, there from the start, and valid for promtool."""

from __future__ import annotations

import random
import shutil
import subprocess

import pytest
from prometheus_client import generate_latest
from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics

from saywhy.core.contract.codes import CODES
from saywhy.core.model import Caller, Fields, Outcome, PassReason, Verdict
from saywhy.edge.meter import Meter, ReloadGauges
from saywhy.edge.metrics import COUNTERS, GAUGES, HISTOGRAMS, PASS_REASONS, STATUS_LABELS

AGENT, PERSON = Caller(True, "accept"), Caller(False, "browser")
OK = Outcome(1.0, "GET", "shop", "/", "shop", "id", "", 200, 200, 100, 900, 0.004, 0.003, 0.0, None)
REWRITTEN = Verdict(
    action="rewrite", status=403, fields=Fields(), body=b"x" * 400, code="needs_human", caller=AGENT, decided_by="rule",
    rule="captcha/box", original_status=403, original_bytes=8400, redactions={"jwt": 2},
)  # fmt: skip
ERROR = OK._replace(original_status=403, sent_status=403, verdict=REWRITTEN, rewrite_duration=0.0003)


@pytest.fixture
def meter() -> Meter:
    """A meter that knows one upstream and two rules."""
    made = Meter(version="1.2.3")
    made.know(["shop"], [("captcha/box", "enforce"), ("login/form", "shadow")])
    return made


def value(meter: Meter, name: str, **labels: str) -> float | None:
    """One sample, or None where the series is not there."""
    return meter.registry.get_sample_value(name, labels)


def test_series_stand_at_zero_before_the_first_exchange(meter: Meter) -> None:
    for code in CODES.values():
        for source in ("site", "proxy"):
            labels = {
                "upstream": "shop",
                "caller": "agent",
                "code": code.code,
                "status": str(code.status),
                "source": source,
            }
            assert value(meter, "saywhy_errors_total", **labels, decided_by="status") == 0
    assert value(meter, "saywhy_rule_hits_total", rule="captcha/box", mode="enforce") == 0
    assert value(meter, "saywhy_rule_hits_total", rule="login/form", mode="shadow") == 0
    assert value(meter, "saywhy_requests_total", upstream="shop", status_class="5xx") == 0
    assert value(meter, "saywhy_upstream_duration_seconds_count", upstream="shop") == 0
    assert (
        value(meter, "saywhy_build_info", version="1.2.3", python=__import__("platform").python_version())
        == 1
    )
    assert [value(meter, "saywhy_passthrough_total", reason=reason) for reason in PASS_REASONS] == [0] * 9
    assert set(PASS_REASONS) == set(PassReason.__args__) - {""}  # type: ignore[attr-defined]


def test_a_success_counts_a_request_and_a_duration_and_nothing_else(meter: Meter) -> None:
    before = generate_latest(meter.registry)
    meter.record(OK)
    changed = set(generate_latest(meter.registry).splitlines()) - set(before.splitlines())
    assert {line.split(b"{")[0] for line in changed if line.startswith(b"saywhy")} == {
        b"saywhy_requests_total",
        b"saywhy_upstream_duration_seconds_bucket",
        b"saywhy_upstream_duration_seconds_count",
        b"saywhy_upstream_duration_seconds_sum",
    }


@pytest.mark.parametrize(
    ("seconds", "bucket"),
    [(0.0, "0.005"), (0.005, "0.005"), (0.0051, "0.01"), (1, "1.0"), (30, "30.0"), (31, "+Inf")],
)
def test_a_duration_is_in_the_bucket_whose_bound_it_does_not_pass(
    meter: Meter, seconds: float, bucket: str
) -> None:
    meter.record(OK._replace(upstream_duration=seconds))
    bounds = [*(repr(float(bound)) for bound in HISTOGRAMS["saywhy_upstream_duration_seconds"][2]), "+Inf"]
    counts = {
        bound: value(meter, "saywhy_upstream_duration_seconds_bucket", upstream="shop", le=bound)
        for bound in bounds
    }
    assert counts == {bound: float(bounds.index(bound) >= bounds.index(bucket)) for bound in bounds}
    assert value(meter, "saywhy_upstream_duration_seconds_sum", upstream="shop") == seconds


def test_a_rewritten_error(meter: Meter) -> None:
    meter.record(ERROR)
    labels = {
        "upstream": "shop",
        "caller": "agent",
        "code": "needs_human",
        "status": "403",
        "source": "site",
        "decided_by": "rule",
    }
    assert value(meter, "saywhy_errors_total", **labels) == 1
    assert value(meter, "saywhy_rule_hits_total", rule="captcha/box", mode="enforce") == 1
    assert value(meter, "saywhy_redactions_total", kind="jwt") == 2
    assert value(meter, "saywhy_original_bytes_total", upstream="shop") == 8400
    assert value(meter, "saywhy_sent_bytes_total", upstream="shop") == 400
    assert value(meter, "saywhy_tokens_saved_estimate_total", upstream="shop") == 2000
    assert value(meter, "saywhy_rewrite_duration_seconds_count") == 1
    assert value(meter, "saywhy_unmatched_errors_total", upstream="shop", status="403") is None


def verdict(**changes: object) -> Outcome:
    """ERROR with a verdict that differs in `changes`."""
    import dataclasses

    return ERROR._replace(verdict=dataclasses.replace(REWRITTEN, **changes))  # type: ignore[arg-type]


def test_only_the_status_spoke(meter: Meter) -> None:
    meter.record(verdict(decided_by="status", rule=None, code="not_allowed"))
    meter.record(
        verdict(decided_by="status", rule=None, code="not_allowed", caller=PERSON, action="pass", body=None)
    )
    meter.record(
        verdict(decided_by="status", rule=None, code="temporarily_unavailable", source="proxy")._replace(
            original_status=0
        )
    )
    assert value(meter, "saywhy_unmatched_errors_total", upstream="shop", status="403") == 1


def test_an_error_that_nobody_looked_at(meter: Meter) -> None:
    meter.record(OK._replace(original_status=404, sent_status=404))
    labels = {
        "upstream": "shop",
        "caller": "other",
        "code": "not_found",
        "status": "404",
        "source": "site",
        "decided_by": "status",
    }
    assert value(meter, "saywhy_errors_total", **labels) == 1
    assert value(meter, "saywhy_passthrough_total", reason="not_agent") == 1
    meter.record(OK._replace(original_status=0, sent_status=502, failure="connection_refused"))
    assert value(meter, "saywhy_passthrough_total", reason="not_agent") == 1
    assert value(meter, "saywhy_upstream_duration_seconds_count", upstream="shop") == 1


def test_a_pass_with_a_reason_and_shadowed_rules(meter: Meter) -> None:
    meter.record(
        verdict(
            action="pass", reason="structured", body=None, rule=None, shadow_rules=("login/form", "gone/rule")
        )
    )
    assert value(meter, "saywhy_passthrough_total", reason="structured") == 1
    assert value(meter, "saywhy_rule_hits_total", rule="login/form", mode="shadow") == 1
    assert value(meter, "saywhy_rule_hits_total", rule="other", mode="shadow") == 1
    assert value(meter, "saywhy_original_bytes_total", upstream="shop") == 0


def test_words_of_strangers_never_become_labels(meter: Meter) -> None:
    """A site with a thousand codes, statuses and hosts makes a handful of series."""
    rng = random.Random(7)
    meter.record(verdict(code="other-code", rule="no/such")._replace(sent_status=599, upstream="elsewhere"))
    before = generate_latest(meter.registry).count(b"\n")
    for number in range(1000):
        word = f"word-{rng.random()}"
        outcome = verdict(
            code=word, rule=word, reason=word, fault=f"Fault{number}", redactions={word: 1}, action="pass"
        )
        meter.record(
            outcome._replace(
                upstream=word, host=word, path="/" + word, method=word, sent_status=1000 + number
            )
        )
    text = generate_latest(meter.registry)
    assert text.count(b"\n") - before < 150
    assert b"word-" not in b"\n".join(line for line in text.splitlines() if b"redactions" not in line)


def test_statuses_are_a_closed_set() -> None:
    assert all(str(status) == label for status, label in STATUS_LABELS.items())
    assert {404, 200, 522, 529, 499} <= set(STATUS_LABELS)
    assert 0 not in STATUS_LABELS
    assert len(STATUS_LABELS) < 110


def test_gauges_are_read_at_the_scrape(meter: Meter) -> None:
    held = [7]
    meter.watch("saywhy_held_bytes", lambda: {(): held[0]})
    meter.watch("saywhy_upstream_connections", lambda: {("shop", "idle"): 3, ("shop", "busy"): 1})
    held[0] = 9
    assert value(meter, "saywhy_held_bytes") == 9
    assert value(meter, "saywhy_upstream_connections", upstream="shop", state="idle") == 3
    with pytest.raises(KeyError):
        meter.watch("saywhy_surprise", lambda: {})


def test_the_reload_gauges(meter: Meter) -> None:
    gauges = ReloadGauges(meter)
    gauges.applied("abc")
    loaded_at = value(meter, "saywhy_config_last_reload_success_timestamp_seconds")
    assert value(meter, "saywhy_config_last_reload_successful") == 1
    gauges.refused()
    assert value(meter, "saywhy_config_last_reload_successful") == 0
    assert value(meter, "saywhy_config_last_reload_success_timestamp_seconds") == loaded_at
    assert value(meter, "saywhy_config_info", hash="abc") == 1


def full(meter: Meter) -> Meter:
    """Every family with a sample at least."""
    ReloadGauges(meter).applied("abc")
    for gauge, (_, labels) in GAUGES.items():
        if gauge not in ("saywhy_build_info", "saywhy_config_info"):
            meter.watch(gauge, lambda labels=labels: {tuple(labels): 1.0})  # type: ignore[misc]
    for outcome in (OK, ERROR, verdict(fault="ValueError"), verdict(decided_by="status")):
        meter.record(outcome)
    return meter


def test_every_name_of_the_tables_is_in_the_exposition(meter: Meter) -> None:
    text = generate_latest(full(meter).registry).decode()
    for name in (*COUNTERS, *GAUGES, *HISTOGRAMS):
        assert f"# HELP {name} " in text, name
    assert "process_resident_memory_bytes" in text
    assert "python_info" in text
    assert generate_openmetrics(meter.registry).endswith(b"# EOF\n")


def test_promtool_finds_nothing_to_say(meter: Meter) -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed (Debian: prometheus)")
    text = generate_latest(full(meter).registry)
    done = subprocess.run(
        [promtool, "check", "metrics"], input=text, capture_output=True, check=False, timeout=30
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, b"")
