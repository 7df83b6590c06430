"""RESULTS.md -> README: the block between two marks is the same in both, so that no figure is ever typed.

python -m tests.bench.publish
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
RESULTS = HERE / "RESULTS.md"
README = HERE.parent.parent / "README.md"
BEGIN, END = "<!-- figures -->", "<!-- /figures -->"


def block(text: str) -> str | None:
    """What stands between the marks; None where they are not there once each, in order."""
    before, begin, rest = text.partition(BEGIN)
    inside, end, after = rest.partition(END)
    whole = (
        begin and end and not any(mark in part for mark in (BEGIN, END) for part in (before, inside, after))
    )
    return inside.strip() if whole else None


def published(readme: str, results: str) -> str:
    """The README with the block of the results; ValueError says where the marks are missing."""
    if (figures := block(results)) is None:
        raise ValueError(f"RESULTS.md has no block between {BEGIN} and {END}: make it anew with make bench")
    if block(readme) is None:
        raise ValueError(
            f"README.md has no place for the figures: write {BEGIN} and {END}, once each, where they go"
        )
    before, _, rest = readme.partition(BEGIN)
    return f"{before}{BEGIN}\n{figures}\n{END}{rest.partition(END)[2]}"


def main() -> int:
    """Rewrite README.md; exit status 2 where there is nothing to take or no place for it."""
    try:
        README.write_text(published(README.read_text(), RESULTS.read_text()))
    except (OSError, ValueError) as why:
        print(why, file=sys.stderr)
        return 2
    print("README.md has the figures of RESULTS.md.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
