"""Certificates for tests, made by openssl: each signs itself, for localhost."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from pathlib import Path

import pytest


def openssl(*arguments: str | Path) -> None:
    """Run openssl, or skip where it is not installed."""
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("openssl (package openssl) is not installed")
    subprocess.run([program, *(str(one) for one in arguments)], check=True, capture_output=True)


def pair(folder: Path, name: str) -> tuple[Path, Path]:
    """(certificate, key), called `name`."""
    public, private = folder / f"{name}.pem", folder / f"{name}.key"
    openssl(
        *"req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2".split(), "-keyout", private, "-out", public,
        "-subj", f"/CN={name}", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
    )  # fmt: skip
    return public, private


def trusting(*certificates: Path) -> ssl.SSLContext:
    """A caller's context that knows these alone."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    for one in certificates:
        context.load_verify_locations(one)
    return context
