"""Case folding that keeps every character at its place: the folded text has the length of the text.

`str.casefold` turns one character into two (ß, İ), so that a place found in the folded text is another place in the
page. Here each character becomes one. Two liberties help rules in many languages: the Turkish i's are one letter, and
typographic apostrophes and hyphens are the typewriter's.
"""

_PAIRS = (
    ("ς", "σ"),  # lower() writes a final sigma by its place
    ("ſ", "s"),
    ("ı", "i"),
    ("µ", "μ"),  # the micro sign
    ("ϐ", "β"), ("ϑ", "θ"), ("ϕ", "φ"), ("ϖ", "π"), ("ϰ", "κ"), ("ϱ", "ρ"), ("ϵ", "ε"),
    ("ẛ", "ṡ"), ("\u1fbe", "ι"), ("\u0345", "ι"),
    ("’", "'"), ("‘", "'"), ("‑", "-"), ("‐", "-"), ("\u00a0", " "),
)  # fmt: skip


def fold(text: str) -> str:
    """`text` for comparison; same length, whatever is in it."""
    if text.isascii():
        return text.lower()
    # The one character whose lower case is two.
    text = text.replace("İ", "i").lower()
    for char, plain in _PAIRS:
        if char in text:
            text = text.replace(char, plain)
    return text


def fold_literal(text: str) -> str:
    """A literal of a rule, ready to be looked for in folded text: white space as the visible text has it."""
    blank_before, blank_after = text[:1].isspace(), text[-1:].isspace()
    return (
        (" " if blank_before else "")
        + " ".join(fold(text).split())
        + (" " if blank_after and text.strip() else "")
    )
