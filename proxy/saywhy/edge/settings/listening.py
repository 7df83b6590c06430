"""How callers come in: the listeners, TLS to callers, and how many processes serve them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from saywhy.edge.settings.addresses import parse_address
from saywhy.edge.settings.model import Section, as_words


def _as_listeners(value: Any) -> Any:
    if value in (False, None, "off"):
        return ()
    return as_words(value)


def check_listeners(listeners: tuple[str, ...]) -> tuple[str, ...]:
    """`listeners`, each of which is an address. Raises ValueError with a sentence."""
    for one in listeners:
        parse_address(one)
    return listeners


def _as_text(value: Any) -> Any:
    """1.2 in YAML is a number."""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


Listeners = Annotated[tuple[str, ...], BeforeValidator(_as_listeners)]
Workers = Annotated[
    int,
    Field(
        default=1,
        ge=1,
        le=256,
        description="Processes that serve, under one parent; 1 is one process without a parent, which is what a container wants: replicas scale it. More use more cores of one machine. `limits` count for each process.",
    ),
]


class Tls(Section):
    """HTTPS for callers; HTTP/1.1 alone is offered (ALPN). Files are read again at every reload."""

    listen: Listeners = Field(
        default=(),
        description="As the top's `listen`, for HTTPS, beside it; `listen: off` leaves HTTPS alone.",
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
    minimum_version: Annotated[Literal["1.2", "1.3"], BeforeValidator(_as_text)] = Field(
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

    @model_validator(mode="after")
    def _whole(self) -> Tls:
        if self.listen and self.certificate_file is None:
            raise ValueError("HTTPS needs a certificate; set tls.certificate_file (and tls.key_file)")
        return self

    @property
    def files(self) -> tuple[Path, ...]:
        """All files that belong to it."""
        if not self.listen:
            return ()
        named = (self.certificate_file, self.key_file, self.key_password_file, self.client_ca_file)
        return tuple(file for file in named if file is not None)


TLS_FILES = ("certificate_file", "key_file", "key_password_file", "client_ca_file")
"""Keys of `tls` that are paths: relative ones are taken from the settings file's folder."""
