"""Answers to the proxy's own failures. They never repeat a byte of the request."""

from __future__ import annotations

from http import HTTPStatus

from saywhy.core import fields as sections
from saywhy.core.compose import failure_envelope
from saywhy.core.failures import Failure, edge_safe
from saywhy.core.hints.wait import CAP
from saywhy.core.model import Caller, Fields, Request, Verdict
from saywhy.core.policy import Policy
from saywhy.core.render import RENDERINGS, render


def failure_answer(
    request: Request, failure: Failure, caller: Caller, policy: Policy, *, now: float, wait: int | None
) -> Verdict:
    """An envelope for an agent, a short plain page for anyone else. `wait` in seconds overrules the table's.

    With `edge_safe_status` both are sent as 503 instead of 502 or 504; the envelope and the verdict keep the original.
    """
    status = edge_safe(failure.status) if policy.edge_safe_status else failure.status
    mapped = status != failure.status
    envelope = failure_envelope(request, failure, seconds=wait, mapped=mapped)
    is_head = request.method.upper() == "HEAD"
    if caller.is_agent and not (caller.browser_marks and policy.signed_browsers == "headers"):
        media = caller.media
        body = b"" if is_head else render(envelope, media, status=status, public_url=policy.public_url)
        fields = sections.rewritten_fields(
            Fields(),
            envelope.error,
            status=status,
            received=0,
            content_type=RENDERINGS[media].content_type,
            length=None if is_head else len(body),
            useragents=policy.useragents,
            now=now,
            token=failure.token,
        )
    else:
        media = "text/plain"
        page = f"{status} {_phrase(status)}\n\n{failure.message}\n".encode("ascii")
        body = b"" if is_head else page
        seconds = min(wait or failure.wait, CAP)
        fields = sections.plain_fields(length=len(page), token=failure.token, wait=seconds)
    return Verdict(
        action="rewrite",
        status=status,
        fields=fields,
        body=body,
        envelope=envelope,
        media=media,
        code=failure.code,
        caller=caller,
        source="proxy",
        original_status=failure.status if mapped else 0,
    )


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Error"
