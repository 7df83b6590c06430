"""The maker: everything that is known about one failed exchange becomes one envelope."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from saywhy.core.compose import message as messages
from saywhy.core.compose import sentences
from saywhy.core.compose.advice import ACTIONS
from saywhy.core.compose.draft import Draft, Found, draft_of
from saywhy.core.compose.extras import extras
from saywhy.core.compose.texts import Texts
from saywhy.core.contract import codes, kinds
from saywhy.core.contract.envelope import Envelope, Error, Recovery
from saywhy.core.model import DecidedBy
from saywhy.core.scrub.clean import Clean

if TYPE_CHECKING:
    from saywhy.core.scrub import Scrubber


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


class Composed(NamedTuple):
    """An envelope, what was redacted on the way by kind, and what chose its code."""

    envelope: Envelope
    redactions: Mapping[str, int]
    decided_by: DecidedBy
    rule: str | None


def compose(found: Found, *, scrubber: Scrubber, now: float) -> Composed:
    """The envelope of a site's failure. `now` is Unix time, for waits of answers without Date."""
    texts = Texts(scrubber)
    draft = draft_of(found, texts, now)
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
        **extras(draft),
    )
    decider = draft.choice.decider
    rule = decider.rule if decider else None
    return Composed(Envelope(error=error), texts.redactions, draft.choice.decided_by, rule)


def leaks(text: str, scrubber: Scrubber) -> dict[str, int]:
    """The last check: what scrub would still redact in an answer that is ready to leave. Only empty may leave."""
    return {} if scrubber.is_clean(text) else dict(scrubber.findings(text))


def leaking(envelope: Envelope, scrubber: Scrubber) -> dict[str, int]:
    """As `leaks`, of a whole envelope: its members under their names, but for what is constant in it."""
    strange = envelope.strange()
    return leaks(_ENCODER.encode(strange), scrubber) if strange else {}


def _message(draft: Draft) -> Clean:
    wordings = [one.wording for one in draft.voices if one.wording]
    for raw in chain(_candidates(draft), wordings):
        clean = draft.texts.text(raw)
        if clean and (raw in wordings or messages.says_something(clean)):
            return clean
    return sentences.happened(
        draft.row.code,
        status=draft.found.head.response.status,
        by_status=draft.choice.decided_by == "status",
        host=draft.host,
        field=draft.field,
        own_code=draft.row.code not in codes.CODES,
    )


def _candidates(draft: Draft) -> Iterator[str]:
    """What the site says, the likeliest first; made as it is asked for."""
    said = [one.message for one in draft.voices if one.message]
    faults = [one.errors[0].message for one in draft.voices if one.errors]
    page = draft.found.page
    # A page of a crashed program tells of its inside, if of anything; of a missing feature nothing at all.
    if said or page is None or page.kind not in ("html", "text") or draft.row.code == "internal":
        own = {one.wording for one in draft.voices}
        yield from (raw for raw in (*said, *faults) if raw in own or messages.says_something(raw))
        return
    yield from faults
    title = page.title if page.kind == "html" else ""
    if title and (good := messages.from_title(title, draft.host)):
        yield good
    yield from messages.sentences(page.text, title, page.lines)


def _kind_and_recovery(draft: Draft) -> dict[str, Any]:
    """Kind, origin and recovery: a contract body's own where it has them, else by the code's row."""
    decider, row, texts = draft.choice.decider, draft.row, draft.texts
    kind: str = row.kind
    origin: str = row.origin
    action: str = row.action
    given: Mapping[str, Any] = {}
    if row.code not in codes.CODES and draft.wait.seconds:
        action = "retry_later"  # advised `once`, and the site says when
    if decider is not None and decider.decided_by == "contract":
        if decider.kind:
            known = kinds.look_up(decider.kind)
            kind, origin, action = decider.kind, known.origin, known.action
        elif decider.retry and decider.retry != row.retry:
            action = ACTIONS.get(decider.retry, action)
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


def _guidance(draft: Draft) -> Clean:
    names = [
        clean
        for one in draft.voices
        for fault in one.errors[:4]
        if (clean := draft.texts.name(fault.field, 80))
    ]
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
        retry=draft.advice.retry if draft.advice.retry != draft.row.retry else "",
        allow=sentences.methods(draft.found.head.response.fields.joined("allow")),
    )


def _word(texts: Texts, word: object, otherwise: str) -> Clean:
    """A word of a vocabulary: a known one as it is, a site's own only where scrub leaves it alone."""
    if word == otherwise or (isinstance(word, str) and sentences.is_word(word)):
        return sentences.word(str(word))
    return (texts.exact(word, 64) if isinstance(word, str) else None) or sentences.word(otherwise)
