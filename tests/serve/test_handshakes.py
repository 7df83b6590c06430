"""Handshakes that come to nothing are counted by why, and each why is told of once, with what to do about it."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from certificates import authority, issued, trusting
from stage.callers import CURL, request
from stage.scripted import ScriptedSite, page
from stage.serving import Saywhy, serving, wait_until
from stage.wire import ask

from saywhy.edge.metrics import HANDSHAKE_REASONS
from saywhy.serve.handshakes import _REASONS, _SENTENCES

METRIC = "saywhy_handshakes_failed_total"


def hello(context: ssl.SSLContext) -> bytes:
    """The first bytes of a caller's TLS."""
    out = ssl.MemoryBIO()
    talk = context.wrap_bio(ssl.MemoryBIO(), out, server_hostname="localhost")
    with suppress(ssl.SSLWantReadError):
        talk.do_handshake()
    return out.read()


def refused(port: int, context: ssl.SSLContext) -> None:
    """A handshake by `context`, and what is read after it (in TLS 1.3 the caller learns of the end only then)."""
    with (
        socket.create_connection(("127.0.0.1", port), 10) as sock,
        suppress(OSError),
        context.wrap_socket(sock, server_hostname="localhost") as talk,
    ):
        talk.recv(1)


def sent(port: int, data: bytes, *, read: bool = True) -> None:
    """`data` on a connection that closes behind it, at once or after what comes back."""
    with socket.create_connection(("127.0.0.1", port), 10) as sock, suppress(OSError):
        sock.sendall(data)
        while read and sock.recv(65536):
            pass


def test_every_reason_is_counted_and_told_of_once(tmp_path: Path) -> None:
    ca, other = authority(tmp_path), authority(tmp_path, "other")
    site = issued(tmp_path, ca, "site", "DNS:localhost")
    friend, foe = issued(tmp_path, other, "friend"), issued(tmp_path, ca, "foe")
    env = {
        "SAYWHY_TLS__LISTEN": "127.0.0.1:0", "SAYWHY_TLS__CERTIFICATE_FILE": str(site.certificate),
        "SAYWHY_TLS__KEY_FILE": str(site.key), "SAYWHY_TLS__CLIENT_CA_FILE": str(other.certificate),
        "SAYWHY_TLS__MINIMUM_VERSION": "1.3", "SAYWHY_DEADLINES__REQUEST_HEAD_SECONDS": "1",
    }  # fmt: skip
    known, stranger, faker, old = (trusting(ca.certificate) for _ in range(4))
    for one in (known, old):
        one.load_cert_chain(friend.certificate, friend.key)
    faker.load_cert_chain(foe.certificate, foe.key)
    old.maximum_version = ssl.TLSVersion.TLSv1_2
    doubter = trusting(other.certificate)
    first = hello(known)
    cases: dict[str, Callable[[int], None]] = {
        "no_certificate": lambda port: refused(port, stranger),
        "bad_certificate": lambda port: refused(port, faker),
        "certificate_refused": lambda port: refused(port, doubter),
        "protocol": lambda port: refused(port, old),
        "not_tls": lambda port: sent(port, request(port, "/", CURL)),
        "left": lambda port: sent(port, first[:100], read=False),
        "timeout": lambda port: sent(port, first[:100]),
    }
    assert {*cases, "other"} == set(HANDSHAKE_REASONS) == {*_REASONS.values(), "left", "timeout", "other"}
    with (
        ScriptedSite({"/": page("200 OK", b"bread")}) as bakery,
        serving(bakery.port, tmp_path, env=env) as proxy,
    ):
        greeting = next(event for event in proxy.log() if "listen" in event)
        port = next(urlsplit(url).port or 0 for url in greeting["listen"] if url.startswith("https:"))
        sent(port, b"", read=False)  # only knocked: a balancer that asks whether the port is open
        for reason, wrong in cases.items():
            for times in (1, 2):
                wrong(port)
                assert wait_until(lambda: counted(proxy, reason) >= times, 5), reason  # noqa: B023
        with (
            socket.create_connection(("127.0.0.1", port), 10) as sock,
            known.wrap_socket(sock, server_hostname="localhost") as talk,
        ):
            talk.sendall(request(port, "/", CURL))
            assert talk.recv(12) == b"HTTP/1.1 200"
        assert {reason: counted(proxy, reason) for reason in HANDSHAKE_REASONS} == {
            **dict.fromkeys(cases, 2),
            "other": 0,
        }
        for _ in range(2):
            sent(proxy.port, first)
        assert ask(proxy.port, request(proxy.port, "/", CURL)).status == 200
        told = [event for event in proxy.log() if "event" in event][1:]
    assert [one["reason"] for one in told if one["event"] == "handshake_failed"] == list(cases)
    assert all(_SENTENCES[one["reason"]] in one["message"] for one in told if "reason" in one)
    assert {one["reason"] for one in told if one["level"] == "warning" and "reason" in one} == {
        "bad_certificate", "certificate_refused",
    }  # fmt: skip
    assert [one["event"] for one in told].count("tls_on_plain_port") == 1
    assert "127.0.0.1" not in str(told), "who it was is nobody's business"


def counted(proxy: Saywhy, reason: str) -> float:
    """How often so far."""
    return proxy.metric(METRIC, reason=reason)


@pytest.mark.parametrize("reason", HANDSHAKE_REASONS)
def test_every_reason_has_a_sentence(reason: str) -> None:
    assert _SENTENCES[reason].endswith(".")
