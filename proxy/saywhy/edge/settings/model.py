"""What every section of the settings is made of: frozen, strict about its keys, and lists that may be written as words."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError


def as_words(value: Any) -> Any:
    """One word, or words with commas between, for a list: how lists are written in the environment."""
    if isinstance(value, str):
        return tuple(word.strip() for word in value.split(",") if word.strip())
    return value


def _off_is_a_word(value: Any) -> Any:
    """YAML 1.1 reads a bare `off` as false; where `off` is one of the words, it was meant."""
    return "off" if value is False else value


Words = Annotated[tuple[str, ...], BeforeValidator(as_words)]
Folders = Annotated[tuple[Path, ...], BeforeValidator(as_words)]
Mode = Annotated[Literal["enforce", "shadow", "off"], BeforeValidator(_off_is_a_word)]
Scrub = Annotated[Literal["agents", "everyone", "off"], BeforeValidator(_off_is_a_word)]


class Section(BaseModel):
    """Frozen; a key that is not a field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _true_is_no_number(cls, value: Any, info: ValidationInfo) -> Any:
        """To pydantic it is 1."""
        kind = cls.model_fields[info.field_name or ""].annotation
        if isinstance(value, bool) and kind in (int, float):
            raise PydanticCustomError("int_type" if kind is int else "float_type", "it must be a number")
        return value
