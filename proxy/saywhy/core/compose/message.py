"""The choice of the message: the site's own words where they say something, and otherwise ours.

A status phrase, a bare "Access denied", the name of the shop or the phrase of a challenge page say nothing to somebody
who already has the code. Work is bounded: 300 characters of a title, 1,000 of a page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from http import HTTPStatus

import ahocorasick

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
    "not here", "this action is unauthorized", "the resource could not be found", "your browser sent an invalid request",
    "the page you requested cannot be found", "you have sent too many requests in a given amount of time",
    "comment submission failure", "please try again", "please try again later", "try again later", "please try again in a few minutes",
    # the same in other languages, as frameworks and Apache's own pages have it
    "page introuvable", "objet non trouvé", "non trouvé", "accès interdit", "accès refusé",
    "seite nicht gefunden", "objekt nicht gefunden", "nicht gefunden", "zugriff verweigert",
    "página no encontrada", "objeto no localizado", "no encontrado", "acceso prohibido", "acceso denegado",
    "página não encontrada", "objeto não encontrado", "não encontrado", "acesso proibido", "acesso negado",
    "pagina non trovata", "oggetto non trovato", "non trovato", "accesso vietato", "accesso negato",
    "pagina niet gevonden", "object niet gevonden", "niet gevonden", "toegang geweigerd",
    "объект не найден", "страница не найдена", "не найдено", "доступ запрещён", "доступ запрещен",
    "nesne mevcut değil", "sayfa bulunamadı", "erişim engellendi", "nie znaleziono", "nie znaleziono strony",
    "sidan hittades inte", "siden blev ikke fundet", "sivua ei löytynyt", "stránka nenalezena",
    "객체 없음", "페이지를 찾을 수 없습니다", "접근 거부", "オブジェクトが見つかりません", "ページが見つかりません",
    "アクセスが拒否されました", "找不到对象", "找不到页面", "页面不存在", "禁止访问", "找不到網頁", "找不到物件",
)  # fmt: skip

_STOCK = (
    # Apache, and Werkzeug, which took its sentences over
    "was not found on this server", "was not found on the server", "sent a request that this server could not understand",
    "could not verify that you are authorized", "how to supply the credentials", "supplied the wrong credentials",
    "permission to access this resource", "have permission to access /", "permission to access the requested resource",
    "read-protected or not readable", "is not allowed for this url", "is not allowed for the requested url",
    "temporarily unable to service your request", "exceeds the capacity limit",
    "no longer available on this server",
    "invalid response from an upstream server", "did not receive a timely response from the upstream",
    "encountered an internal error", "entered the url manually", "check your spelling and try again", "webmaster",
    # Tomcat, in the words of RFC 9110
    "the requested resource [", "find a current representation for the target", "but not supported by the target resource",
    "with the current state of the target resource", "understood the request but refuses to", "lacks valid authentication",
    "perceived to be a client error", "recurso requerido no está disponible", "ressource demandée n'est pas disponible",
    "angeforderte ressource ist nicht verfügbar", "http status ", "status report",
    # IIS, Rails, Spring, Jetty, WordPress, Squid
    "has been removed, had its name changed", "permission to view this directory or page", "invalid method (http verb)",
    "the requested resource is not found", "you were looking for doesn't exist", "may have mistyped the address",
    "no explicit mapping for /error", "problem accessing /", "nothing was found at this location",
    "requested url could not be retrieved", "following error was encountered", "angeforderte url konnte nicht", "要求されたurl", "以下のエラーが発生しました",
    # Apache in its other languages: not found, no access, check what you typed, tell somebody
    "konnte auf dem server nicht gefunden", "auf das angeforderte objekt ist nicht", "den url manuell eingegeben",
    "pas pu être trouvée sur ce serveur", "avez tapé l'url", "webmestre", "não foi encontrada neste servidor",
    "digitou o endereço", "no se ha localizado en este servidor", "no ha sido encontrad", "ha tecleado",
    "su questo server", "digitato manualmente", "niet gevonden op deze server", "handmatig", "запрашиваемый ресурс не найден",
    "ввели адрес", "веб-мастеру", "sunucu üzerinde bulunmuyor", "elle girdiyseniz", "site yöneticisi",
    "이 서버에서 찾을 수 없", "직접 입력하셨다면", "웹 관리자", "本サーバでは見つかりません", "手入力で", "ウェブ管理者",
    "该服务器上未找到", "手动输入的", "网站管理员",
    "that page can't be found", "conflict happened while processing the request", 'the server returned a "',
)  # fmt: skip
"""What servers and frameworks say of a status in their sleep: part of a sentence that tells nothing beside the code."""


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
    """Whether `text` tells more than a status does, and is not the phrase of a challenge page or a stock one."""
    text = text[:500]
    if _core(text) in _BARE or is_challenge(text) or _is_printout(text):
        return False
    return not is_stock(text) or not all(
        is_stock(one) or _core(one) in _BARE for one in _split(text, rest=True)
    )


_PRINTOUT = re.compile(
    r":\d{1,9}:\d{1,9}:(?:FATAL|ERROR|WARNING):|(?:^|\s)(?:\[\s*\]|\(\s*\)|\{\s*\}|''|\"\")(?=[\s.,:;!]|$)"
)
"""A log line of a parser (libxml2: file, line, column, level), and brackets or quotes whose content never came."""


def _is_printout(text: str) -> bool:
    """Whether `text` is what a program printed for its maker, or a sentence with a hole in it."""
    return _PRINTOUT.search(text) is not None


def is_challenge(text: str) -> bool:
    """Whether `text` is what a page says while it tests a browser."""
    return _holds(text, _CHALLENGE)


def is_stock(text: str) -> bool:
    """Whether `text` is a sentence that a server or a framework has ready for its status."""
    return _holds(text, _READY_MADE)


def _automaton(phrases: tuple[str, ...]) -> ahocorasick.Automaton:
    made = ahocorasick.Automaton()
    for phrase in phrases:
        made.add_word(phrase, phrase)
    made.make_automaton()
    return made


_CHALLENGE, _READY_MADE = _automaton(_CHALLENGES), _automaton(_STOCK)


def _holds(text: str, phrases: ahocorasick.Automaton) -> bool:
    folded = " ".join(text.casefold().split()).replace("’", "'")
    return next(phrases.iter(folded), None) is not None


def from_title(title: str, host: str) -> str | None:
    """The part of a page's title that says something, or None.

    Titles join a phrase with the name of the site. The first part counts with three words, any other with four, for
    that is mostly the name and its slogan; and so is all that stands beside a status phrase.
    """
    title = " ".join(title[:300].split())
    if not title or "://" in title or _core(title) in _BARE or is_challenge(title) or is_stock(title):
        return None
    parts = [title]
    for separator in _SEPARATORS:
        parts = [piece.strip() for part in parts for piece in part.split(separator)]
    bare = [part for part in parts if _core(part) in _BARE]
    good = [
        part
        for place, part in enumerate(parts)
        if part not in bare and _length(part) >= (4 if bare or place else 3) and not _names_host(part, host)
    ]
    return good[0] if good else None


def sentences(text: str, title: str, lines: Iterable[str] | None = None) -> Iterator[str]:
    """The first sentences of a small page that say something. `lines`: the text block by block, so that no menu is read
    into a sentence. A large page starts with its navigation: none.
    """
    if len(text) > _SMALL:
        return
    title = title.strip() if _core(title) not in _BARE else ""  # a bare one goes with the phrases
    found = 0
    for line in (text,) if lines is None else lines:
        if title:
            line = _without(line, title)  # a heading that repeats it
        if len(line) < 15:
            continue
        if is_stock(line):
            return  # the server's own page: what follows is as ready-made
        for opening in _openings(line):
            line = _without(line, opening)
        for sentence in _split(line):
            if (
                15 <= len(sentence) <= 300
                and _length(sentence) >= 4
                and _reads(sentence)
                and says_something(sentence)
            ):
                yield sentence
                found += 1
                if found == 3:
                    return


_SMALL = 1000
"""Characters of visible text. A page with more has a menu, a footer and a story of its own."""


def _without(text: str, opening: str) -> str:
    """`text` behind `opening`, where another sentence begins there: "Request forbidden by a rule" is one."""
    if text[: len(opening)].casefold() != opening.casefold():
        return text
    rest = text[len(opening) :].lstrip(" .:-–|!")
    return text if rest[:1].islower() else rest


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


def _split(text: str, *, rest: bool = False) -> Iterator[str]:
    """The sentences of `text` that end, and with `rest` what is left."""
    start = 0
    for stop in _STOP.finditer(text):
        at = stop.start()
        if text.count("(", start, at) == text.count(")", start, at):  # no end within "(e.g. this)"
            yield text[start : at + 1].strip()
            start = at + 1
    if rest and text[start:].strip():
        yield text[start:].strip()


_STOP = re.compile(r"[。!?！？]|\.(?= |$)")

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
    """Words, signs like `&` not counted; scripts without spaces count four letters as one."""
    words = sum(1 for word in text.split() if any(map(str.isalnum, word)))
    if text.isascii():
        return words
    return (
        words + sum(1 for char in text if "\u3040" <= char <= "\u9fff" or "\uac00" <= char <= "\ud7af") // 4
    )


def _names_host(part: str, host: str) -> bool:
    squeezed = "".join(char for char in part.casefold() if char.isalnum())
    bare = "".join(char for char in host.casefold() if char.isalnum())
    return bool(squeezed) and bool(bare) and (squeezed in bare or bare in squeezed)
