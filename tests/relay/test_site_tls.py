"""TLS to a site: whose certificate is taken, which name it must be for, what is shown to the site; and what the operator
reads where it does not work.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import ssl
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from certificates import Pair, authority, issued
from loopback import OK, both_loops, get, listening, relaying

from saywhy.edge.settings import Upstream


class Made(NamedTuple):
    folder: Path
    ca: Pair
    other: Pair
    site: Pair
    expired: Pair
    ours: Pair


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("certificates")
    ca = authority(folder)
    return Made(
        folder,
        ca,
        authority(folder, "other"),
        issued(folder, ca, "site", "DNS:shop.example", "DNS:localhost", "IP:127.0.0.1"),
        issued(folder, ca, "expired", "DNS:shop.example", days=-1),
        issued(folder, ca, "ours"),
    )


@asynccontextmanager
async def tls_site(
    context: ssl.SSLContext, path: str | None = None, names: list[str | None] | None = None
) -> AsyncIterator[int]:
    """A site that answers `ok` over TLS; the names it is asked for are noted."""

    def note(_: Any, name: str | None, __: Any) -> None:
        if names is not None:
            names.append(name)

    context.sni_callback = note

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                assert writer.get_extra_info("ssl_object").selected_alpn_protocol() in (None, "http/1.1")
                writer.write(OK)
        except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
            writer.close()

    if path is None:
        server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    else:
        server = await asyncio.start_unix_server(serve, path, ssl=context)
    try:
        yield 0 if path is not None else server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await asyncio.sleep(0.05)


TRUSTED = {
    "by its name": ("localhost", {}, "localhost"),
    "by its address": ("127.0.0.1", {}, None),
    "by another name": ("127.0.0.1", {"server_name": "shop.example"}, "shop.example"),
    "unseen": ("127.0.0.1", {"verify": False, "ca_file": None, "server_name": "no.example"}, "no.example"),
}


@pytest.mark.parametrize("name", TRUSTED)
@both_loops
async def test_a_site_that_is_trusted(name: str, made: Made) -> None:
    host, more, asked = TRUSTED[name]
    names: list[str | None] = []
    context = made.site.context()
    context.set_alpn_protocols(["h2", "http/1.1"])
    async with tls_site(context, names=names) as port:
        site = {"url": f"https://{host}:{port}", "ca_file": made.ca.certificate, **more}
        async with relaying({"default": site}) as running:
            for _ in range(3):
                assert (await running.ask(get())).body == b"ok"
            assert running.relay.pool_counts()["default"]["idle"] == 1
    assert names == [asked]  # one connection, kept


@both_loops
async def test_tls_over_a_unix_socket(tmp_path: Path, made: Made) -> None:
    path = str(tmp_path / "s")
    names: list[str | None] = []
    async with tls_site(made.site.context(), path, names):
        site = {
            "url": f"unix:{path}",
            "tls": True,
            "ca_file": made.ca.certificate,
            "server_name": "shop.example",
        }
        async with relaying({"default": site}) as running:
            assert (await running.ask(get())).body == b"ok"
    assert names == ["shop.example"]


@contextmanager
def alerting_site(context: ssl.SSLContext) -> Iterator[int]:
    """A site that sends its alerts: asyncio's servers keep them to themselves."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    accepted, _ = listener.accept()
                    accepted.settimeout(5)
                    with context.wrap_socket(
                        accepted, server_side=True, do_handshake_on_connect=False
                    ) as spoken:
                        with contextlib.suppress(ssl.SSLError):
                            spoken.do_handshake()
                        time.sleep(0.1)  # closed at once, a reset could overtake the alert

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(5)


REFUSED: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "a name it is not for": ("site", {"server_name": "no.example"}, "tls_certificate_error", "is for another name; say in server_name"),
    "a CA that is not ours": ("site", {"ca_file": "other"}, "tls_certificate_error", "CA that is not trusted here; name that CA in ca_file"),
    "the system's CAs": ("site", {"ca_file": None}, "tls_certificate_error", "CA that is not trusted here; name that CA in ca_file"),
    "expired": ("expired", {}, "tls_certificate_error", "has expired; renew it at the site"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
@both_loops
async def test_a_site_that_is_not(name: str, made: Made, caplog: pytest.LogCaptureFixture) -> None:
    kind, more, token, sentence = REFUSED[name]
    site = {"server_name": "shop.example", "ca_file": made.ca.certificate, **more}
    if site["ca_file"] == "other":
        site["ca_file"] = made.other.certificate
    async with tls_site((made.expired if kind == "expired" else made.site).context()) as port:
        site["url"] = f"https://127.0.0.1:{port}"
        await _is_refused(site, token, sentence, caplog)


async def _is_refused(
    site: dict[str, Any], token: str, sentence: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "saywhy.relay"):
        async with relaying({"default": site}) as running:
            for _ in range(3):
                answer = await running.ask(get("/", method="POST"))
                assert (answer.status, answer.all(b"proxy-status")) == (
                    502,
                    [f"saywhy; error={token}".encode()],
                )
    told = [record.getMessage() for record in caplog.records if record.name == "saywhy.relay"]
    assert len(told) == 1  # however many failed
    assert told[0].startswith(f"Upstream default ({site['url']}): it")
    assert sentence in told[0]


ALERTS = {
    "old": "it refused TLS 1.2 and 1.3",
    "wants ours, 1.3": "it asks for a certificate; give certificate_file and key_file",
    "wants ours, 1.2": "it asks for a certificate (certificate_file)",
}


@pytest.mark.parametrize("name", ALERTS)
@both_loops
async def test_a_site_that_refuses_us(name: str, made: Made, caplog: pytest.LogCaptureFixture) -> None:
    context = made.site.context()
    if name == "old":
        with pytest.warns(DeprecationWarning, match="TLSv1_1"):
            context.maximum_version = context.minimum_version = ssl.TLSVersion.TLSv1_1
        context.set_ciphers("DEFAULT:@SECLEVEL=0")
    else:
        context.maximum_version = ssl.TLSVersion.TLSv1_2 if "1.2" in name else ssl.TLSVersion.TLSv1_3
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(made.ca.certificate)
    with alerting_site(context) as port:
        site = {"url": f"https://localhost:{port}", "ca_file": made.ca.certificate}
        await _is_refused(site, "tls_alert_received", ALERTS[name], caplog)


@both_loops
async def test_a_site_that_hangs_up_in_the_handshake(made: Made, caplog: pytest.LogCaptureFixture) -> None:
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)

    async with listening(hang_up) as port:
        await _is_refused(
            {"url": f"https://localhost:{port}"},
            "tls_protocol_error",
            "in the middle of the TLS handshake",
            caplog,
        )


@both_loops
async def test_our_certificate_is_shown(made: Made) -> None:
    context = made.site.context()
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(made.ca.certificate)
    async with tls_site(context) as port:
        site = {"url": f"https://localhost:{port}", "ca_file": made.ca.certificate,
                "certificate_file": made.ours.certificate, "key_file": made.ours.key}  # fmt: skip
        async with relaying({"default": site}) as running:
            assert (await running.ask(get())).body == b"ok"


@both_loops
async def test_a_plain_site_behind_https_is_told_to_the_operator(
    made: Made, caplog: pytest.LogCaptureFixture
) -> None:
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        await reader.read()

    async with listening(plain) as port, relaying(f"https://127.0.0.1:{port}") as running:
        answer = await running.ask(get())
        assert answer.all(b"proxy-status") == [b"saywhy; error=tls_protocol_error"]
    assert "it does not speak TLS on this port; write http://" in caplog.text


@both_loops
async def test_a_reload_takes_files_that_have_changed_and_keeps_what_has_not(
    made: Made, tmp_path: Path
) -> None:
    trusted = tmp_path / "trusted.pem"
    trusted.write_bytes(made.other.certificate.read_bytes())
    async with tls_site(made.site.context()) as port:
        upstreams = {"default": Upstream(url=f"https://localhost:{port}", ca_file=trusted)}
        async with relaying({"default": upstreams["default"].model_dump()}) as running:
            assert (await running.ask(get())).status == 502
            trusted.write_bytes(made.ca.certificate.read_bytes())
            running.relay.replace_upstreams(upstreams)
            assert (await running.ask(get())).body == b"ok"
            running.relay.replace_upstreams(upstreams)
            assert running.relay.pool_counts()["default"]["idle"] == 1
