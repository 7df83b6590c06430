"""What the parts of an envelope need to know of each other, settled before any of them is written: the code, who may
speak beside it, the wait, the advice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from saywhy.core.compose import sentences
from saywhy.core.compose.advice import Advice, advise
from saywhy.core.compose.choice import Choice, choose
from saywhy.core.compose.host import public_host
from saywhy.core.compose.texts import Texts
from saywhy.core.contract import codes
from saywhy.core.contract.codes import DEFAULT_WAIT, Code
from saywhy.core.contract.statuses import code_for_status
from saywhy.core.hints.wait import CAP, retry_after, wait
from saywhy.core.model import Evidence, Head
from saywhy.core.scrub.clean import Clean

if TYPE_CHECKING:
    from saywhy.core.page import Page

_T = TypeVar("_T")


class Found(NamedTuple):
    """What was found about one exchange: evidence in its order; the page where there is one; the parsed structured
    body that the envelope replaces, or None; whether to name the address asked for (`instance`).
    """

    head: Head
    evidence: Sequence[Evidence] = ()
    page: Page | None = None
    original: Any = None
    instance: bool = False


class Wait(NamedTuple):
    """Seconds to wait or None, and whether the site itself named them."""

    seconds: int | None
    named: bool


@dataclass(slots=True)
class Draft:
    """What the parts of an envelope need to know of each other."""

    found: Found
    texts: Texts
    choice: Choice
    code: Clean
    row: Code
    voices: list[Evidence]
    host: str
    wait: Wait
    advice: Advice
    field: Clean | None

    def first(self, ask: Callable[[Evidence], _T | None]) -> _T | None:
        """The first answer among the voices."""
        return next((value for one in self.voices if (value := ask(one))), None)


def draft_of(found: Found, texts: Texts, now: float) -> Draft:
    """The draft of one envelope; what is raw goes through `texts`. `now` is Unix time."""
    request, status = found.head.request, found.head.response.status
    choice = choose(status, found.evidence)
    code: Clean | None = (
        sentences.word(choice.code) if choice.code in codes.CODES else texts.exact(choice.code, 64)
    )
    if code is None:  # a site's own word that scrub would not let out as it is, or nothing spoke
        choice = Choice(code_for_status(status), None, "status")
        code = sentences.word(choice.code)
    row = codes.look_up(code)
    decider = choice.decider
    # Who may speak beside the code: the evidence that decided, then the site's own structured error.
    voices = [decider] if decider is not None else []
    voices += [
        one for one in found.evidence if one is not decider and one.decided_by in ("dialect", "contract")
    ]
    waits = _wait(found.head, row, voices, now)
    advice = advise(
        row,
        method=request.method.upper(),
        keyed="idempotency-key" in request.fields,
        status=status,
        waits=waits.named,
        failure=None,
        given=decider,
    )
    draft = Draft(
        found, texts, choice, code, row, voices, texts.passes(public_host(request.host)), waits, advice, None
    )
    draft.field = texts.text(draft.first(lambda one: one.field or _only_field(one)), 200)
    return draft


def _wait(head: Head, row: Code, voices: Sequence[Evidence], now: float) -> Wait:
    """A wait only where the advice is to send something again: "do not retry, after 30 seconds" helps nobody."""
    decider = voices[0] if voices else None
    retry = (decider.retry if decider else None) or row.retry
    said = next((one.retry_after for one in voices if one.retry_after and one.retry_after > 0), None)
    if retry not in ("after_delay", "once", "refetch"):
        return Wait(None, False)
    if said is None and retry == "after_delay":
        said = wait(head.response.fields, now=now)
    elif said is None:
        said = retry_after(head.response.fields, now=now)
    if said is not None:
        return Wait(min(math.ceil(said), CAP), True)
    default = DEFAULT_WAIT.get(row.code)
    return Wait(default if retry == "after_delay" else None, False)


def _only_field(evidence: Evidence) -> str | None:
    return next((fault.field for fault in evidence.errors if fault.field), None)
