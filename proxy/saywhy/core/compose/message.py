"""The choice of the message: the site's own words where they say something, and otherwise ours.

A status phrase, a bare "Access denied", the name of the shop or the phrase of a challenge page say nothing to somebody
who already has the code. Work is bounded: 300 characters of a title, 1,000 of a page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from http import HTTPStatus

_FILLERS = frozenset({
    "a", "an", "the", "error", "errors", "http", "https", "status", "code", "page", "oops", "ooops", "whoops", "sorry",
    "uh", "oh", "ouch", "response", "message", "exception", "failed", "failure",
})  # fmt: skip

_CHALLENGES = (
    "just a moment", "attention required", "checking your browser", "checking if the site connection is secure",
    "verify you are human", "verifying you are human", "verify that you are human", "are you a robot", "not a robot",
    "not a bot", "pardon our interruption", "one more step", "one moment, please", "one moment please",
    "please wait", "enable javascript", "turn javascript on", "turn on javascript", "enable cookies", "javascript is disabled", "human verification",
    "security check", "security checkpoint", "ddos protection by", "access to this page has been denied",
    "you are being redirected", "press & hold", "press and hold", "please stand by", "incapsula incident",
    "request unsuccessful", "captcha",
)  # fmt: skip

_BARE_EXTRA = (
    "access denied", "access forbidden", "denied", "blocked", "unauthorized", "unauthorised", "authentication required",
    "authorization required", "login required", "permission denied", "forbidden access", "not found", "page not found",
    "file not found", "file or directory not found", "resource not found", "object not found", "route not found",
    "url not found", "endpoint not found", "no such page", "does not exist", "page does not exist", "gone",
    "page cannot be found", "page could not be found", "page can t be found", "page isn t available",
    "server error", "application error", "runtime error", "fatal", "unknown", "unknown error", "undefined", "null",
    "none", "invalid", "invalid request", "invalid input", "bad", "request failed", "request error", "validation",
    "validation failed", "unprocessable", "internal", "internal error", "internal server error",
    "an internal server error occurred", "an error occurred", "an error has occurred", "something went wrong",
    "something is broken", "unexpected error", "an unexpected error occurred", "unexpected", "site error",
    "service unavailable", "temporarily unavailable", "service temporarily unavailable", "unavailable",
    "site unavailable", "maintenance", "under maintenance", "site under maintenance", "offline", "timeout", "time out",
    "timed out", "request timed out", "gateway timed out", "web server is down", "rate limited", "rate limit",
    "rate limit exceeded", "rate limiting", "throttled", "slow down", "method not allowed", "login", "log in",
    "sign in", "signin", "welcome", "home", "homepage", "index", "untitled", "document", "title", "default",
    "payment required", "payload too large", "request entity too large", "uri too long", "request uri too long",
    "request rejected", "request blocked", "iis", "iis windows server", "ok", "true", "false",
    "not allowed", "request uri too large", "proxy error", "gateway time out", "request time out", "connection time out", "origin connection time out", "backend fetch failed",
    "first byte timeout", "this page could not be found", "this page can t be found", "this page cannot be found",
    "page not found development mode", "too many attempts", "unauthenticated", "not authenticated", "not authorized",
    "not authorised", "état", "estado", "stato", "error report", "http status report", "an error occurred", "problem",
    "we re sorry", "we are sorry", "browser error", "bad gateway error", "no healthy upstream", "no server available",
    "page introuvable", "seite nicht gefunden", "página no encontrada", "pagina non trovata",
)  # fmt: skip


_WORD = re.compile(r"[^\W_]+")  # one class, one repetition: linear


def _words(text: str) -> list[str]:
    """The words of `text` that mean something: case folded, no signs, no numbers, no fillers."""
    return [word for word in _WORD.findall(text.casefold()) if word not in _FILLERS and not word.isdigit()]


def _core(text: str) -> str:
    """What is left of `text` to compare."""
    return " ".join(_words(text))


_BARE = frozenset(
    _core(phrase) for phrase in (*(status.phrase for status in HTTPStatus), *_BARE_EXTRA, "Request Timeout")
) | {""}

_SEPARATORS = ("|", " - ", " – ", " — ", " · ", "::", "»", "«", " • ", ": ")


def says_something(text: str) -> bool:
    """Whether `text` tells more than a status does, and is not the phrase of a challenge page."""
    text = text[:500]
    return not is_challenge(text) and _core(text) not in _BARE


def is_challenge(text: str) -> bool:
    """Whether `text` is what a page says while it tests a browser."""
    folded = " ".join(text.casefold().split())
    return any(phrase in folded for phrase in _CHALLENGES)


def from_title(title: str, host: str) -> str | None:
    """The part of a page's title that says something, or None.

    Titles join a phrase with the name of the site. A part counts with three words (a name has one or two), and with
    four where a status phrase stands beside it, for then the rest is mostly the name and its slogan.
    """
    title = " ".join(title[:300].split())
    if not title or is_challenge(title) or "://" in title:
        return None
    parts = [title]
    for separator in _SEPARATORS:
        parts = [piece.strip() for part in parts for piece in part.split(separator)]
    bare = [part for part in parts if _core(part) in _BARE]
    needed = 4 if bare else 3
    good = [part for part in parts if part not in bare and _length(part) >= needed and not _names_host(part, host)]
    return good[0] if good else None


def sentences(text: str, title: str) -> Iterator[str]:
    """The first sentences of a small page that say something. A large page starts with its navigation: none."""
    text = text.strip()
    if len(text) > 1000:
        return
    if _core(title) not in _BARE:  # a heading that repeats the title; a bare one goes with the phrases
        text = _without(text, title.strip())
    for opening in _openings(text):
        text = _without(text, opening)
    found = 0
    for sentence in _split(text):
        if 15 <= len(sentence) <= 300 and _length(sentence) >= 4 and _reads(sentence) and says_something(sentence):
            yield sentence
            found += 1
            if found == 3:
                return


def _without(text: str, opening: str) -> str:
    begins = text[: len(opening)].casefold() == opening.casefold()
    return text[len(opening) :].lstrip(" .:-|!") if begins else text


def _openings(text: str) -> list[str]:
    """The longest status phrase that the text opens with, as headings do. It ends with a word of the phrase: an article
    after it opens the next sentence.
    """
    words = text[:80].split()[:6]
    found: list[str] = []
    core: list[str] = []
    for count, word in enumerate(words, 1):
        more = _words(word)
        core += more
        ends = bool(more) or word.casefold().strip(".:!") == "error" or word.isdigit()
        if ends and " ".join(core) in _BARE:
            found = [" ".join(words[:count])]
    return found


def _split(text: str) -> Iterator[str]:
    start = 0
    for at, char in enumerate(text):
        ends = char in "。!?！？" or (char == "." and (at + 1 == len(text) or text[at + 1] == " "))
        if ends:
            yield text[start : at + 1].strip()
            start = at + 1


_NO_PROSE = (
    "copyright", "©", "powered by", "server at ", "nginx/", "apache/", "all rights", "skip to ", "jump to ",
    "toggle navigation", "open menu", "trademark",
    "return to ", "go back", "back to ",
)  # fmt: skip


def _reads(sentence: str) -> bool:
    """Whether this is prose: no footer, no product line of a server, no code."""
    folded = sentence.casefold()
    signs = sum(1 for char in sentence if char in "{}<>=;\\|#$")
    words = sentence.split()
    capitals = sum(1 for word in words if word[0].isupper())
    # A menu read as text is a row of titles. German capitalises its nouns and stays under the half.
    is_menu = len(words) >= 10 and capitals * 5 > len(words) * 3
    return signs <= 1 and not is_menu and not any(mark in folded for mark in _NO_PROSE)


def _length(text: str) -> int:
    """Words; scripts without spaces count four letters as one."""
    wide = sum(1 for char in text if "\u3040" <= char <= "\u9fff" or "\uac00" <= char <= "\ud7af")
    return len(text.split()) + wide // 4


def _names_host(part: str, host: str) -> bool:
    squeezed = "".join(char for char in part.casefold() if char.isalnum())
    bare = "".join(char for char in host.casefold() if char.isalnum())
    return bool(squeezed) and bool(bare) and (squeezed in bare or bare in squeezed)
