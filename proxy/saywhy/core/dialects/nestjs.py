"""NestJS, Fastify, hapi: `{"statusCode", "error", "message"}`; class-validator makes `message` a list of sentences."""

from __future__ import annotations

from saywhy.core.dialects import words
from saywhy.core.dialects.members import joined, mapping, said, text, texts, top
from saywhy.core.model import Evidence, FieldError, Head
from saywhy.core.page import Page


def read(head: Head, page: Page) -> Evidence | None:
    """The field is the first word of class-validator's sentence, Ajv's property, or joi's key."""
    body = top(page)
    if not isinstance(body.get("statusCode"), int):
        return None
    messages = texts(body.get("message"))
    if not messages:
        return None
    several = isinstance(body.get("message"), list)
    joi = texts(mapping(body, "validation").get("keys"))
    errors = [FieldError(_first_word(one) if several else words.field_in(one), one) for one in messages]
    status = head.response.status
    field = (joi[0] if joi else None) or (errors[0].field if status in (400, 422) else None)
    same = [one.message for one in errors if one.field == errors[0].field]
    missing = status in (400, 422) and field and any(map(words.says_missing, same))
    return said(
        "nestjs",
        code="missing_field" if missing else words.code_of(text(body, "code"), status),
        message=joined(errors),
        field=field,
        errors=tuple(errors) if several else (),
    )


def _first_word(sentence: str) -> str | None:
    """class-validator begins with the property's path; a path is one word of name characters."""
    word = sentence.split(" ", 1)[0].strip("\"'`")
    return (
        word
        if word and all(letter.isalnum() or letter in "_.[]$-" for letter in word) and not word[0].isupper()
        else words.field_in(sentence)
    )
