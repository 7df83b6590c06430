"""One answer that the core may want to change: both heads are shown to it, the body held as long as it asks, and what
it decides kept for the record.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Final

from saywhy.core.model import Head, PassReason, Plan, Request, Response, Verdict
from saywhy.relay.hold import Hold
from saywhy.relay.lines import CHUNKED
from saywhy.relay.reply import ResponseHead

if TYPE_CHECKING:
    from saywhy.relay.relay import Decider, Relay

_LOG: Final = logging.getLogger("saywhy.relay")


class Decision:
    """`hold` is where the body waits, None where it need not (or no more). `verdict` is what became of the answer, as
    far as there is something to say; `seconds` what deciding took.
    """

    __slots__ = ("_decider", "_plan", "_values", "hold", "seconds", "verdict")

    def __init__(self, relay: Relay, decider: Decider, request: Request, reply: ResponseHead) -> None:
        self._decider = decider
        self._values = Head(request, Response(reply.status, reply.fields()))
        plan: Plan = decider.triage(self._values)
        self._plan = plan
        self.hold: Hold | None = None
        self.verdict: Verdict | None = None
        self.seconds = 0.0
        if plan.action in ("hold", "peek"):
            wait = relay.wait_peek if plan.action == "peek" else relay.wait_hold
            self.hold = Hold(plan.limit, reply.kind == CHUNKED, relay.budget, relay.sweep.now + wait)
        elif reply.status >= 400:  # counted by why it passed
            self.verdict = self._passed(plan.reason)

    def _passed(self, reason: PassReason, fault: str = "") -> Verdict:
        response = self._values.response
        return Verdict(
            action="pass",
            status=response.status,
            fields=response.fields,
            caller=self._plan.caller,
            reason=reason,
            original_status=response.status,
            fault=fault,
        )

    def settle(self, complete: bool) -> tuple[Verdict, bytes]:
        """End the hold and ask the core; its verdict, and the bytes that were held as they came."""
        hold = self.hold
        assert hold is not None
        self.hold = None
        hold.release()
        start = time.perf_counter()
        try:
            verdict = self._decider.normalize(
                self._values, self._plan, hold.content(), complete=complete, now=time.time()
            )
        except Exception as error:
            # The core promises not to raise. Should it, the caller must still be answered: with the site's own bytes.
            _LOG.exception("deciding about an answer failed")
            verdict = self._passed("", type(error).__name__)
        self.seconds = time.perf_counter() - start
        self.verdict = verdict
        return verdict, hold.wire()

    def drop(self) -> None:
        """Nobody wants an answer any more."""
        if self.hold is not None:
            self.hold.release()
