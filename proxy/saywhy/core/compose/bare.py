"""Envelopes without a word of the site's: the bare one of a status, when rewriting failed or leaked, and those of the
proxy's own failures. They need no scrub, for nothing strange is in them, not even the name of the host.
"""

from __future__ import annotations

from saywhy.core.compose import sentences
from saywhy.core.compose.advice import advise
from saywhy.core.contract import codes, kinds
from saywhy.core.contract.codes import DEFAULT_WAIT, Code
from saywhy.core.contract.envelope import Envelope, Error, Recovery
from saywhy.core.contract.statuses import code_for_status
from saywhy.core.failures import Failure
from saywhy.core.hints.wait import CAP, wait
from saywhy.core.model import Head, Request
from saywhy.core.scrub.clean import Clean


def bare(head: Head, *, now: float, code: str = "") -> Envelope:
    """The envelope of a status and header fields alone; `code` (one of ours) where it is known all the same."""
    status = head.response.status
    row = codes.look_up(code if code in codes.CODES else code_for_status(status))
    said = wait(head.response.fields, now=now) if row.code in DEFAULT_WAIT else None
    message = sentences.happened(
        row.code, status=status, by_status=not code, host="", field=None, own_code=False
    )
    return _envelope(row, head.request, status=status, said=said, message=message, failure=None)


def failure_envelope(
    request: Request, failure: Failure, *, seconds: int | None = None, mapped: bool = False
) -> Envelope:
    """The envelope of the proxy's own `failure`; `seconds` is a wait that is known better than the table's, `mapped` says
    that it is sent with another status than its own.
    """
    row = codes.look_up(failure.code)
    kind = kinds.look_up(failure.kind)
    row = row._replace(kind=kind.kind, origin=kind.origin, action=row.action if failure.wait else kind.action)
    said = min(seconds or failure.wait, CAP) or None
    message = sentences.own(failure.message)
    return _envelope(
        row,
        request,
        status=failure.status,
        said=said,
        by_table=not seconds,
        message=message,
        failure=failure,
        original_status=failure.status if mapped else None,
    )


def _envelope(
    row: Code,
    request: Request,
    *,
    status: int,
    said: int | None,
    message: Clean,
    failure: Failure | None,
    by_table: bool = False,
    original_status: int | None = None,
) -> Envelope:
    """`said`: seconds of a wait; `by_table`: nobody named it but our own table."""
    keyed = "idempotency-key" in request.fields
    advice = advise(
        row,
        method=request.method.upper(),
        keyed=keyed,
        status=status,
        waits=said is not None and failure is None,
        failure=failure,
        given=None,
    )
    seconds = said or DEFAULT_WAIT.get(row.code)
    named = said is not None and not by_table
    guidance = sentences.guidance(
        row.code,
        status=status,
        by_status=failure is None,
        wait=seconds,
        waits=named,
        doubtful=advice.doubtful,
        keyed=keyed,
        fields=(),
        scopes=(),
        url=False,
    )
    own = sentences.word
    return Envelope(
        error=Error(
            code=own(row.code),
            message=message,
            retry=own(advice.retry),
            retry_after=seconds,
            retry_after_source="default" if seconds and not named else None,
            kind=own(row.kind),
            origin=own(row.origin),
            recovery=Recovery(
                action=own(row.action),
                same_arguments=own(advice.same_arguments),
                guidance=guidance,
                retry_after_ms=seconds * 1000 if seconds else None,
            ),
            side_effects=own(advice.side_effects),
            source="proxy" if failure is not None else "site",
            original_status=original_status,
        )
    )
