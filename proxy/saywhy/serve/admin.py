"""The admin port: health, readiness, reload and metrics, as plain aiohttp. It speaks for the process, never for the
site, and belongs on an address that callers do not reach.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from aiohttp import web
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import CollectorRegistry

from saywhy.serve.descriptors import visitors
from saywhy.serve.listening import Listeners
from saywhy.serve.reload import restart_sentence
from saywhy.serve.sites import SocketSite
from saywhy.serve.visitors import Visitors, log_of_visits

_GOODBYE_SECONDS = 1.0
"""For answers under way, when the port closes."""

OVERVIEW = """saywhy, the port of its operators.
GET  /-/healthy  200 while the process runs
GET  /-/ready    200 where new exchanges are welcome, else 503 and why not
POST /-/reload   settings and rules anew; 500 and why where the old ones stay
GET  /metrics    for Prometheus
"""


class Operations(Protocol):
    """What the admin port asks of the running process."""

    @property
    def not_ready(self) -> str:
        """Why no new exchanges should come here; empty where they should."""

    @property
    def registry(self) -> CollectorRegistry:
        """What /metrics shows."""

    async def refresh(self) -> None:
        """Bring the registry up to date, in bounded time."""

    async def reload(self, why: str) -> tuple[str, ...]:
        """Load settings and rules anew; the problems that kept the old set in force."""

    @property
    def needs_restart(self) -> Sequence[str]:
        """Settings that differ from those that run, and that a reload cannot change."""


class AdminPort:
    """The application on its socket, if it has one."""

    def __init__(self, operations: Operations) -> None:
        self._application = admin_application(operations)
        self._runner: web.AppRunner | None = None
        self._listeners: Listeners | None = None

    async def start(self, listeners: Listeners) -> None:
        """Answer on `listeners`; where there is none, the port is switched off."""
        self._listeners = listeners
        self._runner = web.AppRunner(
            self._application, access_log=None, logger=log_of_visits(), shutdown_timeout=_GOODBYE_SECONDS
        )
        await self._runner.setup()
        assert self._runner.server is not None
        most = visitors()
        protocols = Visitors(self._runner.server, most)
        for sock, _ in listeners.share(0):
            await SocketSite(self._runner, sock, backlog=most, protocols=protocols).start()

    async def stop(self) -> None:
        """No more answers."""
        if self._listeners is not None:
            self._listeners.remove_files()
            self._listeners.close()
        if self._runner is not None:
            await self._runner.cleanup()


def admin_application(operations: Operations) -> web.Application:
    """GET /-/healthy, /-/ready and /metrics; POST /-/reload. GET / names them."""

    async def overview(request: web.Request) -> web.Response:
        return web.Response(text=OVERVIEW)

    async def healthy(request: web.Request) -> web.Response:
        return web.Response(text="The process runs.\n")

    async def ready(request: web.Request) -> web.Response:
        # Never asks the site: a sidecar that waits for its own application would keep the pod from ever starting.
        why = operations.not_ready
        return web.Response(text=f"{why}\n", status=503) if why else web.Response(text="Ready.\n")

    async def metrics(request: web.Request) -> web.Response:
        await operations.refresh()
        encode, content_type = choose_encoder(request.headers.get("Accept", ""))
        return web.Response(body=encode(operations.registry), headers={"Content-Type": content_type})

    async def reload(request: web.Request) -> web.Response:
        problems = await operations.reload("/-/reload")
        status = 500 if problems else 200
        if "json" in request.headers.get("Accept", ""):
            told = {
                "ok": not problems,
                "problems": list(problems),
                "needs_restart": list(operations.needs_restart),
            }
            return web.json_response(told, status=status)
        if problems:
            text = "\n".join(("The old settings and rules stay in force:", *problems))
        else:
            text = " ".join(("Reloaded.", *filter(None, [restart_sentence(operations.needs_restart)])))
        return web.Response(text=f"{text}\n", status=status)

    application = web.Application(middlewares=[_plain_answers])
    application.router.add_get("/", overview)
    application.router.add_get("/-/healthy", healthy)
    application.router.add_get("/-/ready", ready)
    application.router.add_get("/metrics", metrics)
    application.router.add_post("/-/reload", reload)
    return application


@web.middleware
async def _plain_answers(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """Nothing of the admin port is kept by a cache or guessed at by a browser."""
    try:
        response = await handler(request)
    except web.HTTPException as refused:
        more = f"\n{OVERVIEW}" if refused.status == 404 else ""
        response = web.Response(text=f"{refused.status} {refused.reason}\n{more}", status=refused.status)
        if isinstance(refused, web.HTTPMethodNotAllowed):
            response.headers["Allow"] = ", ".join(sorted(refused.allowed_methods))
    response.headers["Cache-Control"] = "no-store"
    response.headers["Server"] = "saywhy"
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response
