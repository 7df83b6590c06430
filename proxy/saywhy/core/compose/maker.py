"""The maker: everything that is known about one failed exchange becomes one envelope."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from saywhy.core.compose import message as messages
from saywhy.core.compose import sentences
from saywhy.core.compose.advice import Advice, advise
from saywhy.core.compose.choice import Choice, choose
from saywhy.core.compose.host import public_host
from saywhy.core.compose.texts import Texts
from saywhy.core.contract import codes, kinds
from saywhy.core.contract.codes import DEFAULT_WAIT, Code
from saywhy.core.contract.envelope import CONTEXT, Envelope, Error, FieldFault, Recovery
from saywhy.core.contract.envelope import Evidence as EvidencePart
from saywhy.core.contract.statuses import code_for_status
from saywhy.core.hints.wait import CAP, retry_after, wait
from saywhy.core.model import DecidedBy, Evidence, Head
from saywhy.core.scrub.clean import Clean

if TYPE_CHECKING:
    from saywhy.core.page import Page
    from saywhy.core.scrub import Scrubber

_T = TypeVar("_T")
_MAX_ERRORS = 20
_MAX_ORIGINAL = 16_384  # bytes; the longest validation report in the wild that an agent could still use
_MAX_PART = 4096


class Found(NamedTuple):
    """What was found about one exchange: evidence in its order; the page where there is one; the parsed structured
    body that the envelope replaces, or None; whether to name the address asked for (`instance`).
    """

    head: Head
    evidence: Sequence[Evidence] = ()
    page: Page | None = None
    original: Any = None
    instance: bool = False


class Composed(NamedTuple):
    """An envelope, what was redacted on the way by kind, and what chose its code."""

    envelope: Envelope
    redactions: Mapping[str, int]
    decided_by: DecidedBy
    rule: str | None


class Wait(NamedTuple):
    """Seconds to wait or None, and whether the site itself named them."""

    seconds: int | None
    named: bool


@dataclass(slots=True)
class _Draft:
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


def compose(found: Found, *, scrubber: Scrubber, now: float) -> Composed:
    """The envelope of a site's failure. `now` is Unix time, for waits of answers without Date."""
    texts = Texts(scrubber)
    draft = _draft(found, texts, now)
    advice, row = draft.advice, draft.row
    error = Error(
        code=draft.code,
        message=_message(draft),
        field=draft.field,
        retry=_word(texts, advice.retry, row.retry),
        retry_after=draft.wait.seconds,
        retry_after_source="default" if draft.wait.seconds and not draft.wait.named else None,
        side_effects=_word(texts, advice.side_effects, "unknown"),
        source="site",
        **_kind_and_recovery(draft),
        **_extras(draft),
    )
    decider = draft.choice.decider
    return Composed(
        Envelope(error=error), texts.redactions, draft.choice.decided_by, decider.rule if decider else None
    )  # fmt: skip


def leaks(text: str, scrubber: Scrubber) -> dict[str, int]:
    """The last check: what scrub would still redact in an answer that is ready to leave. Only empty may leave."""
    return dict(scrubber.findings(text))


def _draft(found: Found, texts: Texts, now: float) -> _Draft:
    request, status = found.head.request, found.head.response.status
    choice = choose(status, found.evidence)
    code = texts.exact(choice.code, 64)
    if code is None:  # a site's own word that scrub would not let out as it is, or nothing spoke
        choice = Choice(code_for_status(status), None, "status")
        code = sentences.own(choice.code)
    row = codes.look_up(code)
    decider = choice.decider
    # Who may speak beside the code: the evidence that decided, then the site's own structured error.
    voices = [decider] if decider is not None else []
    voices += [one for one in found.evidence if one is not decider and one.decided_by in ("dialect", "contract")]
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
    draft = _Draft(found, texts, choice, code, row, voices, texts.passes(public_host(request.host)), waits, advice, None)
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


def _message(draft: _Draft) -> Clean:
    for raw in _candidates(draft):
        clean = draft.texts.text(raw)
        if clean and messages.says_something(clean):
            return clean
    return sentences.happened(
        draft.row.code,
        status=draft.found.head.response.status,
        by_status=draft.choice.decided_by == "status",
        host=draft.host,
        field=draft.field,
        own_code=draft.row.code not in codes.CODES,
    )


def _candidates(draft: _Draft) -> list[str]:
    said = [one.message for one in draft.voices if one.message]
    faults = [one.errors[0].message for one in draft.voices if one.errors]
    page = draft.found.page
    # A page of a crashed program tells of its inside, if of anything; of a missing feature nothing at all.
    if said or page is None or page.kind not in ("html", "text") or draft.row.code == "internal":
        return [raw for raw in [*said, *faults] if messages.says_something(raw)]
    title = page.title if page.kind == "html" else ""
    good = messages.from_title(title, draft.host)
    return [*faults, *([good] if good else []), *messages.sentences(page.text, title)]


def _kind_and_recovery(draft: _Draft) -> dict[str, Any]:
    """Kind, origin and recovery: a contract body's own where it has them, else by the code's row."""
    decider, row, texts = draft.choice.decider, draft.row, draft.texts
    kind: str = row.kind
    origin: str = row.origin
    action: str = row.action
    given: Mapping[str, Any] = {}
    if decider is not None and decider.decided_by == "contract":
        if decider.kind:
            known = kinds.look_up(decider.kind)
            kind, origin, action = decider.kind, known.origin, known.action
        origin = decider.origin or origin
        given = decider.recovery or {}
    said = given.get("guidance")
    guidance = texts.text(said) if isinstance(said, str) and not draft.advice.doubtful else None
    return {
        "kind": _word(texts, kind, row.kind),
        "origin": _word(texts, origin, row.origin),
        "recovery": Recovery(
            action=_word(texts, given.get("action") or action, action),
            same_arguments=_word(texts, draft.advice.same_arguments, "discouraged"),
            guidance=guidance or _guidance(draft),
            retry_after_ms=draft.wait.seconds * 1000 if draft.wait.seconds else None,
        ),
    }


def _guidance(draft: _Draft) -> Clean:
    names = [clean for one in draft.voices for fault in one.errors[:4] if (clean := draft.texts.text(fault.field, 80))]
    scopes = draft.texts.texts(draft.first(lambda one: one.required_scopes) or (), 80, 5)
    return sentences.guidance(
        draft.row.code,
        status=draft.found.head.response.status,
        by_status=draft.choice.decided_by == "status",
        wait=draft.wait.seconds,
        waits=draft.wait.named,
        doubtful=draft.advice.doubtful,
        keyed="idempotency-key" in draft.found.head.request.fields,
        fields=list(dict.fromkeys(names or ([draft.field] if draft.field else []))),
        scopes=scopes or (),
        url=bool(draft.first(lambda one: one.continue_url)),
    )


def _extras(draft: _Draft) -> dict[str, Any]:
    """The members that are absent unless known."""
    texts, found, first = draft.texts, draft.found, draft.first
    request = found.head.request
    page = f"{request.scheme}://{draft.host}{request.path}" if draft.host else ""
    alternatives = [
        clean
        for one in (first(lambda one: one.alternatives) or ())[:10]
        if (clean := texts.mapping(one, _MAX_PART)) is not None
    ]
    decider = draft.choice.decider
    parts = {
        "errors": _errors(draft),
        "required_scopes": texts.texts(first(lambda one: one.required_scopes) or (), 200, 20),
        "documentation_url": texts.url(first(lambda one: one.documentation_url), page),
        "continue_url": texts.url(first(lambda one: one.continue_url), page),
        "payment": texts.mapping(first(lambda one: one.payment), _MAX_PART),
        "alternatives": tuple(alternatives) or None,
        "valid": texts.texts(first(lambda one: one.valid) or (), 200, 50),
        "hint": texts.text(first(lambda one: one.hint)),
        **_original(draft),
        "instance": texts.url(request.path, page) and texts.exact(request.path, 500) if found.instance else None,
        "evidence": _evidence(decider, texts),
    }
    return {name: value for name, value in parts.items() if value is not None}


def _original(draft: _Draft) -> dict[str, Any]:
    """The structured body that the envelope replaces. One in a contract is told by the envelope itself: of it only the
    contract's context is passed on, so that it does not grow at every saywhy that it comes through.
    """
    raw, texts, decider = draft.found.original, draft.texts, draft.choice.decider
    if raw is None:
        return {}
    if decider is None or decider.decided_by != "contract":
        return {"original": texts.value(raw, _MAX_ORIGINAL)}
    said = raw.get("error", raw) if isinstance(raw, Mapping) else {}
    said = said if isinstance(said, Mapping) else {}
    parts = {name: texts.value(said[name], _MAX_PART) for name in (*CONTEXT, "original") if name in said}
    kinds_said = {name: said.get(name) for name in ("original_kind", "cause")}
    return {**parts, **{name: texts.text(word) for name, word in kinds_said.items() if isinstance(word, str)}}


def _errors(draft: _Draft) -> tuple[FieldFault, ...] | None:
    """Several faults; a single one is already told by `field` and `message`."""
    faults = draft.first(lambda one: one.errors) or ()
    if len(faults) < 2:
        return None
    texts = draft.texts
    parts = []
    for fault in faults[:_MAX_ERRORS]:
        message = texts.text(fault.message, 300) or sentences.own("This value was not accepted.")
        pointer = texts.exact("#" + fault.pointer.removeprefix("#"), 200) if fault.pointer else None
        parts.append(FieldFault(field=texts.text(fault.field, 200), message=message, pointer=pointer))
    return tuple(parts)


def _evidence(decider: Evidence | None, texts: Texts) -> EvidencePart | None:
    if decider is None or not decider.rule:
        return None
    rule = texts.exact(decider.rule, 200)
    return EvidencePart(rule=rule, signals=texts.texts(decider.signals, 100, 8) or ()) if rule else None


def _only_field(evidence: Evidence) -> str | None:
    return next((fault.field for fault in evidence.errors if fault.field), None)


def _word(texts: Texts, word: object, otherwise: str) -> Clean:
    """A word of a vocabulary: a known one as it is, a site's own only where scrub leaves it alone."""
    if word == otherwise:
        return sentences.own(otherwise)
    return (texts.exact(word, 64) if isinstance(word, str) else None) or sentences.own(otherwise)
