"""`saywhy healthcheck`: a probe for images that hold neither a shell nor curl."""

from __future__ import annotations

import http.client
import socket
from typing import Annotated

import typer

from saywhy.cli import layers
from saywhy.cli.output import Failure, emit


class _UnixConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def healthcheck(
    ready: Annotated[
        bool,
        typer.Option(
            "--ready", help="Ask whether new exchanges are welcome, not only whether the process runs."
        ),
    ] = False,
    admin: layers.AdminThere = None,
    config: layers.Config = None,
    timeout: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", help="How long to wait for the answer. (3)", min=0.1, show_default=False
        ),
    ] = 3.0,
    as_json: layers.Json = False,
) -> int:
    """Ask a running proxy on its admin port whether it is well; exit code 0 says yes, 1 no.

    The address is found as serve finds it: the settings file, SAYWHY__ADMIN, --admin.
    """
    from saywhy.edge.settings import parse_address

    shown = layers.settings(config, layers.flags(admin=admin), quiet=True).settings.admin
    if not shown:
        raise Failure("The admin port is switched off, so there is nobody to ask; set admin.", field="admin")
    address = parse_address(shown)
    connection = (
        _UnixConnection(address.path, timeout)
        if address.path
        # Every address of the machine includes loopback.
        else http.client.HTTPConnection(address.host or "127.0.0.1", address.port, timeout=timeout)
    )
    page = "/-/ready" if ready else "/-/healthy"
    try:
        connection.request("GET", page)
        answer = connection.getresponse()
        status, said = answer.status, answer.read(1000).decode("utf-8", "replace").strip()
    except (OSError, http.client.HTTPException) as silent:
        reason = getattr(silent, "strerror", None) or str(silent) or type(silent).__name__
        raise Failure(
            f"No answer from {shown}{page}: {reason}.", exit_code=1, code="temporarily_unavailable"
        ) from None
    finally:
        connection.close()
    if as_json:
        emit({"ok": status == 200, "status": status, "said": said})
    else:
        print(said)
    return 0 if status == 200 else 1
