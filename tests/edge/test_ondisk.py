"""How what the settings name stands on this machine: certificates out of their time, sockets that are none."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from certificates import Pair, authority, issued

from saywhy.edge.ondisk import doubts_on_disk
from saywhy.edge.settings import Loaded, Settings
from saywhy.edge.validity import validities

NOW = datetime.now(UTC) + timedelta(hours=1)
"""A certificate that is made during the test is good by then."""


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Pair]:
    """A CA of two days, and what it vouches for: two days, ten thousand (past 2050), and one that is over."""
    folder = tmp_path_factory.mktemp("dates")
    ca = authority(folder)
    made = {
        name: issued(folder, ca, name, days=days)
        for name, days in (("good", 2), ("long", 10000), ("over", -1))
    }
    return {**made, "ca": ca}


def doubts(now: datetime = NOW, serving: bool = True, **named: Any) -> list[str]:
    """What is doubted about these settings."""
    loaded = Loaded(Settings.model_validate(named), {("tls", "certificate_file"): "a.yaml:7"})
    return [str(one) for one in doubts_on_disk(loaded, serving=serving, now=now)]


def test_dates_are_those_that_the_certificate_says(pairs: dict[str, Pair]) -> None:
    for name, days in (("good", 2), ("long", 10000)):
        ((since, until),) = validities(pairs[name].certificate.read_text())
        assert abs(since - NOW) < timedelta(hours=2)
        assert until - since == timedelta(days=days)
    both = pairs["good"].certificate.read_text() + pairs["ca"].certificate.read_text()
    assert len(list(validities(both))) == 2


@pytest.mark.parametrize(
    "text",
    ["", "nothing", "-----BEGIN CERTIFICATE-----\n", "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n",
     "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n"],
)  # fmt: skip
def test_what_is_no_certificate_has_no_dates(text: str) -> None:
    assert list(validities(text)) == []


def test_a_certificate_cut_anywhere_has_its_dates_or_none(pairs: dict[str, Pair]) -> None:
    import ssl

    der = ssl.PEM_cert_to_DER_cert(pairs["good"].certificate.read_text())
    whole = next(validities(ssl.DER_cert_to_PEM_cert(der)))
    found = [list(validities(ssl.DER_cert_to_PEM_cert(der[:length]))) for length in range(len(der))]
    assert all(one in ([], [whole]) for one in found)
    assert found[1] == []


@pytest.mark.parametrize("side", ["tls", "upstream"])
def test_a_certificate_of_ours_out_of_its_time(pairs: dict[str, Pair], side: str) -> None:
    def said(name: str, now: datetime = NOW) -> list[str]:
        file = str(pairs[name].certificate)
        if side == "tls":
            return doubts(now, tls={"listen": ":8443", "certificate_file": file})
        return doubts(now, upstreams={"shop": {"url": "https://shop.example", "certificate_file": file}})

    key = "a.yaml:7: tls.certificate_file" if side == "tls" else "upstreams.shop.certificate_file"
    assert said("good") == []
    (over,) = said("over")
    assert over.startswith(f"{key} names {pairs['over'].certificate}, whose certificate expired at 20")
    assert over.endswith(" UTC: others refuse it; renew it.")
    ((since, until),) = validities(pairs["good"].certificate.read_text())
    assert said("good", since) == said("good", until) == []
    (late,) = said("good", until + timedelta(seconds=1))
    assert f"whose certificate expired at {until:%Y-%m-%d %H:%M} UTC" in late
    (early,) = said("good", since - timedelta(seconds=1))
    assert f"is not valid before {since:%Y-%m-%d %H:%M} UTC" in early
    assert "clock" in early


def test_the_chain_is_looked_at_too_and_files_of_nobody_are_not(
    tmp_path: Path, pairs: dict[str, Pair]
) -> None:
    chain = tmp_path / "chain.pem"
    chain.write_text(pairs["good"].certificate.read_text() + pairs["over"].certificate.read_text())
    (said,) = doubts(tls={"listen": ":8443", "certificate_file": str(chain)})
    assert "whose certificate 2 (of those that lead to the root) expired at" in said
    assert doubts(tls={"certificate_file": str(chain)}) == []
    assert doubts(tls={"listen": ":8443", "certificate_file": str(tmp_path / "none")}) == []


@pytest.fixture
def sockets(tmp_path: Path) -> Iterator[Path]:
    """A folder with a socket, a file, and a link that leads nowhere."""
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(tmp_path / "socket"))
        (tmp_path / "file").write_text("")
        (tmp_path / "link").symlink_to(tmp_path / "nowhere")
        yield tmp_path


SOCKETS = [
    # what is there, what is said while serving, and before
    ("socket", "", ""),
    ("file", "what is there is no socket", "what is there is no socket"),
    (".", "what is there is no socket", "what is there is no socket"),
    ("none", "nothing is there; callers get errors", ""),
    ("link", "nothing is there", ""),
    ("file/x", "nothing is there", ""),
]


@pytest.mark.parametrize(("name", "serving", "before"), SOCKETS)
def test_the_socket_of_a_site(sockets: Path, name: str, serving: str, before: str) -> None:
    url = f"unix:{sockets}/{name}"
    for said, when in ((serving, True), (before, False)):
        found = doubts(serving=when, upstreams={"shop": url})
        assert [one.startswith(f"upstreams.shop.url is {url}, and {said}") for one in found] == [True] * bool(
            said
        )
