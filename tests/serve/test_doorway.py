"""A crowd before the door of a TLS listener, where addresses are short."""

from __future__ import annotations

import contextlib
import signal
import socket
import ssl
from pathlib import Path

from certificates import authority, issued
from stage.callers import CURL, request
from stage.scripted import ScriptedSite, page
from stage.serving import serving, wait_until
from stage.wire import ask

CROWD = 700
UNDER = ["sh", "-c", 'ulimit -v 262144; exec "$@"', "sh"]


def test_handshakes_that_nobody_ends_neither_end_the_proxy_nor_close_its_door(tmp_path: Path) -> None:
    pair = issued(tmp_path, authority(tmp_path), "shop", "DNS:shop.example")
    env = {
        "SAYWHY_TLS__LISTEN": "127.0.0.1:0",
        "SAYWHY_TLS__CERTIFICATE_FILE": str(pair.certificate),
        "SAYWHY_TLS__KEY_FILE": str(pair.key),
        "SAYWHY_DEADLINES__REQUEST_HEAD_SECONDS": "1",
    }
    with (
        ScriptedSite({"/bread": page("200 OK", b"bread")}) as bakery,
        serving(bakery.port, tmp_path, env=env, under=UNDER) as proxy,
    ):
        greeting = next(event for event in proxy.log() if "listen" in event)
        port = int(greeting["listen"][1].rpartition(":")[2])
        with contextlib.ExitStack() as crowd:
            for _ in range(CROWD):
                crowd.enter_context(socket.create_connection(("127.0.0.1", port), 5))
            assert ask(proxy.port, request(proxy.port, "/bread", CURL)).status == 200
            assert wait_until(lambda: _served(port)), (
                "handshakes have a deadline, and then others have their turn"
            )
        proxy.signal(signal.SIGTERM)
        assert proxy.process.wait(20) == 0


def _served(port: int) -> bool:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with (
        contextlib.suppress(OSError),
        socket.create_connection(("127.0.0.1", port), 5) as plain,
        context.wrap_socket(plain) as secret,
    ):
        secret.sendall(b"GET /bread HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n\r\n")
        return secret.recv(15) == b"HTTP/1.1 200 OK"
    return False
