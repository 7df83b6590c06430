"""What the parts of an envelope need to know of each other, settled before any of them is written: the code, who may
speak beside it, the wait, the advice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
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
from saywhy.core.hints.spoken import spoken_wait
from saywhy.core.hints.wait import CAP, retry_after, wait
from saywhy.core.model import Evidence, Head
from saywhy.core.scrub.clean import Clean

if TYPE_CHECKING:
    from saywhy.core.page import Page

_T = TypeVar("_T")

_SMALL_PAGE = 1000
"""Characters of visible text."""


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
    """Seconds to wait or None; whether the site itself named them; and whether it did so where programs look, which
    says that it did not act on the request.
    """

    seconds: int | None
    named: bool
    firm: bool = False


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
    waits = _wait(found, row, voices, now)
    advice = advise(
        row,
        method=request.method.upper(),
        keyed="idempotency-key" in request.fields,
        status=status,
        waits=waits.firm,
        failure=None,
        given=decider,
    )
    draft = Draft(
        found, texts, choice, code, row, voices, texts.passes(public_host(request.host)), waits, advice, None
    )
    draft.field = texts.name(draft.first(lambda one: one.field or _only_field(one)), 200)
    return draft


def _wait(found: Found, row: Code, voices: Sequence[Evidence], now: float) -> Wait:
    """A wait only where the advice is to send something again: "do not retry, after 30 seconds" helps nobody."""
    decider = voices[0] if voices else None
    retry = (decider.retry if decider else None) or row.retry
    said = next((one.retry_after for one in voices if one.retry_after and one.retry_after > 0), None)
    if retry not in ("after_delay", "once", "refetch"):
        return Wait(None, False)
    fields = found.head.response.fields
    if said is None:
        said = (wait if retry == "after_delay" else retry_after)(fields, now=now)
    if said is not None:
        return Wait(CAP if said >= CAP else math.ceil(said), True, True)
    default = DEFAULT_WAIT.get(row.code)
    if retry != "after_delay" or default is None:
        return Wait(default if retry == "after_delay" else None, False)
    spoken = next((seconds for text in _told(found, voices) if (seconds := spoken_wait(text))), None)
    return Wait(spoken or default, spoken is not None)


def _told(found: Found, voices: Sequence[Evidence]) -> Iterator[str]:
    """The texts in which a site may name a wait: its own messages, then a page small enough to be about nothing else."""
    yield from (one.message for one in voices if one.message)
    if found.page is not None and len(text := found.page.text) <= _SMALL_PAGE:
        yield text


def _only_field(evidence: Evidence) -> str | None:
    return next((fault.field for fault in evidence.errors if fault.field), None)
