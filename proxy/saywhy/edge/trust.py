"""The TLS context in which a site is spoken to: whose word is taken for its certificate, and our own certificate.

What is wrong with the files is told before anything is served: setting, file, and what to do about it.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NoReturn

from saywhy.edge.files import read_bytes, unreadable
from saywhy.edge.settings import Problem, Settings, SettingsError, Unpaired, Upstream
from saywhy.edge.settings.faults import Path as Key
from saywhy.edge.settings.faults import dotted, origin_of

_FILE_BYTES: Final = 4 * 1024 * 1024
"""All CAs that Mozilla trusts are a quarter of a megabyte."""


class TrustError(ValueError):
    """A file that cannot be used. `key` is the setting; the message begins with a verb."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key


class _UnpairedError(TrustError):
    """The key is not the certificate's."""


def client_context(upstream: Upstream) -> ssl.SSLContext | None:
    """The context for `upstream`, None where it is not spoken to by TLS. Raises TrustError."""
    if not upstream.encrypted:
        return None
    try:
        return _context(upstream)
    except TrustError:
        if _falling_back and upstream in _kept:
            return _kept[upstream]
        raise


_kept: dict[Upstream, ssl.SSLContext] = {}
_falling_back = False


def keep(settings: Settings) -> None:
    """Keep the contexts of a set that is put in force, for processes that are forked from this one later: the files
    may be broken by then, and the set stays in force all the same.
    """
    for upstream in settings.upstreams.values():
        with suppress(TrustError):
            context = client_context(upstream)
            if context is not None:
                _kept[upstream] = context
    for upstream in set(_kept) - set(settings.upstreams.values()):
        del _kept[upstream]


@contextmanager
def falling_back() -> Iterator[None]:
    """While it lasts, what was kept serves where files cannot be used."""
    global _falling_back
    _falling_back = True
    try:
        yield
    finally:
        _falling_back = False


def _context(upstream: Upstream) -> ssl.SSLContext:
    if upstream.ca_file is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        _trust(context, upstream.ca_file)
    else:
        context = ssl.create_default_context()
    # As nginx and curl judge, with every version of Python: private CAs leave out what STRICT asks for (3.13 sets it),
    # and whoever names an intermediate CA as trusted means it.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    if not upstream.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if upstream.certificate_file is not None:
        _show_ours(context, upstream, upstream.certificate_file)
    return context


def require_usable(settings: Settings, origins: Mapping[Key, str]) -> None:
    """Try every file that the upstreams name. Raises SettingsError with every problem found, Unpaired where
    they are all of that kind.
    """
    problems = []
    unpaired = True
    for name, upstream in settings.upstreams.items():
        try:
            client_context(upstream)
        except TrustError as wrong:
            path: Key = ("upstreams", name, wrong.key)
            problems.append(Problem(origin_of(path, origins), dotted(path), str(wrong)))
            unpaired = unpaired and isinstance(wrong, _UnpairedError)
    if problems:
        raise (Unpaired if unpaired else SettingsError)(problems)


def files(upstream: Upstream) -> Iterator[Path]:
    """The files whose change makes a new context. A password's own file is none: it changes with its key's."""
    named = (upstream.ca_file, upstream.certificate_file, upstream.key_file)
    return (path for path in named if path is not None)


def _read(key: str, path: Path) -> str:
    try:
        return read_bytes(path, _FILE_BYTES).decode("utf-8", "replace")
    except OSError as error:
        raise TrustError(
            key, f"names {path}, which {unreadable(error)}; check the path and who may read it."
        ) from None


def _trust(context: ssl.SSLContext, path: Path) -> None:
    text = _read("ca_file", path)
    try:
        context.load_verify_locations(cadata=text)
    except (ssl.SSLError, ValueError):
        found = False
    else:
        found = bool(context.cert_store_stats()["x509"])
    if not found:
        raise TrustError(
            "ca_file", f"names {path}, in which there is no certificate; it takes PEM (BEGIN CERTIFICATE)."
        )


def _show_ours(context: ssl.SSLContext, upstream: Upstream, certificate: Path) -> None:
    key = upstream.key_file or certificate
    key_setting = "key_file" if upstream.key_file else "certificate_file"
    public, private = _read("certificate_file", certificate), _read(key_setting, key)
    if "-----BEGIN CERTIFICATE-----" not in public:
        if "PRIVATE KEY-----" in public and "-----BEGIN CERTIFICATE-----" in private:
            raise TrustError(
                "certificate_file",
                f"names {certificate}, which holds a private key, and key_file a certificate: they are swapped; write each in the other's place.",
            )
        if "PRIVATE KEY-----" in public:
            raise TrustError(
                "certificate_file",
                f"names {certificate}, which holds a private key and no certificate; name the certificate's file, and this one as key_file.",
            )
        raise TrustError(
            "certificate_file",
            f"names {certificate}, in which there is no certificate; it takes PEM (BEGIN CERTIFICATE).",
        )
    if "PRIVATE KEY-----" not in private:
        remedy = "it takes PEM (BEGIN PRIVATE KEY)" if upstream.key_file else "add it, or name key_file"
        raise TrustError(key_setting, f"names {key}, in which there is no private key; {remedy}.")
    password = _password(upstream)

    def ask() -> bytes:
        # Without this OpenSSL would ask on the terminal, and wait.
        if password is None:
            raise TrustError(
                "key_password_file",
                f"is missing: the key in {key} is encrypted; name a file with its password.",
            )
        return password

    try:
        context.load_cert_chain(certificate, key, ask)
    except ssl.SSLError as error:
        _explain(error, certificate, key, key_setting, upstream)


def _password(upstream: Upstream) -> bytes | None:
    if upstream.key_password_file is None:
        return None
    try:
        return read_bytes(upstream.key_password_file, _FILE_BYTES).rstrip(b"\r\n")
    except OSError as error:  # not by name: who mistakes the setting writes the password there
        raise TrustError(
            "key_password_file",
            f"names a file that {unreadable(error)}; check the path and who may read it.",
        ) from None


def _explain(
    error: ssl.SSLError, certificate: Path, key: Path, key_setting: str, upstream: Upstream
) -> NoReturn:
    if error.reason == "KEY_VALUES_MISMATCH":
        raise _UnpairedError(
            key_setting,
            f"names {key}, whose key is not that of the certificate in {certificate}; give the two that belong together.",
        ) from None
    if upstream.key_password_file is not None and error.reason in ("BAD_DECRYPT", None, "BAD_PASSWORD_READ"):
        raise TrustError(
            "key_password_file",
            f"names {upstream.key_password_file}, which is not the password of the key in {key}.",
        ) from None
    raise TrustError(
        "certificate_file",
        f"names {certificate}, which cannot be used with the key in {key} ({error.reason or 'not PEM'}); make both anew.",
    ) from None
