"""What spans several settings: routes and the upstreams that they name, and what one upstream says twice; and the
settings as the core's Routes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from saywhy.core.policy import Policy, Routes
from saywhy.edge.settings.faults import Path, Problem, dotted, origin_of
from saywhy.edge.settings.globs import unreachable
from saywhy.edge.settings.listening import clashes, half_given
from saywhy.edge.settings.sections import Route, Settings
from saywhy.edge.settings.upstreams import contradictions, doubts


def default_upstream(settings: Settings) -> str:
    """The upstream of routes that name none: the one called default, else the only one, else empty."""
    names = list(settings.upstreams)
    return "default" if "default" in names else names[0] if len(names) == 1 else ""


def crosscheck(settings: Settings, origins: Mapping[Path, str]) -> list[Problem]:
    """Every route must lead to an upstream and be reachable; an upstream must not contradict itself."""
    problems: list[Problem] = []
    unconditional: int | None = None

    def complain(path: Path, message: str, beside: Path = ()) -> None:
        """`beside` is the other half of a contradiction: it was written where the one at `path` is a default."""
        where = origin_of(path, origins) or (origin_of(beside, origins) if beside else "")
        problems.append(Problem(where, dotted(path), message))

    if not settings.listen and not settings.tls.listen:
        complain(("listen",), "is off, and so is tls.listen: nobody could come in; write 127.0.0.1:8080.")
    for path, other, message in clashes(settings.listen, settings.tls, settings.admin):
        complain(path, message, other)
    for key, message in half_given(settings.tls, switched_off=("tls", "listen") in origins):
        complain(("tls", key), message, ("tls", "listen"))
    if len(settings.upstreams) > 1 and not settings.routes and not default_upstream(settings):
        names = ", ".join(settings.upstreams)
        complain(
            ("upstreams",),
            f"are {names}, and nothing says which of them gets what: add routes, or call one of them default.",
        )
    for place, route in enumerate(settings.routes):
        for key, message in unreachable(route):
            complain(("routes", place, key), message)
        if unconditional is not None:
            complain(
                ("routes", place),
                f"can never be reached: routes[{unconditional}] matches everything; move it up.",
            )
        elif not route.host and not route.path:
            unconditional = place
        if route.upstream and route.upstream not in settings.upstreams:
            near = get_close_matches(route.upstream, settings.upstreams, n=1)
            remedy = (
                f"did you mean {near[0]}?"
                if near
                else f"add it to upstreams ({', '.join(settings.upstreams) or 'there are none'})."
            )
            complain(
                ("routes", place, "upstream"),
                f"is {route.upstream!r}, which is not among upstreams; {remedy}",
            )
        elif not route.upstream and len(settings.upstreams) > 1 and not default_upstream(settings):
            complain(
                ("routes", place, "upstream"), f"is missing; name one of {', '.join(settings.upstreams)}."
            )
    for name, upstream in settings.upstreams.items():
        for key, message in contradictions(upstream):
            complain(("upstreams", name, key), message)
    return problems


def doubted(settings: Settings, origins: Mapping[Path, str]) -> Iterator[Problem]:
    """What works, and is perhaps not what was wanted."""
    for name, upstream in settings.upstreams.items():
        for key, message in doubts(upstream):
            path: Path = ("upstreams", name, key)
            yield Problem(origin_of(path, origins), dotted(path), message)


def _policy(route: Route, place: int, settings: Settings) -> Policy:
    return Policy(
        name=route.name or (f"route-{place}" if place else "default"),
        upstream=route.upstream or default_upstream(settings) or "default",
        host=tuple(host.lower() for host in route.host),
        path=route.path,
        callers=route.callers,
        structured_errors=route.structured_errors,
        signed_browsers=route.signed_browsers,
        useragents=route.useragents,
        scrub=route.scrub,
        packs=route.packs or settings.rules.packs or None,
        mode=route.mode,
        passthrough_paths=route.passthrough_paths,
        public_url=settings.public_url,
        edge_safe_status=settings.edge_safe_status,
    )


def to_routes(settings: Settings) -> Routes:
    """The routes as the core takes them. What no route matches goes to the default upstream; where there is none, to
    nobody (404).
    """
    policies = [_policy(route, place, settings) for place, route in enumerate(settings.routes, 1)]
    open_end = not policies or policies[-1].host or policies[-1].path
    if open_end and (default_upstream(settings) or not policies):
        policies.append(_policy(Route(), 0, settings))
    return Routes(tuple(policies))
