"""The files of a site's TLS: what is wrong with them is said before anything is served, with setting, file and remedy."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any

import pytest
from certificates import Pair, authority, issued

from saywhy.edge.assemble import digest
from saywhy.edge.settings import Settings, SettingsError, Upstream, load
from saywhy.edge.settings.upstreams import FILES
from saywhy.edge.trust import TrustError, client_context, falling_back, keep, require_usable


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Pair]:
    folder = tmp_path_factory.mktemp("trust")
    ca = authority(folder)
    made = {name: issued(folder, ca, name) for name in ("one", "two")}
    made["locked"] = issued(folder, ca, "locked", password="opensesame")  # a test's
    (folder / "right").write_text("opensesame\n")
    (folder / "wrong").write_text("shut\n")
    (folder / "empty.pem").write_text("nothing here\n")
    (folder / "pipe").mkdir()
    return {**made, "ca": ca}


def _upstream(pairs: dict[str, Pair], named: dict[str, str]) -> Upstream:
    folder = pairs["ca"].certificate.parent
    return Upstream(url="https://shop.example", **{key: folder / name for key, name in named.items()})  # type: ignore[arg-type]


USABLE: list[dict[str, str]] = [
    {},
    {"ca_file": "ca.pem"},
    {"certificate_file": "one.pem", "key_file": "one.key"},
    {"certificate_file": "locked.pem", "key_file": "locked.key", "key_password_file": "right"},
]


@pytest.mark.parametrize("named", USABLE)
def test_files_that_can_be_used(named: dict[str, str], pairs: dict[str, Pair]) -> None:
    context = client_context(_upstream(pairs, named))
    assert context is not None
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert context.minimum_version == ssl.TLSVersion.TLSv1_2


def test_only_a_word_of_its_own_switches_verification_off(pairs: dict[str, Pair]) -> None:
    context = client_context(Upstream(url="https://shop.example", verify=False))
    assert context is not None
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_NONE, False)
    assert client_context(Upstream(url="http://shop.example")) is None


UNUSABLE = [
    ({"ca_file": "none.pem"}, "ca_file", "none.pem, which cannot be read (no such file or directory)"),
    ({"ca_file": "pipe"}, "ca_file", "pipe, which is a folder, not a file"),
    ({"ca_file": "empty.pem"}, "ca_file", "empty.pem, in which there is no certificate"),
    ({"ca_file": "one.key"}, "ca_file", "one.key, in which there is no certificate"),
    ({"certificate_file": "one.key", "key_file": "one.key"}, "certificate_file", "which holds a private key and no certificate; name"),
    ({"certificate_file": "one.key"}, "certificate_file", "which holds a private key and no certificate; name"),
    ({"certificate_file": "one.key", "key_file": "one.pem"}, "certificate_file", "which holds a private key, and key_file a certificate: they are swapped"),
    ({"certificate_file": "empty.pem", "key_file": "one.key"}, "certificate_file", "in which there is no certificate"),
    ({"certificate_file": "one.pem"}, "certificate_file", "in which there is no private key; add it, or name key_file"),
    ({"certificate_file": "one.pem", "key_file": "one.pem"}, "key_file", "in which there is no private key"),
    ({"certificate_file": "one.pem", "key_file": "two.key"}, "key_file", "not that of the certificate in"),
    ({"certificate_file": "locked.pem", "key_file": "locked.key"}, "key_password_file", "is missing: the key in"),
    ({"certificate_file": "locked.pem", "key_file": "locked.key", "key_password_file": "wrong"}, "key_password_file", "which is not the password"),
    ({"certificate_file": "locked.pem", "key_file": "locked.key", "key_password_file": "none"}, "key_password_file", "cannot be read"),
]  # fmt: skip


@pytest.mark.parametrize(("named", "key", "sentence"), UNUSABLE)
def test_files_that_cannot(named: dict[str, str], key: str, sentence: str, pairs: dict[str, Pair]) -> None:
    with pytest.raises(TrustError) as raised:
        client_context(_upstream(pairs, named))
    assert raised.value.key == key
    assert sentence in str(raised.value)
    assert str(raised.value).endswith(".")
    assert "opensesame" not in str(raised.value)


def test_every_site_is_tried_and_the_line_is_named(tmp_path: Path) -> None:
    file = tmp_path / "saywhy.yaml"
    file.write_text(
        "upstreams:\n  default:\n    url: https://a\n    ca_file: a.pem\n  b:\n    url: https://b\n    ca_file: b.pem\n"
    )
    loaded = load(file, environ={})
    with pytest.raises(SettingsError) as raised:
        require_usable(loaded.settings, loaded.origins)
    first, second = str(raised.value).splitlines()
    # Relative to the settings file, as rules are: both are mounted together.
    assert first.startswith(
        f"{file}:4: upstreams.default.ca_file names {tmp_path / 'a.pem'}, which cannot be read"
    )
    assert second.startswith(f"{file}:7: upstreams.b.ca_file names")


def test_a_changed_certificate_is_a_changed_set(tmp_path: Path) -> None:
    ca = tmp_path / "ca.pem"
    ca.write_text("one")
    loaded = load(environ={"SAYWHY_UPSTREAMS__A__URL": "https://a", "SAYWHY_UPSTREAMS__A__CA_FILE": str(ca)})
    before = digest(loaded)
    ca.write_text("two")
    assert digest(loaded) != before


CONTRADICTIONS: list[tuple[dict[str, Any], str]] = [
    ({"URL": "http://a", "CA_FILE": "/x"}, "upstreams.a.ca_file is for sites that are reached by TLS, and this one is not; write https://"),
    ({"URL": "http://a", "SERVER_NAME": "x"}, "upstreams.a.server_name is for sites"),
    ({"URL": "http://a", "TLS": "true"}, "upstreams.a.tls is true beside a URL with http; write https://"),
    ({"URL": "unix:/a", "TLS": "true"}, "upstreams.a.server_name is missing"),
    ({"URL": "unix:/a", "SERVER_NAME": "x"}, "upstreams.a.server_name is for sites that are reached by TLS, and this one is not; write tls: true"),
    ({"URL": "https://a", "KEY_FILE": "/x"}, "upstreams.a.key_file is given without certificate_file"),
    ({"URL": "https://a", "KEY_PASSWORD_FILE": "/x"}, "upstreams.a.key_password_file is given without certificate_file"),
    ({"URL": "https://a", "VERIFY": "false", "CA_FILE": "/x"}, "upstreams.a.ca_file has no effect while verify is false"),
    ({"URL": "https://a", "SERVER_NAME": "a." * 128}, "upstreams.a.server_name is"),
    ({"URL": "https://a", "SERVER_NAME": "a:443"}, "upstreams.a.server_name is 'a:443': it must be a host name"),
]  # fmt: skip


@pytest.mark.parametrize(("site", "sentence"), CONTRADICTIONS)
def test_what_cannot_be_meant_together(site: dict[str, str], sentence: str) -> None:
    with pytest.raises(SettingsError) as raised:
        load(environ={f"SAYWHY_UPSTREAMS__A__{key}": value for key, value in site.items()})
    assert sentence in str(raised.value)


def test_an_empty_file_is_none(tmp_path: Path) -> None:
    site = {f"SAYWHY_UPSTREAMS__A__{key.upper()}": "" for key in FILES}
    assert (
        load(environ={"SAYWHY_UPSTREAMS__A__URL": "http://a", **site}).settings.upstreams["a"].ca_file is None
    )
    file = tmp_path / "saywhy.yaml"
    file.write_text("upstreams: {a: {url: 'https://a', ca_file: ''}}")
    assert load(file, environ={}).settings.upstreams["a"].ca_file is None


def test_a_password_in_the_place_of_its_file_is_not_repeated(pairs: dict[str, Pair]) -> None:
    named = {"certificate_file": "locked.pem", "key_file": "locked.key", "key_password_file": "open-sesame"}
    with pytest.raises(TrustError) as raised:
        client_context(_upstream(pairs, named))
    assert "sesame" not in str(raised.value)


def test_a_site_that_is_not_verified_is_a_doubt_with_its_name() -> None:
    environ = {"SAYWHY_UPSTREAMS__SHOP__URL": "https://a", "SAYWHY_UPSTREAMS__SHOP__VERIFY": "false"}
    (doubt,) = load(environ=environ).doubts
    assert str(doubt).startswith(
        "SAYWHY_UPSTREAMS__SHOP__VERIFY: upstreams.shop.verify is false: the site's certificate"
    )
    environ["SAYWHY_UPSTREAMS__SHOP__URL"] = "http://a"
    assert not load(environ=environ).doubts


def test_what_was_kept_serves_while_files_are_broken_where_that_is_asked_for(tmp_path: Path) -> None:
    ca = authority(tmp_path)
    settings = Settings.model_validate(
        {"upstreams": {"shop": {"url": "https://shop.example", "ca_file": str(ca.certificate)}}}
    )
    (shop,) = settings.upstreams.values()
    keep(settings)
    ca.certificate.write_text("half a certif")
    with pytest.raises(TrustError):
        client_context(shop)
    with falling_back():
        kept = client_context(shop)
        assert kept is not None
        assert len(kept.get_ca_certs()) == 1
    keep(settings)  # what cannot be read takes nothing away
    with falling_back():
        assert client_context(shop) is kept
    keep(Settings())
    with falling_back(), pytest.raises(TrustError):
        client_context(shop)
