"""One answer that the core may want to change: both heads are shown to it, the body held as long as it asks, and what
it decides kept for the record.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from saywhy.core.model import Head, PassReason, Plan, Request, Response, Verdict
from saywhy.edge.events import named
from saywhy.relay.hold import Hold
from saywhy.relay.lines import CHUNKED
from saywhy.relay.reply import ResponseHead

if TYPE_CHECKING:
    from saywhy.relay.relay import Decider, Relay

_LOG: Final = logging.getLogger("saywhy.relay")
_Answer = TypeVar("_Answer", Verdict, Verdict | None)


class Decision:
    """`hold` is where the body waits, None where it need not (or no more). `verdict` is what became of the answer, as
    far as there is something to say; `seconds` what deciding took.
    """

    __slots__ = ("_decider", "_plan", "_reader", "_values", "hold", "seconds", "verdict")

    def __init__(self, relay: Relay, decider: Decider, request: Request, reply: ResponseHead) -> None:
        self._decider = decider
        self._reader = relay.reader
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

    def settle(self, complete: bool, later: Callable[[Verdict, bytes], None]) -> tuple[Verdict, bytes] | None:
        """End the hold and ask the core; its verdict, and the bytes that were held as they came. None where reading takes
        long: then `later` gets both, called from the loop, and must bear that nobody wants them any more.
        """
        hold = self.hold
        assert hold is not None
        self.hold = None
        content = hold.content()
        start = time.perf_counter()

        def settled(verdict: Verdict) -> tuple[Verdict, bytes]:
            hold.release()
            self.seconds = time.perf_counter() - start
            self.verdict = verdict
            return verdict, hold.wire()

        verdict = self._ask(self._decider.hurry, content, complete)
        if verdict is not None:
            return settled(verdict)
        read = partial(self._ask, self._decider.normalize)
        # Where only scrub is at stake nothing but reading will do; an agent is told as much as the status says.
        if self._plan.caller.is_agent and not self._reader.has_room:
            return settled(read(b"", False))
        self._reader.read(partial(read, content, complete), lambda verdict: later(*settled(verdict)))
        return None

    def _ask(self, decide: Callable[..., _Answer], content: bytes, complete: bool) -> _Answer | Verdict:
        try:
            return decide(self._values, self._plan, content, complete=complete, now=time.time())
        except Exception as error:
            # The core promises not to raise. Should it, the caller must still be answered: with the site's own bytes.
            _LOG.exception("Deciding about an answer failed.", extra=named("deciding_failed"))
            return self._passed("", type(error).__name__)

    def drop(self) -> None:
        """Nobody wants an answer any more."""
        if self.hold is not None:
            self.hold.release()
