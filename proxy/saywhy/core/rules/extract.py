"""What a rule takes out of a response, and how its texts are put together. Everything stays raw: compose cleans it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import re2

from saywhy.core.model import Evidence
from saywhy.core.page import Selector, point
from saywhy.core.page.html import fold_space
from saywhy.core.page.selector import attribute, element_text, followed_text
from saywhy.core.rules.exam import Exam, PastBound
from saywhy.core.rules.shape import Extract, Then

_LONGEST = 500
"""Characters of one value; the envelope's message has no more."""

_PLACEHOLDER = re2.compile(r"\{([a-z][a-z0-9_]*)\}")
_NUMBER = re2.compile(r"\d{1,9}")
_SECONDS = {"seconds": 1, "minutes": 60, "hours": 3600}
_TEXTS = ("message", "field", "documentation_url", "continue_url")


def placeholders(text: str) -> list[str]:
    """The names that stand in braces in a text of a rule."""
    return list(_PLACEHOLDER.findall(text))


class Saying(NamedTuple):
    """A rule's `then`, ready to be said."""

    then: Then
    selectors: Mapping[str, Selector]

    @classmethod
    def of(cls, then: Then) -> Saying:
        """Compile the selectors of `then`."""
        return cls(
            then, {name: Selector(spec.css) for name, spec in then.extract.items() if spec.css is not None}
        )

    def _value(self, exam: Exam, name: str, spec: Extract) -> str | None:
        page = exam.page
        found: str | None = None
        if spec.css is not None:
            element = exam.first(self.selectors[name])
            if element is not None:
                found = (
                    attribute(element, spec.attr)
                    if spec.attr
                    else followed_text(element, spec.follow)
                    if spec.follow
                    else element_text(element)
                )
        elif spec.json_ is not None:
            value = point(page.json, spec.json_)
            found = (
                str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else None
            )
        elif spec.header is not None:
            found = exam.head.response.fields.get(spec.header.lower())
        else:
            found = exam.in_place(spec.in_)[0]
        if found is not None and spec.re is not None:
            match = spec.re.search(found[:65536])
            found = match.group(min(spec.group, spec.re.groups)) if match else None
        if not found:
            return None
        return fold_space(found)[:_LONGEST] or None

    def _values(self, exam: Exam) -> dict[str, str]:
        values: dict[str, str] = {}
        for name, spec in self.then.extract.items():
            try:
                value = self._value(exam, name, spec)
            except PastBound:
                continue
            if value is not None:
                values[name] = value
        return values

    def _wait(self, values: Mapping[str, str]) -> int | None:
        if "retry_after" in values:
            number = _NUMBER.search(values["retry_after"])
            if number:
                seconds = int(number.group(0)) * _SECONDS[self.then.extract["retry_after"].unit]
                return seconds if seconds > 0 else self.then.retry_after
        return self.then.retry_after

    def evidence(self, exam: Exam | None, base: Evidence) -> Evidence:
        """`base` (rule, code, signals) with what `then` says; `exam` None: heads alone, nothing is extracted."""
        then = self.then
        values = self._values(exam) if exam is not None and then.extract else {}
        texts = {name: values.get(name) or fill(getattr(then, name), values) for name in _TEXTS}
        for name in ("documentation_url", "continue_url"):
            if not (texts[name] or "").startswith(("https://", "http://", "/")):
                texts[name] = None
        alternatives = []
        for row in then.alternatives:
            filled = {key: fill(text, values) for key, text in row.items()}
            if None not in filled.values():
                alternatives.append(filled)
        return Evidence(
            decided_by=base.decided_by,
            code=then.code,
            message=texts["message"],
            wording=fill(then.message, values),
            field=texts["field"],
            retry_after=self._wait(values),
            rule=base.rule,
            signals=base.signals,
            documentation_url=texts["documentation_url"],
            continue_url=texts["continue_url"],
            alternatives=tuple(alternatives),
            outranks_failure=base.outranks_failure,
            on_success=base.on_success,
        )


def fill(text: str | None, values: Mapping[str, str]) -> str | None:
    """`text` with `{name}` replaced by what was extracted; None where a name has no value: half a sentence misleads."""
    if text is None or "{" not in text:
        return text
    missing = False

    def value(match: re2._Match) -> str:
        nonlocal missing
        missing = missing or match.group(1) not in values
        return values.get(match.group(1), "")

    filled: str = _PLACEHOLDER.sub(value, text)
    return None if missing else filled[:_LONGEST]
