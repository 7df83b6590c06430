"""Pages that differ from each other in a few words: read once, and filled in after that.

A site's error page mostly carries something new each time, a reference, a nonce, the path, a time of day, and is a cut-out
of the same sheet otherwise. From two such pages a stencil is made: the stretches that they share, and a hole for each word
in which they differ. Where a page fits, its title and its text are the stencil's with its own words in the holes; that takes
a hundredth of what parsing it takes.

It says exactly what parsing says. Between two pages that fit one stencil a parser does the same: a word in a hole holds no sign
that any state of the HTML tokenizer (HTML Standard 13.2.5) tells from a letter where the hole is, for holes are only where
lxml found the words as text, in a comment, or in a quoted attribute that hides nothing. Every character of what a page is said to
say is its own; a stencil hands nothing of one page to another.
"""

from __future__ import annotations

import re
import string
from typing import NamedTuple

import re2

from saywhy.core.page import html

# One class, one repetition: linear, here and in `_RUNS`.
_WORD = re.compile(r"[\w.~/:+%?!,*@()|$-]{1,256}")
"""No blank, quote, angle bracket, ampersand, semicolon, equals or hash sign: a path, a UUID, a time, base64 without its end."""

_MOST_HOLES = 16
_ALIKE_CHARS, _ALIKE_LENGTH = 32, 1024
"""Two pages are compared where they begin alike and are about as long."""

_RECENT = 4
"""Pages that fitted nothing and may be the first of two: one route, or one status, after the other."""

_KEPT_BYTES = 1 << 20
"""For all stencils together; one of an 8 KB page takes 16."""

_LONGEST_PAUSE = 256
"""Pages for which nobody tries to make a stencil where that came to nothing again and again. A try takes three readings."""

_QUOTED = re2.compile(r"""[\s"'][\w:@.-]+=["'][^"'<>]*\z""")
_NAMING = string.ascii_letters + "/!?-"
"""What stands behind `<` while a name, or what opens a comment, may still go on."""


class Told(NamedTuple):
    """What a page says: its title, its visible text as it comes out of the tree, and that folded."""

    title: str
    raw: str
    text: str


class _Form(NamedTuple):
    """A text with holes: every second piece is fixed, `places` says which hole stands between them."""

    pieces: tuple[str, ...]
    places: tuple[int, ...]

    def filled(self, words: list[str]) -> str:
        if not self.places:
            return self.pieces[0]
        whole = list(self.pieces)
        whole[1::2] = [words[place] for place in self.places]
        return "".join(whole)


class Stencil(NamedTuple):
    """`shared`: what every page that fits has in common, one stretch more than there are holes."""

    shared: tuple[str, ...]
    title: _Form
    raw: _Form
    text: _Form

    def words(self, source: str) -> list[str] | None:
        """What `source` has in the holes; None where it does not fit."""
        first, *others = self.shared
        if not source.startswith(first):
            return None
        at, found = len(first), list[str]()
        for stretch in others:
            match = _WORD.match(source, at)
            # A stretch begins with what is no part of a word, so that there is one way to fit, or none.
            if match is None or not source.startswith(stretch, match.end()):
                return None
            word = match[0]
            if "-" in word and ("--" in word or word[0] == "-" or word[-1] == "-"):
                return None  # next to a sign of the page's, or by itself, it may end a comment
            found.append(word)
            at = match.end() + len(stretch)
        return found if at == len(source) else None

    def told(self, words: list[str]) -> Told:
        """What the page with these words says."""
        return Told(self.title.filled(words), self.raw.filled(words), self.text.filled(words))

    def weigh(self) -> int:
        """Bytes of memory that it takes."""
        texts = (*self.shared, *self.title.pieces, *self.raw.pieces, *self.text.pieces)
        return sum(text.__sizeof__() for text in texts)


def read_told(source: str) -> Told | None:
    """What lxml reads in `source`; None where it nests too deep, or there is no tree."""
    tree = html.plant(source)
    if tree.root is None:
        return None
    title = html.title_of(tree.root)
    raw = html.text_of(source, source.lower(), tree)
    return Told(title, raw, html.fold_space(raw))


def cut(one: str, other: str, said: Told) -> Stencil | None:
    """The stencil of two pages, of which the other says `said`; None where they differ in more than a few words, or where a word may change how the
    rest is read.
    """
    shared = _shared(one, other)
    if shared is None:
        return None
    marks = [f"xSaywhy{number}x" for number in range(len(shared) - 1)]
    if any("xSaywhy" in stretch for stretch in shared):
        return None
    sheet = _between(shared, marks)
    if not html.are_words(sheet, marks):
        return None
    told = read_told(sheet)
    if told is None:
        return None
    stencil = Stencil(tuple(shared), *map(_form, told))
    # It holds by construction; should it not, for these two at least it would show.
    for source, truth in ((other, said), (one, read_told(one))):
        words = stencil.words(source)
        if words is None or stencil.told(words) != truth:
            return None
    return stencil


def _between(stretches: list[str], words: list[str]) -> str:
    whole = [""] * (2 * len(words) + 1)
    whole[::2], whole[1::2] = stretches, words
    return "".join(whole)


def _form(text: str) -> _Form:
    pieces = re.split(r"xSaywhy(\d+)x", text)
    return _Form(tuple(pieces), tuple(map(int, pieces[1::2])))


def _shared(one: str, other: str) -> list[str] | None:
    """What two pages share around the words in which they differ."""
    ours, theirs = one.split("<"), other.split("<")
    if len(ours) != len(theirs):
        return None
    shared, fixed = list[str](), list[str]()
    for number, (mine, its) in enumerate(zip(ours, theirs, strict=True)):
        if number:
            fixed.append("<")
        if mine == its:
            fixed.append(mine)
            continue
        tokens, others = _tokens(mine), _tokens(its)
        if len(tokens) != len(others):
            return None
        for place, (token, its_token) in enumerate(zip(tokens, others, strict=True)):
            if token == its_token:
                fixed.append(token)
            elif not place % 2 or len(shared) == _MOST_HOLES or not _may_vary("".join(tokens[:place])):
                return None
            else:
                shared.append("".join(fixed))
                fixed.clear()
    shared.append("".join(fixed))
    return shared if len(shared) > 1 else None


def _tokens(piece: str) -> list[str]:
    """`piece` as what is no word, a word, what is no word, and so on."""
    return _RUNS.split(piece)


_RUNS = re.compile(f"({_WORD.pattern.removesuffix('{1,256}')}+)")


def _may_vary(before: str) -> bool:
    """Whether a word may vary that stands behind `before`, all there is since the last `<`: no name of a tag, nothing that
    goes on with a character reference, and in a tag only what is quoted.
    """
    if not before.strip(_NAMING) or _is_referring(before):
        return False
    return (
        ">" in before or before.startswith("!--") or "=" not in before or _QUOTED.search(before) is not None
    )


def _is_referring(before: str) -> bool:
    """Whether what comes next goes on with a character reference."""
    _, mark, name = before.rpartition("&")
    name = name.removeprefix("#").replace("_", "")
    return bool(mark) and (not name or name.isalnum())


class Stencils:
    """The stencils of one site's pages. Threads may share it: what they lose to each other is a page that is read."""

    __slots__ = ("_failures", "_kept", "_pause", "_recent", "kept_bytes")

    def __init__(self) -> None:
        self._kept: tuple[Stencil, ...] = ()
        self._recent: tuple[str, ...] = ()
        self._failures = 0
        self._pause = 0
        self.kept_bytes = 0

    def read(self, source: str) -> Told | None:
        """What `source` says, where it fits a stencil."""
        for place, stencil in enumerate(self._kept):
            words = stencil.words(source)
            if words is not None:
                if place:
                    rest = (one for one in self._kept if one is not stencil)
                    self._kept = (stencil, *rest)
                return stencil.told(words)
        return None

    def learn(self, source: str, said: Told) -> None:
        """`source`, which says `said`, fitted none: with one like it that came before it makes a new one."""
        recent = self._recent
        self._recent = (source, *recent[: _RECENT - 1])
        if self._pause:
            self._pause -= 1
            return
        like = next((one for one in recent if _are_alike(one, source)), None)
        if like is None:
            return
        stencil = cut(like, source, said)
        weight = stencil.weigh() if stencil is not None else 0
        if stencil is None or weight > _KEPT_BYTES // 4:
            self._failures += 1
            self._pause = min(2**self._failures, _LONGEST_PAUSE)
            return
        self._failures = 0
        kept = (stencil, *self._kept)
        while (whole := sum(one.weigh() for one in kept)) > _KEPT_BYTES or len(kept) > _MOST_KEPT:
            kept = kept[:-1]
        self._kept, self.kept_bytes = kept, whole


_MOST_KEPT = 16
"""Each that a page does not fit costs its first look: a third of a microsecond."""


def _are_alike(one: str, other: str) -> bool:
    return (
        one[:_ALIKE_CHARS] == other[:_ALIKE_CHARS]
        and abs(len(one) - len(other)) < _ALIKE_LENGTH
        and one != other
    )
