"""The proxies that the battery is put to: saywhy, and those that are installed here, each as it comes but for the port
and the site. nginx, HAProxy and Apache httpd are Debian's packages nginx, haproxy and apache2.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from stage.processes import free_port, running
from stage.serving import PROGRAM, serving

from battery.run import LANES, Sites, lane_host

_SBIN = "/usr/sbin:/usr/local/sbin"


class Peer(NamedTuple):
    """One proxy. `version` asks it which one it is; `lanes` how many it is set up for."""

    name: str
    program: str
    version: tuple[str, ...]
    start: Callable[[Sites, Path], contextlib.AbstractContextManager[int]]
    lanes: int = 0

    def find(self) -> str | None:
        """Where its program is, None where it is not installed."""
        return shutil.which(self.program, path=f"{os.environ.get('PATH', '')}:{_SBIN}")

    def release(self) -> str:
        """The first line that it says about its version."""
        done = subprocess.run(
            [self.find() or "", *self.version], capture_output=True, text=True, check=False, timeout=30
        )
        return (done.stdout + done.stderr).strip().splitlines()[0]


@contextlib.contextmanager
def saywhy(where: Sites, folder: Path) -> Iterator[int]:
    """`saywhy serve` with its defaults, one process; hosts lead to the lanes."""
    config = folder / "saywhy.yaml"
    names = {f"lane{n}": site.port for n, site in enumerate(where.lanes)} | {"rest": where.rest.port}
    lines = ["upstreams:", *(f"  {name}: http://127.0.0.1:{port}" for name, port in names.items()), "routes:"]
    lines += [
        f"  - {{upstream: lane{n}, host: ['{lane_host(n).decode()}']}}" for n in range(len(where.lanes))
    ]
    config.write_text("\n".join([*lines, "  - {upstream: rest}", ""]))
    with serving(where.rest.port, folder, config=config) as proxy:
        yield proxy.port


def _configured(name: str, where: Sites, folder: Path) -> tuple[Path, int]:
    """The peer's configuration with ports and folder filled in, and its port."""
    port = free_port()
    text = (Path(__file__).parent / "configs" / f"{name}.in").read_text()
    for mark, value in {"PORT": port, "SITE": where.rest.port, "FOLDER": folder}.items():
        text = text.replace(f"@{mark}@", str(value))
    path = folder / name
    path.write_text(text)
    return path, port


@contextlib.contextmanager
def nginx(where: Sites, folder: Path) -> Iterator[int]:
    """nginx: proxy_pass, and nothing else."""
    config, port = _configured("nginx.conf", where, folder)
    command = [PEERS["nginx"].find() or "", "-e", folder / "error.log", "-c", config]
    with running(command, port, folder / "nginx.log"):
        yield port


@contextlib.contextmanager
def haproxy(where: Sites, folder: Path) -> Iterator[int]:
    """HAProxy: a frontend, a backend, the timeouts without which it warns."""
    config, port = _configured("haproxy.cfg", where, folder)
    with running([PEERS["HAProxy"].find() or "", "-f", config], port, folder / "haproxy.log"):
        yield port


@contextlib.contextmanager
def apache(where: Sites, folder: Path) -> Iterator[int]:
    """Apache httpd: mod_proxy_http, ProxyPass, and nothing else."""
    config, port = _configured("apache.conf", where, folder)
    with running([PEERS["Apache"].find() or "", "-X", "-f", config], port, folder / "apache.log"):
        yield port


PEERS: dict[str, Peer] = {
    peer.name: peer
    for peer in (
        Peer("saywhy", str(PROGRAM), ("version",), saywhy, LANES),
        Peer("nginx", "nginx", ("-v",), nginx),
        Peer("HAProxy", "haproxy", ("-v",), haproxy),
        Peer("Apache", "apache2", ("-v",), apache),
    )
}
