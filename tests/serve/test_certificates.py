"""TLS to callers: what is wrong with files is said by name; a renewed certificate is taken without a lost connection."""

from __future__ import annotations

import json
import signal
import socket
import ssl
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from certificates import authority, issued, trusting
from stage.callers import CURL, request
from stage.load import Load
from stage.scripted import ScriptedSite, page
from stage.serving import Saywhy, run, serving, wait_until
from stage.wire import ask, receive

from saywhy.edge.settings import Loaded, Settings, SettingsError
from saywhy.serve.certificates import callers_tls

ANSWERS = {"/bread": page("404 Not Found", b"<h1>The oven is cold</h1>")}


@pytest.fixture(scope="module")
def bakery() -> Iterator[ScriptedSite]:
    """The site."""
    with ScriptedSite(ANSWERS) as site:
        yield site


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two CAs, pairs a and b of one and friend of the other, a key with a password, and things that are none."""
    folder = tmp_path_factory.mktemp("tls")
    ca, other = authority(folder), authority(folder, "other")
    for name in ("a", "b"):
        issued(folder, ca, name, "DNS:localhost")
    issued(folder, ca, "locked", "DNS:localhost", password="sesame")  # a test's
    issued(folder, other, "friend")
    (folder / "sesame").write_text("sesame\n")
    (folder / "wrong").write_text("open-up\n")
    (folder / "both.pem").write_text((folder / "a.pem").read_text() + (folder / "a.key").read_text())
    (folder / "garbage").write_text("none of this is PEM, planted-secret\n")
    return folder


def settings(files: Path, text: str) -> Loaded:
    """`certificate_file key_file key_password_file client_ca_file` as words; - for none."""
    keys = ("certificate_file", "key_file", "key_password_file", "client_ca_file")
    named = {key: files / word for key, word in zip(keys, text.split(), strict=False) if word != "-"}
    return Loaded(Settings.model_validate({"tls": {"listen": ":8443", **named}}))


@pytest.mark.parametrize(
    "words", ["a.pem a.key", "both.pem", "locked.pem locked.key sesame", "a.pem a.key - other.pem"]
)
def test_files_that_belong_together(files: Path, words: str) -> None:
    context = callers_tls(settings(files, words))
    assert context is not None
    assert context.minimum_version == ssl.TLSVersion.TLSv1_2
    assert (context.verify_mode == ssl.CERT_REQUIRED) == words.endswith("other.pem")


MISTAKES = [
    ("a.pem b.key", "tls.certificate_file {}/a.pem and the key in {}/b.key do not belong together"),
    ("a.pem", "tls.certificate_file {}/a.pem holds no private key in PEM form; set tls.key_file"),
    ("gone.pem a.key", "tls.certificate_file {}/gone.pem cannot be read (no such file or directory)"),
    ("a.pem gone.key", "tls.key_file {}/gone.key cannot be read (no such file or directory)"),
    ("garbage a.key", "tls.certificate_file {}/garbage holds no certificate in PEM form"),
    (
        "a.key a.pem",
        "tls.certificate_file {}/a.key holds a private key, and tls.key_file a certificate: they are swapped",
    ),
    (
        "a.key",
        "tls.certificate_file {}/a.key holds a private key and no certificate; name the certificate's file",
    ),
    (
        "a.key a.key",
        "tls.certificate_file {}/a.key holds a private key and no certificate; name the certificate's file",
    ),
    ("garbage a.pem", "tls.certificate_file {}/garbage holds no certificate in PEM form"),
    ("a.pem garbage", "tls.key_file {}/garbage holds no private key in PEM form"),
    ("locked.pem locked.key", "tls.key_file {}/locked.key is encrypted; set tls.key_password_file"),
    ("locked.pem locked.key wrong", "tls.key_password_file does not open {}/locked.key"),
    ("locked.pem locked.key gone", "tls.key_password_file names a file that cannot be read"),
    ("a.pem a.key - garbage", "tls.client_ca_file {}/garbage holds no certificate in PEM form"),
    (". a.key", "tls.certificate_file {} is a folder, not a file"),
]


@pytest.mark.parametrize(("words", "said"), MISTAKES, ids=[row[0] for row in MISTAKES])
def test_files_that_do_not(files: Path, words: str, said: str) -> None:
    with pytest.raises(SettingsError) as refused:
        callers_tls(settings(files, words))
    assert said.replace("{}", str(files)) in str(refused.value)
    assert "planted" not in str(refused.value)
    assert "open-up" not in str(refused.value)


def test_a_start_with_the_wrong_key_names_line_and_file(tmp_path: Path, files: Path) -> None:
    file = tmp_path / "saywhy.yaml"
    file.write_text(
        f"upstreams: {{default: 'http://127.0.0.1:1'}}\ntls:\n  listen: 127.0.0.1:0\n  certificate_file: {files}/a.pem\n  key_file: {files}/b.key\n"
    )
    done = run("serve", "--config", file, "--admin", "off")
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {file}:4: tls.certificate_file {files}/a.pem and the key")


def tls_port(proxy: Saywhy) -> int:
    """The port of its HTTPS."""
    greeting = next(event for event in proxy.log() if "listen" in event)
    return next(urlsplit(url).port or 0 for url in greeting["listen"] if url.startswith("https:"))


def greeted_by(port: int, context: ssl.SSLContext) -> tuple[ssl.SSLSocket, str]:
    """A connection, and the name on the certificate that it was met with."""
    sock = context.wrap_socket(socket.create_connection(("127.0.0.1", port), 10), server_hostname="localhost")
    certificate = sock.getpeercert()
    assert certificate is not None
    return sock, dict(part[0] for part in certificate["subject"])["commonName"]  # type: ignore[misc]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_renewed_certificate(tmp_path: Path, bakery: ScriptedSite, files: Path, workers: int) -> None:
    live = tmp_path / "live"
    live.mkdir()
    public, private = live / "tls.crt", live / "tls.key"

    def install(certificate: str, key: str) -> None:
        public.write_bytes((files / f"{certificate}.pem").read_bytes())
        private.write_bytes((files / f"{key}.key").read_bytes())

    install("a", "a")
    env = {
        "SAYWHY_TLS__LISTEN": "127.0.0.1:0", "SAYWHY_TLS__CERTIFICATE_FILE": str(public),
        "SAYWHY_TLS__KEY_FILE": str(private), "SAYWHY_DEADLINES__REQUEST_HEAD_SECONDS": "1",
        "SAYWHY_DEADLINES__DRAIN_SECONDS": "0.3",
    }  # fmt: skip
    either = trusting(files / "ca.pem")
    either.set_alpn_protocols(["h2", "http/1.1"])
    with serving(bakery.port, tmp_path, env=env, arguments=["--workers", str(workers)]) as proxy:
        port = tls_port(proxy)
        kept, name = greeted_by(port, either)
        asked = request(port, "/bread", CURL)
        with kept:
            assert (name, kept.selected_alpn_protocol()) == ("a", "http/1.1")
            kept.sendall(asked)
            assert receive(kept).status == 404
            install("b", "a")
            status, said = proxy.get("/-/reload", method="POST")
            assert (status, f"{public} and the key in {private} do not belong together" in said) == (
                500,
                True,
            )
            assert {_name(port, either) for _ in range(6)} == {"a"}
            install("b", "b")
            with Load(port, asked, callers=3, tls=either) as load:
                assert proxy.get("/-/reload", method="POST")[0] == 200
                assert {_name(port, either) for _ in range(6)} == {"b"}
            assert set(load.counts) == {"answered"}, (load.counts, load.why)
            kept.sendall(asked)  # the connection has outlived its certificate
            assert receive(kept).status == 404
        assert ask(proxy.port, request(proxy.port, "/bread", CURL)).status == 404  # plain HTTP beside it
        before = len(proxy.err.read_text().splitlines())
        _knock_wrongly(port)
        said = [json.loads(line) for line in proxy.err.read_text().splitlines()[before:]]
        assert {(one["event"], "exception" in one) for one in said} <= {("handshake_failed", False)}
        with Load(port, asked, callers=4, tls=either) as load:
            assert wait_until(lambda: load.counts["answered"] > 20)
            proxy.signal(signal.SIGTERM)
            assert proxy.process.wait(30) == 0
        assert set(load.counts) <= {"answered", "refused"}, (load.counts, load.why)
    assert "PRIVATE KEY" not in proxy.output()


def _name(port: int, context: ssl.SSLContext) -> str:
    sock, name = greeted_by(port, context)
    sock.close()
    return name


def _knock_wrongly(port: int) -> None:
    """Plain HTTP, garbage, TLS 1.1, a wrong idea of whom to trust, and a handshake that is never begun: each is closed."""
    for noise in (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\x16\x03\x01\xff\xff" + bytes(100)):
        with socket.create_connection(("127.0.0.1", port), 10) as sock:
            sock.sendall(noise)
            assert b"HTTP" not in _all_of(sock)
    with pytest.raises(ssl.SSLError):
        greeted_by(port, ssl.create_default_context())
    with socket.create_connection(("127.0.0.1", port), 10) as sock:
        began = time.monotonic()
        assert _all_of(sock) == b""
        assert time.monotonic() - began < 8


def _all_of(sock: socket.socket) -> bytes:
    try:
        return b"".join(iter(lambda: sock.recv(65536), b""))
    except (ConnectionError, ssl.SSLError):
        return b""


def test_only_callers_with_a_certificate(tmp_path: Path, bakery: ScriptedSite, files: Path) -> None:
    env = {
        "SAYWHY_TLS__LISTEN": "127.0.0.1:0", "SAYWHY_TLS__CERTIFICATE_FILE": str(files / "both.pem"),
        "SAYWHY_TLS__CLIENT_CA_FILE": str(files / "other.pem"), "SAYWHY_TLS__MINIMUM_VERSION": "1.3",
    }  # fmt: skip
    with serving(bakery.port, tmp_path, env=env) as proxy:
        port = tls_port(proxy)
        stranger, known, old = (trusting(files / "ca.pem") for _ in range(3))
        for one in (known, old):
            one.load_cert_chain(files / "friend.pem", files / "friend.key")
        old.maximum_version = ssl.TLSVersion.TLSv1_2
        with greeted_by(port, known)[0] as sock:
            sock.sendall(request(port, "/bread", CURL))
            assert receive(sock).status == 404
        with pytest.raises(ssl.SSLError):
            greeted_by(port, old)
        # In TLS 1.3 the caller learns of it only when it reads.
        with greeted_by(port, stranger)[0] as sock:
            sock.sendall(request(port, "/bread", CURL))
            assert _all_of(sock) == b""
