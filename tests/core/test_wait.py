"""How long to wait: every form in which sites say it, and the ones that say nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
