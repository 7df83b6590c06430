"""The reloader by itself: half a renewal is waited for, a whole one is told of with its end, a mistake is an error."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from certificates import Pair, authority, issued

from saywhy.edge.meter import Meter
from saywhy.edge.settings import Loaded, Settings
from saywhy.serve import reload as reloading
from saywhy.serve.certificates import ends_at
from saywhy.serve.reload import Build, Reloader, as_started, make_build


class Told:
    """Events as they come: level, word, members."""

    def __init__(self) -> None:
        self.all: list[tuple[str, str, dict[str, Any]]] = []

    def __getattr__(self, level: str) -> Callable[..., None]:
        return lambda event, message, **about: self.all.append((level, event, about))

    def words(self) -> list[str]:
        """In their order."""
        return [event for _, event, _ in self.all]


class Target:
    """Takes everything."""

    async def agree(self, build: Build) -> Sequence[str]:
        """Always."""
        return ()

    async def put_in_force(self, build: Build) -> None:
        """Remembers it."""
        self.build = build


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Pair, Pair]:
    """Two renewals of one certificate."""
    folder = tmp_path_factory.mktemp("pairs")
    ca = authority(folder)
    return issued(folder, ca, "a", "DNS:localhost"), issued(folder, ca, "b", "DNS:localhost", days=9)


class Stage:
    """A reloader that looks every few milliseconds at the pair of callers, or of a site's."""

    def __init__(self, folder: Path, first: Pair, whose: str) -> None:
        self.certificate, self.key = folder / "tls.crt", folder / "tls.key"
        self.write(first, first)
        pair = {"certificate_file": self.certificate, "key_file": self.key}
        site: dict[str, Any] = {"url": "https://127.0.0.1:1"}
        settings: dict[str, Any] = {"upstreams": {"default": site}}
        if whose == "callers":
            settings["tls"] = {"listen": "127.0.0.1:0", **pair}
        else:
            site |= pair
        self.loaded = Loaded(Settings.model_validate(settings))
        self.told, self.target, self.meter = Told(), Target(), Meter()
        self.reloader = Reloader(
            make_build(lambda: self.loaded), lambda: self.loaded, self.target, self.meter, self.told
        )

    def write(self, certificate: Pair | None, key: Pair | None) -> None:
        """Half a pair, or both."""
        if certificate is not None:
            self.certificate.write_bytes(certificate.certificate.read_bytes())
        if key is not None:
            self.key.write_bytes(key.key.read_bytes())

    @property
    def successful(self) -> int:
        """The gauge."""
        return int(self.meter._watched["saywhy_config_last_reload_successful"]()[()])

    async def until(self, *words: str) -> None:
        """Until these, and nothing else, were told of."""
        for _ in range(2000):
            if self.told.words() == list(words):
                return
            await asyncio.sleep(0.005)
        raise AssertionError(self.told.words())


@asynccontextmanager
async def watching(stage: Stage) -> AsyncIterator[None]:
    """The reloader looks at its files while the block runs."""
    task = asyncio.create_task(stage.reloader.watch())
    yield
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("whose", ["callers", "sites"])
async def test_half_a_renewal_is_waited_for(
    tmp_path: Path, pairs: tuple[Pair, Pair], whose: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reloading, "POLL_SECONDS", 0.05)
    monkeypatch.setattr(reloading, "UNPAIRED_LOOKS", 1000)
    stage = Stage(tmp_path, pairs[0], whose)
    async with watching(stage):
        stage.write(pairs[1], None)
        await stage.until("reload_waits")
        await asyncio.sleep(0.2)  # some more looks at the same half
        assert stage.told.words() == ["reload_waits"]
        assert stage.successful == 1
        assert "belong together" in (await stage.reloader.reload("SIGHUP"))[0], "whoever asks is told at once"
        assert stage.told.all.pop()[:2] == ("error", "reload_refused")
        stage.write(None, pairs[1])
        await stage.until("reload_waits", "reloaded")
    about = stage.told.all[-1][2]
    assert {str(stage.certificate), str(stage.key)} >= set(about["changed"]) > set()
    if whose == "callers":
        end = time.time() + 9 * 86400
        assert about["certificate_until"] in {
            time.strftime("%Y-%m-%d", time.gmtime(end + late)) for late in (-60, 0)
        }


async def test_half_a_renewal_that_stays_one_is_an_error(
    tmp_path: Path, pairs: tuple[Pair, Pair], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reloading, "POLL_SECONDS", 0.02)
    stage = Stage(tmp_path, pairs[0], "callers")
    async with watching(stage):
        stage.write(pairs[1], None)
        await stage.until("reload_waits", "reload_refused")
        await asyncio.sleep(0.15)
        assert stage.told.words() == ["reload_waits", "reload_refused"], "and it is said once"
        assert stage.successful == 0
        stage.certificate.write_text("none of this is PEM")
        await stage.until("reload_waits", "reload_refused", "reload_refused")  # no renewal looks so


def test_the_end_of_a_certificate(tmp_path: Path, pairs: tuple[Pair, Pair]) -> None:
    assert ends_at(pairs[1].certificate) > ends_at(pairs[0].certificate) > "20"
    assert ends_at(tmp_path / "gone") == ""


async def test_what_waits_for_a_restart_runs_on(tmp_path: Path, pairs: tuple[Pair, Pair]) -> None:
    """A worker that takes a dead one's place is like its neighbours; sockets opened for TLS stay it."""
    stage = Stage(tmp_path, pairs[0], "callers")
    started = stage.loaded.settings
    stage.loaded = Loaded(
        Settings.model_validate(
            {"upstreams": {"default": "http://127.0.0.1:2"}, "limits": {"head_bytes": 9000}, "workers": 3}
        )
    )
    assert await stage.reloader.reload("SIGHUP") == ()
    assert stage.reloader.needs_restart == ("workers", "limits", "tls.listen")
    build = stage.target.build
    assert build.tls is not None
    running = as_started(build, started).loaded.settings
    assert (running.workers, running.limits) == (started.workers, started.limits)
    assert running.upstreams["default"].url == "http://127.0.0.1:2"
