"""The members of an envelope that are absent unless known: faults, links, offers, the original."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from saywhy.core.compose import sentences
from saywhy.core.compose.draft import Draft
from saywhy.core.compose.texts import Texts
from saywhy.core.contract.envelope import CONTEXT, FieldFault
from saywhy.core.contract.envelope import Evidence as EvidencePart
from saywhy.core.model import Evidence
from saywhy.core.scrub import Clean

_MAX_ERRORS = 20
_MAX_ORIGINAL = 16_384  # bytes; the longest validation report in the wild that an agent could still use
_MAX_PART = 4096


def extras(draft: Draft) -> dict[str, Any]:
    """The members that are absent unless known."""
    texts, found, first = draft.texts, draft.found, draft.first
    request = found.head.request
    page = f"{request.scheme}://{draft.host}{request.path}" if draft.host else ""
    if not draft.voices and found.original is None:  # the status alone spoke
        instance = _instance(draft, page)
        return {} if instance is None else {"instance": instance}
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
        "instance": _instance(draft, page),
        "evidence": _evidence(decider, texts),
    }
    return {name: value for name, value in parts.items() if value is not None}


def _instance(draft: Draft, page: str) -> Clean | None:
    """The path that failed, where it is asked for and reads as an address."""
    if not draft.found.instance:
        return None
    path = draft.found.head.request.path
    return draft.texts.url(path, page) and draft.texts.exact(path, 500)


def _original(draft: Draft) -> dict[str, Any]:
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


def _errors(draft: Draft) -> tuple[FieldFault, ...] | None:
    """Several faults; a single one is already told by `field` and `message`."""
    faults = draft.first(lambda one: one.errors) or ()
    if len(faults) < 2:
        return None
    texts = draft.texts
    parts = []
    for fault in faults[:_MAX_ERRORS]:
        message = texts.text(fault.message, 300) or sentences.own("This value was not accepted.")
        pointer = texts.pointer(fault.pointer, 200)
        parts.append(FieldFault(field=texts.name(fault.field, 200), message=message, pointer=pointer))
    return tuple(parts)


def _evidence(decider: Evidence | None, texts: Texts) -> EvidencePart | None:
    if decider is None or not decider.rule:
        return None
    rule = texts.exact(decider.rule, 200)
    return EvidencePart(rule=rule, signals=texts.texts(decider.signals, 100, 8) or ()) if rule else None
