"""What is wrong with a command line, in our own words: the library that checks values speaks of its own workings."""

from __future__ import annotations

_WORDS = (
    ("Value error, ", ""),
    (", unable to parse string as an integer", ""),
    (", unable to parse string as a number", ""),
    ("Input should be", "it must be"),
    ("greater than or equal to", "at least"),
    ("less than or equal to", "at most"),
    ("a valid integer", "a whole number"),
    ("a valid number", "a number"),
    ("unexpected extra argument(s) (", "one argument too many ("),
)


def sentence(said: str) -> str:
    """`said` without the words of libraries, and with an end."""
    for theirs, ours in _WORDS:
        said = said.replace(theirs, ours)
    said = " ".join(said.split())
    return said if said.endswith((".", "?", "!")) else f"{said}."
