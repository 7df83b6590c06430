"""RE2 expressions: linear time whatever a rule author writes, and no word on standard error when one is wrong."""

from typing import Any

import re2

_LONGEST = 2000

_MOST_STEPS = 6000
"""Instructions of one program. Where RE2 runs out of memory for its states, which counted repeats make it do, it tries all of
them at each character, in a nanosecond each: a third of a second for the largest page, were it made for that. A repeat
counts as often as it may occur, and nine times for a sign that may be any letter: `.{1,900}` makes 8,100.
"""


def _options() -> Any:
    options = re2.Options()
    options.log_errors = False  # re2 would write them to standard error itself
    options.max_mem = 4 << 20  # a program larger than this is a mistake; RE2's own default is twice that
    return options


_REMEDIES = (
    (
        ("(?=", "(?!", "(?<=", "(?<!"),
        "RE2 has no look-ahead or look-behind; use `not` with a second condition",
    ),
    (
        ("(?>", "*+", "++", "?+", "(?P="),
        "RE2 has no atomic groups, possessive quantifiers or back-references; write it without",
    ),
)


class Expression:
    """A compiled expression; `pattern` as written."""

    __slots__ = ("_compiled", "pattern")

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._compiled = re2.compile(pattern, _options())

    def search(self, text: str) -> Any:
        """The first match in `text`, or None."""
        return self._compiled.search(text)

    @property
    def steps(self) -> int:
        """How many instructions it has for RE2."""
        return int(self._compiled.programsize)

    @property
    def groups(self) -> int:
        """How many capturing groups there are."""
        return int(self._compiled.groups)


def check_expression(pattern: Any) -> Any:
    """An Expression of `pattern`. Raises ValueError in words: what is wrong, what to write instead."""
    if not isinstance(pattern, str):
        return pattern
    if not pattern or len(pattern) > _LONGEST:
        raise ValueError(f"an expression has 1 to {_LONGEST} characters; this one has {len(pattern)}")
    try:
        expression = Expression(pattern)
        if expression.steps <= _MOST_STEPS:
            return expression
        raise ValueError(
            f"{pattern!r} has {expression.steps} steps for RE2, more than {_MOST_STEPS}: a counted repeat is written out so often; "
            "write `*` for it, count to less, or make a list of several expressions"
        )
    except re2.error as error:
        said = error.args[0] if error.args else error
        reason = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
    for marks, remedy in _REMEDIES:
        if any(mark in pattern for mark in marks):
            raise ValueError(f"{pattern!r} is no RE2 expression ({reason}); {remedy}")
    if "\\" in pattern and "escape" in reason:
        raise ValueError(
            f"{pattern!r} is no RE2 expression ({reason}); RE2 has no back-references and fewer escapes"
        )
    raise ValueError(f"{pattern!r} is no RE2 expression ({reason}); see the RE2 syntax page")
