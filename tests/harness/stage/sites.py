"""Real sites, unmodified, each started from its own public package: one function a site, and the table of them.

A site whose program is not on this machine says `Missing`, by name; the fixture turns that into a visible skip.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from stage.processes import free_port, running

APPS = Path(__file__).resolve().parents[2] / "sites"


class Missing(Exception):
    """The program that this site needs is not installed; the message names it."""


class Room(NamedTuple):
    """Where a site may write: `scratch` for this run, `cache` for what may stay between runs."""

    scratch: Path
    cache: Path


Site = Callable[[Room], contextlib.AbstractContextManager[int]]
"""Starts a site and yields its port."""


def program(name: str, *, package: str) -> str:
    """The path of a program, or `Missing` with the Debian package that brings it."""
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")
    if not found:
        raise Missing(f"no {name} on this machine (Debian package {package})")
    return found


@contextlib.contextmanager
def _django(room: Room, *, debug: str) -> Iterator[int]:
    port = free_port()
    command: list[str | Path] = [
        sys.executable,
        APPS / "django/app.py",
        "runserver",
        f"127.0.0.1:{port}",
        "--noreload",
        "--skip-checks",
    ]
    with running(command, port, room.scratch / "site.log", env={"SITE_DEBUG": debug}):
        yield port


def django(room: Room) -> contextlib.AbstractContextManager[int]:
    """Django as it should be deployed: DEBUG off."""
    return _django(room, debug="0")


def django_debug(room: Room) -> contextlib.AbstractContextManager[int]:
    """Django as it should not: DEBUG on."""
    return _django(room, debug="1")


@contextlib.contextmanager
def _flask(room: Room, *flags: str) -> Iterator[int]:
    port = free_port()
    command: list[str | Path] = [
        sys.executable,
        "-m",
        "flask",
        "--app",
        APPS / "flask/app.py",
        "run",
        "--port",
        str(port),
        *flags,
    ]
    with running(command, port, room.scratch / "site.log"):
        yield port


def flask(room: Room) -> contextlib.AbstractContextManager[int]:
    """Flask on Werkzeug's server, debug off."""
    return _flask(room)


def flask_debug(room: Room) -> contextlib.AbstractContextManager[int]:
    """The same with Werkzeug's interactive debugger in the error page."""
    return _flask(room, "--debug", "--no-reload")


@contextlib.contextmanager
def fastapi(room: Room) -> Iterator[int]:
    """FastAPI under uvicorn."""
    port = free_port()
    command: list[str | Path] = [
        sys.executable,
        "-m",
        "uvicorn",
        "app:app",
        "--app-dir",
        APPS / "fastapi",
        "--port",
        str(port),
    ]
    with running(command, port, room.scratch / "site.log"):
        yield port


@contextlib.contextmanager
def nginx(room: Room) -> Iterator[int]:
    """nginx with its own error pages, a dead upstream among its locations."""
    binary, port = program("nginx", package="nginx-light"), free_port()
    text = (APPS / "nginx/nginx.conf.in").read_text()
    for mark, value in {"RUN": room.scratch, "PORT": port, "DEAD": free_port()}.items():
        text = text.replace(f"@{mark}@", str(value))
    config = room.scratch / "nginx.conf"
    config.write_text(text)
    with running([binary, "-e", room.scratch / "error.log", "-c", config], port, room.scratch / "site.log"):
        yield port


@contextlib.contextmanager
def express(room: Room) -> Iterator[int]:
    """Express on Node, installed from the npm registry into the cache once."""
    node, npm = program("node", package="nodejs"), program("npm", package="npm")
    folder = room.cache / "express"
    if not (folder / "node_modules/express/package.json").exists():
        folder.mkdir(exist_ok=True)
        shutil.copy(APPS / "express/package.json", folder)
        command = [npm, "install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode:
            raise Missing(f"npm could not install express: {done.stderr.strip()[-300:]}")
    port = free_port()
    env = {"PORT": str(port), "NODE_PATH": str(folder / "node_modules"), "NODE_ENV": ""}
    with running([node, APPS / "express/app.js"], port, room.scratch / "site.log", env=env):
        yield port


@contextlib.contextmanager
def php(room: Room) -> Iterator[int]:
    """PHP's built-in server with display_errors on."""
    binary, port = program("php", package="php-cli"), free_port()
    command: list[str | Path] = [
        binary,
        "-d",
        "display_errors=1",
        "-d",
        "html_errors=1",
        "-S",
        f"127.0.0.1:{port}",
        "-t",
        APPS / "php",
    ]
    with running(command, port, room.scratch / "site.log"):
        yield port


SITES: dict[str, Site] = {
    "django": django,
    "django-debug": django_debug,
    "flask": flask,
    "flask-debug": flask_debug,
    "fastapi": fastapi,
    "nginx": nginx,
    "express": express,
    "php": php,
}
"""Name -> how it is started."""
