"""How callers come in: the listeners, TLS to callers, and how many processes serve them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator

from saywhy.edge.settings.addresses import parse_address
from saywhy.edge.settings.model import Section, as_words

Key = tuple[str, ...]


def as_address(value: Any) -> Any:
    """A bare port in YAML is a number; as a text it is told what it lacks."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _as_listeners(value: Any) -> Any:
    if value is False or value is None or value == "off":
        return ()
    value = as_words(as_address(value))
    return [as_address(one) for one in value] if isinstance(value, list) else value


def check_listeners(listeners: tuple[str, ...]) -> tuple[str, ...]:
    """`listeners`, each of which is an address. Raises ValueError with a sentence."""
    for one in listeners:
        parse_address(one)
    return listeners


def _as_version(value: Any) -> Any:
    """1.2 in YAML is a number. Raises ValueError: the nearest word would be a guess."""
    version = str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
    if isinstance(version, str) and version not in ("1.2", "1.3"):
        raise ValueError("write 1.2 or 1.3; what came before is broken (RFC 8996)")
    return version


Listeners = Annotated[tuple[str, ...], BeforeValidator(_as_listeners)]
Workers = Annotated[
    int,
    Field(
        default=1,
        ge=1,
        le=256,
        description="Processes that serve, under one parent; 1 is one process without a parent, which is what a container wants: replicas scale it. More use more cores of one machine, and take 30 MB each beside the first 80 MB, and what `limits` allow: they count for each process.",
    ),
]


class Tls(Section):
    """HTTPS for callers; HTTP/1.1 alone is offered (ALPN). Files are read again at every reload."""

    listen: Listeners = Field(
        default=(),
        description="As the top's `listen`, unix:/path too, for HTTPS, beside it; with `listen: off` there is HTTPS alone.",
    )
    certificate_file: Path | None = Field(
        default=None,
        description="PEM: the certificate, then those that lead to its root. Changed files are noticed: new handshakes use them, no connection ends.",
    )
    key_file: Path | None = Field(
        default=None, description="PEM: its private key. None: it is in certificate_file."
    )
    key_password_file: Path | None = Field(
        default=None, description="The password of an encrypted key, in a file: settings hold no secrets."
    )
    client_ca_file: Path | None = Field(
        default=None,
        description="PEM: who may call. Where it is given, callers without a certificate from it are turned away in the handshake.",
    )
    minimum_version: Annotated[Literal["1.2", "1.3"], BeforeValidator(_as_version)] = Field(
        default="1.2", description="1.2 or 1.3. Older ones are broken (RFC 8996)."
    )

    @field_validator("listen")
    @classmethod
    def _listen(cls, listeners: tuple[str, ...]) -> tuple[str, ...]:
        return check_listeners(listeners)

    @field_validator("certificate_file", "key_file", "key_password_file", "client_ca_file", mode="before")
    @classmethod
    def _empty_is_none(cls, file: Any) -> Any:
        return None if file == "" else file

    @property
    def files(self) -> tuple[Path, ...]:
        """All files that belong to it."""
        if not self.listen:
            return ()
        named = (self.certificate_file, self.key_file, self.key_password_file, self.client_ca_file)
        return tuple(file for file in named if file is not None)


def clashes(listen: tuple[str, ...], tls: Tls, admin: str) -> Iterator[tuple[Key, Key, str]]:
    """(setting, the earlier one, sentence) for each address that cannot be listened on beside an earlier one."""
    named: list[tuple[Key, str]] = [(("listen",), one) for one in listen]
    named += [(("tls", "listen"), one) for one in tls.listen]
    named += [(("admin",), admin)] if admin else []
    for place, (key, text) in enumerate(named):
        for other, taken in named[:place]:
            if parse_address(text).collides(parse_address(taken)):
                whose, mine = ".".join(other), ".".join(key)
                remedy = "write it once" if key == other else f"give {whose} or {mine} another"
                as_well = f"{whose} has {taken}" if text != taken else f"{whose} has it too"
                yield key, other, f"is {text}, and {as_well}; {remedy}."
                break


def half_given(tls: Tls, *, switched_off: bool) -> Iterator[tuple[str, str]]:
    """(setting of tls, sentence) for HTTPS that is half there. `switched_off`: tls.listen was written, and is none."""
    if tls.listen:
        if tls.certificate_file is None:
            yield (
                "certificate_file",
                "is missing: HTTPS needs a certificate; name its file (and tls.key_file).",
            )
        return
    given = [key for key in TLS_FILES if getattr(tls, key) is not None]
    if given and not switched_off:
        yield (
            given[0],
            "is given, and no HTTPS is served: add tls.listen, such as 0.0.0.0:8443, or write it as off.",
        )


TLS_FILES = ("certificate_file", "key_file", "key_password_file", "client_ca_file")
"""Keys of `tls` that are paths: relative ones are taken from the settings file's folder."""
