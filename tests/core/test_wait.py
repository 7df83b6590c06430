"""How long to wait: every form in which sites say it, and the ones that say nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saywhy.core.hints.spoken import spoken_wait
from saywhy.core.hints.wait import CAP, retry_after, wait
from saywhy.core.model import Fields

NOW = 1_800_000_000.0  # Fri, 15 Jan 2027 08:00:00 GMT

CASES = [
    ({"Retry-After": "30"}, 30),
    ({"Retry-After": " 30 "}, 30),
    ({"Retry-After": "1.2"}, 2),
    ({"Retry-After": "Fri, 15 Jan 2027 08:01:00 GMT"}, 60),
    ({"Retry-After": "Fri, 31 Dec 1999 23:59:59 GMT", "Date": "Fri, 31 Dec 1999 23:58:59 GMT"}, 60),
    ({"Retry-After": "Friday, 31-Dec-99 23:59:59 GMT", "Date": "Fri Dec 31 23:58:59 1999"}, 60),
    ({"Retry-After": "9" * 60}, CAP),
    ({"Retry-After": "604800"}, CAP),
    ({"RateLimit": '"default";r=0;t=30'}, 30),
    ({"RateLimit": '"hour";r=3;t=3000, "minute";r=0;t=12'}, 12),
    ({"RateLimit": '"hour";r=0;t=3000, "minute";r=0;t=12'}, 3000),
    ({"RateLimit": "limit=10, remaining=0, reset=7"}, 7),
    ({"RateLimit-Remaining": "0", "RateLimit-Reset": "9"}, 9),
    ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "9"}, 9),
    ({"X-RateLimit-Reset": str(int(NOW) + 50)}, 50),
    ({"X-RateLimit-Reset": str((int(NOW) + 50) * 1000)}, 50),
    ({"X-RateLimit-Reset-After": "1.2", "X-RateLimit-Reset": "999"}, 2),
    ({"X-Rate-Limit-Reset": "2027-01-15T08:01:00Z"}, 60),
    ({"Retry-After": "0", "RateLimit": '"default";r=0;t=30'}, 30),
    ({"Retry-After": "soon", "X-RateLimit-Reset": "5"}, 5),
    ({"Retry-After": "20", "X-RateLimit-Reset": "5"}, 20),
    # What says nothing.
    ({}, None),
    ({"Retry-After": "0"}, None),
    ({"Retry-After": "-5"}, None),
    ({"Retry-After": "soon"}, None),
    ({"Retry-After": "1_000"}, None),
    ({"Retry-After": "٣٠"}, None),
    ({"Retry-After": "Fri, 15 Jan 2027 07:59:00 GMT"}, None),
    ({"Retry-After": "Fri, 31 Dec 1999 23:58:00 GMT", "Date": "Fri, 31 Dec 1999 23:58:59 GMT"}, None),
    ({"RateLimit": '"default";r=5;t=30'}, None),
    ({"RateLimit": '"default";r=0'}, None),
    ({"RateLimit": '"default";r=0;t="30"'}, None),
    ({"X-RateLimit-Remaining": "5", "X-RateLimit-Reset": "9"}, None),
    ({"X-RateLimit-Reset": str(int(NOW) - 50)}, None),
    ({"X-RateLimit-Limit": "60"}, None),
]


@pytest.mark.parametrize(("headers", "expected"), CASES)
def test_wait(headers: dict[str, str], expected: int | None) -> None:
    assert wait(Fields.of(headers), now=NOW) == expected


def test_retry_after_alone_leaves_the_rate_limit_out() -> None:
    assert retry_after(Fields.of({"RateLimit": '"a";r=0;t=30'}), now=NOW) is None


def test_the_first_line_that_says_something_counts() -> None:
    assert wait(Fields.of([("Retry-After", "x"), ("Retry-After", "7")]), now=NOW) == 7


@given(st.text(alphabet=st.characters(codec="latin-1", exclude_characters="\r\n"), max_size=80))
def test_any_value_gives_a_bounded_wait_or_none(value: str) -> None:
    names = (
        "Retry-After",
        "Date",
        "RateLimit",
        "X-RateLimit-Reset",
        "RateLimit-Reset",
        "X-RateLimit-Reset-After",
    )
    fields = Fields((name.encode(), value.encode("latin-1")) for name in names)
    got = wait(fields, now=NOW)
    assert got is None or 0 < got <= CAP


TEXTS = {
    "Please try again in 90 seconds.": 90,
    "Try again in 5 minutes": 300,
    "retry after 30s": 30,
    "Retry-After: 20 s": 20,
    "Request was throttled. Expected available in 59 seconds.": 59,
    "Rate limit reached. Please try again in 1.2s.": 2,
    "Please try again in 6m30s": 390,
    "Wait 1 minute and 30 seconds, please": 90,
    "Bitte versuchen Sie es in 90 Sekunden erneut.": 90,
    "Bitte warten Sie 5 Minuten.": 300,
    "Réessayez dans 2 minutes.": 120,
    "Veuillez patienter 30 secondes": 30,
    "Inténtelo de nuevo en 45 segundos": 45,
    "Tente novamente em 3 minutos": 180,
    "Riprova tra 2 minuti": 120,
    "Probeer het over 5 minuten opnieuw.": 300,
    "请在90秒后重试": 90,
    "5分後にもう一度お試しください": 300,
    "Try again in 3 days": CAP,
    "Try again in 999999 hours": CAP,
    # What asks for nothing.
    "": None,
    "You made 100 requests in 60 seconds.": None,
    "Limit: 10 per 5 minutes; try again later": None,
    "You may retry 3 times within 5 minutes": None,
    "Try again in a few minutes": None,
    "We waited 30 seconds for the shop": None,
    "A timeout of 30 seconds was met": None,
    "Retry after 30 shops closed": None,
    "Please wait 0 seconds": None,
    "x" * 1000 + " Try again in 5 minutes": None,
}


@pytest.mark.parametrize(("text", "seconds"), TEXTS.items())
def test_waits_in_words(text: str, seconds: int | None) -> None:
    assert spoken_wait(text) == seconds


@given(st.text(max_size=80))
def test_any_text_has_a_wait_within_the_cap_or_none(text: str) -> None:
    found = spoken_wait("Try again in " + text)
    assert found is None or 1 <= found <= CAP


def test_no_clock_is_no_wait() -> None:
    fields = Fields.of({"Retry-After": "Fri, 15 Jan 2027 08:01:00 GMT"})
    assert wait(fields, now=float("nan")) is None
