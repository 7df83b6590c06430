"""The shipped packs against their own examples: each rule answers its examples with their envelopes, and leaves its
look-alikes alone; what a pack must have besides (reasons, error statuses, sentences) is checked over all of them.
"""

from collections import Counter
from functools import cache

import pytest

from saywhy.core.model import Fields, Head, Request, Verdict
from saywhy.core.normalize import Normalizer
from saywhy.core.policy import Policy, Routes
from saywhy.core.rules import Rulebook
from saywhy.core.scrub import Scrubber
from saywhy.edge.examples import Example, unproven
from saywhy.edge.packs import LoadedPack, examples, load_rulebook, read_packs, shipped_rules

NOW = 1_767_225_600.0  # 2026-01-01T00:00:00Z, as `saywhy test` has it
ALL = examples(shipped_rules())
HITS = [example for example in ALL if not example.look_alike]
LOOK_ALIKES = [example for example in ALL if example.look_alike]


@cache
def rulebook() -> Rulebook:
    return load_rulebook([shipped_rules()])


@cache
def bench(packs: tuple[str, ...] | None) -> Normalizer:
    """A normalizer in which `packs` count; None: all that are not opt-in."""
    return Normalizer(rulebook(), Routes((Policy(packs=packs),)), Scrubber())


def name(example: Example) -> str:
    return f"{example.pack}/{example.path.stem}"


def judge(example: Example, packs: tuple[str, ...] | None) -> Verdict | None:
    """What an agent that asks for problem+json gets; None where the answer is not even looked at."""
    asked = example.head.request
    request = Request(
        asked.method, asked.target, Fields((*asked.fields.lines, (b"accept", b"application/problem+json")))
    )
    head = Head(request, example.head.response)
    normalizer = bench(packs)
    plan = normalizer.triage(head)
    if plan.action == "pass":
        return None
    return normalizer.normalize(head, plan, example.body, complete=True, now=NOW)


@pytest.mark.parametrize("example", HITS, ids=name)
def test_example_is_answered_by_its_rule_with_its_envelope(example: Example) -> None:
    verdict = judge(example, (example.pack,))
    assert verdict is not None
    assert verdict.rule == example.rule
    assert verdict.envelope is not None
    assert verdict.envelope.as_dict() == example.expected
    info = next(rule for rule in rulebook().rules if rule.name == example.rule)
    annotates = example.head.response.status < 400 and info.on_success == "annotate"
    assert verdict.action == ("annotate" if annotates else "rewrite")


@pytest.mark.parametrize("example", LOOK_ALIKES, ids=name)
def test_look_alike_is_left_alone(example: Example) -> None:
    verdict = judge(example, (example.pack,))
    answered = {verdict.rule, *verdict.shadow_rules} if verdict is not None else set()
    assert example.rule not in answered
    assert example.about, "a look-alike says in its first line why it is one"


def test_every_rule_is_proven() -> None:
    assert unproven(shipped_rules()) == []


def test_look_alikes_outnumber_examples_in_every_pack() -> None:
    hits = Counter(example.pack for example in HITS)
    look_alikes = Counter(example.pack for example in LOOK_ALIKES)
    assert {pack for pack in hits if look_alikes[pack] < hits[pack]} == set()
    assert len(LOOK_ALIKES) > 1.4 * len(HITS)


@pytest.mark.parametrize(
    ("pack", "least"), [("captcha", 15), ("sold-out", 4), ("rate-limit", 4), ("frameworks", 8)]
)
def test_look_alikes_carry_error_statuses_too(pack: str, least: int) -> None:
    """A page that works is the easy case; a plain 403 or 404 with the same words in its script is the other."""
    assert sum(one.pack == pack and one.head.response.status >= 400 for one in LOOK_ALIKES) >= least


@pytest.mark.parametrize("loaded", read_packs([shipped_rules()]), ids=lambda loaded: loaded.pack.pack)
def test_messages_are_sentences(loaded: LoadedPack) -> None:
    for rule in loaded.pack.rules:
        message = rule.then.message
        assert message is not None, rule.id
        assert message[0].isupper(), rule.id
        assert message.endswith("."), rule.id
        assert len(message.split()) >= 4, rule.id


def test_packs_that_change_successes_by_weak_signs_are_opt_in() -> None:
    by_pack = {rule.pack: rule.opt_in for rule in rulebook().rules}
    assert {pack for pack, opt_in in by_pack.items() if opt_in} == {
        "crashes",
        "login",
        "soft-404",
        "soft-forms",
    }


def test_only_vendor_headers_outrank_a_server_failure() -> None:
    """Listed by name: adding one is a decision that somebody should read."""
    assert {rule.name for rule in rulebook().rules if rule.outranks_failure} == {
        "captcha/aws-waf-captcha", "captcha/aws-waf-challenge", "captcha/cloudflare-mitigated", "captcha/datadome-header",
        "captcha/sucuri-block", "captcha/vercel-challenge", "captcha/vercel-deny",
    }  # fmt: skip
