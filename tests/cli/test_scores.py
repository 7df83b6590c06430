"""What counts as right, and the sums."""

from __future__ import annotations

import pytest

from saywhy.cli.recordings import Expectation, Recording
from saywhy.cli.scores import Result, Scores
from saywhy.core.model import Head, Request, Response


def result(
    status: int,
    action: str,
    code: str | None,
    expected: Expectation | None,
    *,
    field: str | None = None,
    category: str = "shop",
) -> Result:
    """A result as replay makes it."""
    recording = Recording("one", Head(Request(), Response(status)), b"", expected, category)
    return Result("one", action, status, status, code, field, None, None, None, None, None, recording, 0.001)


STOCK = Expectation("out_of_stock", ("conflict",))

CASES = [
    # status, action, code, expectation, right
    (404, "rewrite", "not_found", Expectation("not_found"), True),
    (404, "rewrite", "internal", Expectation("not_found"), False),
    (409, "rewrite", "conflict", STOCK, True),
    (409, "redact", "out_of_stock", STOCK, True),
    (409, "pass", None, STOCK, False),
    (200, "rewrite", "out_of_stock", STOCK, True),
    (200, "annotate", "out_of_stock", STOCK, True),
    # Below 400 a field of the answer alone is no telling.
    (200, "redact", "out_of_stock", STOCK, False),
    (200, "pass", None, STOCK, False),
    # Must pass untouched.
    (200, "pass", None, Expectation(None), True),
    (200, "annotate", "out_of_stock", Expectation(None), False),
    (200, "rewrite", "out_of_stock", Expectation(None), False),
    (200, "redact", None, Expectation(None), False),
    # Nobody said.
    (500, "rewrite", "internal", None, None),
]


@pytest.mark.parametrize(("status", "action", "code", "expected", "right"), CASES)
def test_what_is_right(
    status: int, action: str, code: str | None, expected: Expectation | None, right: bool | None
) -> None:
    assert result(status, action, code, expected).right is right


def test_the_sums() -> None:
    scores = Scores()
    for status, action, code, expected, _ in CASES:
        scores.add(result(status, action, code, expected))
    scores.add(
        result(
            422,
            "rewrite",
            "missing_field",
            Expectation("missing_field", field="email"),
            field="email",
            category="form",
        )
    )
    scores.add(
        result(
            422,
            "rewrite",
            "missing_field",
            Expectation("missing_field", field="email"),
            field="mail",
            category="form",
        )
    )
    assert scores.total == len(CASES) + 2
    assert (scores.judged, scores.wrong) == (15, 7)
    assert (scores.untouched.total, scores.untouched_rewritten, scores.untouched_marked) == (4, 1, 2)
    assert (scores.codes_expected.right, scores.codes_expected.wrong) == (7, 4)
    assert (scores.fields_expected.right, scores.fields_expected.wrong) == (1, 1)
    assert (scores.by_category["form"].right, scores.by_category["shop"].wrong) == (2, 7)
    assert scores.by_category["form"].share == 100
    assert len(scores.misses) == 7
    assert scores.codes.total() == scores.actions.total() == scores.total
    assert scores.milliseconds_each == pytest.approx(1)
