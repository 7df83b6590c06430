"""README's figures are those of RESULTS.md, and are put there by a program."""

from __future__ import annotations

import pytest
from tests.bench.publish import BEGIN, END, README, RESULTS, block, published

RESULT = f"# Results\n{BEGIN}\n| new |\n{END}\nand more\n"


def test_readme_has_the_figures_of_the_results() -> None:
    """Equal where there are both; one of them alone is a figure from nowhere, or one that nobody gets to read."""
    results = RESULTS.read_text() if RESULTS.exists() else ""
    assert block(README.read_text()) == block(results), "python -m tests.bench.publish"


def test_only_the_block_is_replaced() -> None:
    readme = f"# saywhy\nbefore\n{BEGIN}\n| old |\n{END}\nafter\n"
    made = published(readme, RESULT)
    assert made == f"# saywhy\nbefore\n{BEGIN}\n| new |\n{END}\nafter\n"
    assert published(made, RESULT) == made


@pytest.mark.parametrize(
    ("readme", "results", "said"),
    [
        ("no place", RESULT, "README.md has no place"),
        (f"{END} the wrong way round {BEGIN}", RESULT, "README.md has no place"),
        (f"{BEGIN}{END}{BEGIN}{END}", RESULT, "README.md has no place"),
        (f"{BEGIN}{END}", "nothing", "RESULTS.md has no block"),
        (f"{BEGIN}{END}", f"{BEGIN} unended", "RESULTS.md has no block"),
    ],
)
def test_marks_that_are_missing_are_named(readme: str, results: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        published(readme, results)
