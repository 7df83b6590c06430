"""How long to wait, as a text says it: "Please try again in 90 seconds". For answers whose fields name no wait."""

from __future__ import annotations

import math
from typing import Any

import re2

from saywhy.core.hints.wait import CAP

_LONGEST = 1000
"""Characters that are read: a page with more tells a story of its own."""

_UNITS = (
    (1, "s|secs?|seconds?|sekunden?|secondes?|segundos?|second[io]|seconden|sekunder|секунд[а-я]?|秒"),
    (60, "m|mins?|minutes?|minuten?|minutos?|minut[io]|minuter|минут[а-я]?|分钟|分鐘|分"),
    (3600, "h|hrs?|hours?|stunden?|heures?|horas?|or[ae]|uur|uren|час(?:а|ов)?|小时|小時|時間"),
    (86_400, "days?|tage?n?|jours?|d[ií]as?|giorn[io]|dagen|天|日"),
)
"""Seconds, and the words for as many of them."""

_SPAN = r"(\d{1,6}(?:\.\d{1,6})?)[ -]?(?:" + "|".join(f"({words})" for _, words in _UNITS) + ")"
_ASKS = (
    r"(?:(?:try|retry)(?: (?:your|the|this) request| it)?|retry[-_]after|wait|wait time|come back|back|available(?: again)? in"
    r"|resets?|warten(?: sie)?|versuchen? (?:sie )?es|réessaye[rz]|patiente[rz]|attend(?:re|ez)|revenez"
    r"|int[eé]nt(?:e|a|elo|alo)|reintent[ea]|intentarlo|esper[ea]|tent[ea]r?|aguarde|riprova(?:re)?|riprovi|attend[ia]"
    r"|probeer(?: het)?|wacht|försök|vänta|повторите|попробуйте|подождите)"
)
_LINKS = (
    r"(?:[\s:,]+(?:again|for|at|least|about|around|approximately|roughly|another|after|in|the|next|online|please"
    r"|bitte|noch|mindestens|etwa|erneut|dans|après|pendant|encore|au|moins|environ|de|nuevo|otra|vez|en|dentro|después"
    r"|durante|unos|al|menos|novamente|em|após|por|pelo|cerca|tra|fra|dopo|di|nuovo|per|almeno|circa|over|opnieuw|na|nog|om"
    r"|igen|снова|через|ещё|еще)){0,6}"
)
_END = r"(?:[^\pL\pN]|\z)"
_FORMS = (
    re2.compile(rf"(?i)(?:\A|[^\pL]){_ASKS}{_LINKS}[\s:,=]+{_SPAN}(?:(?: and| und| et| y| e| en|,)? ?{_SPAN})?{_END}"),
    re2.compile(rf"(?i)(?:\A|[^\pL])(?:in|nach) {_SPAN} (?:bitte )?(?:erneut|wieder|noch ?mals|noch ?einmal){_END}"),
    re2.compile(rf"{_SPAN}\s?(?:後|后|之后|以后|後に)"),
)  # fmt: skip


def spoken_wait(text: str) -> int | None:
    """Whole seconds, rounded up and at most `CAP`, that `text` (its first thousand characters) asks to wait, or None.
    A number counts only behind the words that ask: "100 requests in 60 seconds" asks nothing.
    """
    text = " ".join(text[:_LONGEST].encode("utf-8", "ignore").decode().split())
    if not any(map(str.isdigit, text)):
        return None
    match = next((found for form in _FORMS if (found := form.search(text)) is not None), None)
    seconds = sum(_spans(match.groups())) if match is not None else 0
    return min(math.ceil(seconds), CAP) if seconds > 0 else None


def _spans(groups: tuple[Any, ...]) -> list[float]:
    """The seconds of each number with its unit; one that took no part is none."""
    width = 1 + len(_UNITS)
    found: list[float] = []
    for at in range(0, len(groups), width):
        number, *units = groups[at : at + width]
        if number is not None:
            found += [
                float(number) * seconds for (seconds, _), unit in zip(_UNITS, units, strict=True) if unit
            ]
    return found
