"""Certificates for tests: a CA of the test's own, and what it vouches for. Made by the openssl program."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

_KEY = "-newkey ec -pkeyopt ec_paramgen_curve:P-256"


class Pair(NamedTuple):
    """A certificate and its key, as PEM files."""

    certificate: Path
    key: Path

    def context(self, purpose: int = ssl.PROTOCOL_TLS_SERVER) -> ssl.SSLContext:
        """A server's context with it."""
        made = ssl.SSLContext(purpose)
        made.load_cert_chain(self.certificate, self.key)
        return made


def _openssl(command: str, *more: str | Path) -> None:
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("openssl (package openssl) is not installed")
    subprocess.run([program, *command.split(), *more], check=True, capture_output=True)


def _files(folder: Path, name: str) -> Pair:
    return Pair(folder / f"{name}.pem", folder / f"{name}.key")


def authority(folder: Path, name: str = "ca") -> Pair:
    """A CA."""
    made = _files(folder, name)
    _openssl(
        f"req -x509 {_KEY} -nodes -days 2 -subj /CN={name}", "-keyout", made.key, "-out", made.certificate
    )
    return made


def self_signed(folder: Path) -> Pair:
    """For localhost, and vouched for by nobody else."""
    made = _files(folder, "localhost")
    names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
    command = f"req -x509 {_KEY} -nodes -days 1 -subj /CN=localhost -addext {names}"
    _openssl(command, "-keyout", made.key, "-out", made.certificate)
    return made


def issued(folder: Path, ca: Pair, name: str, *names: str, days: int = 2, password: str = "") -> Pair:
    """What `ca` vouches for: `names` are subjectAltName entries (DNS:x, IP:y); `days` below 0 have passed."""
    made = _files(folder, name)
    request, extensions = folder / f"{name}.csr", folder / f"{name}.ext"
    secret = f"-passout pass:{password}" if password else "-nodes"
    _openssl(f"req {_KEY} {secret} -subj /CN={name}", "-keyout", made.key, "-out", request)
    extensions.write_text(f"subjectAltName={','.join(names)}\n" if names else "basicConstraints=CA:FALSE\n")
    _openssl(
        f"x509 -req -days {days} -CAcreateserial",
        "-in", request, "-CA", ca.certificate, "-CAkey", ca.key, "-extfile", extensions, "-out", made.certificate,
    )  # fmt: skip
    return made


def trusting(ca: Path) -> ssl.SSLContext:
    """A caller's context that knows `ca` alone."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(ca)
    return context
