"""RE2 expressions: linear time whatever a rule author writes, and no word on standard error when one is wrong."""

from typing import Any

import re2

_LONGEST = 2000


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
        return Expression(pattern)
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
