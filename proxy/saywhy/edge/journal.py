"""The access log: one line an exchange, JSON for machines or coloured text on a terminal.

A line is made by one template (1 to 2 microseconds; structlog's JSON line costs 14) and handed to a writing thread, so
that a reader who stalls never stalls the event loop. Lines wait in a bounded queue; what does not fit is counted, and
the log says how many are missing. No query, no body, no secret: an Outcome holds none of them. Whatever a caller
chose (method, host, path, ids) is bounded, and escaped so that a line stays a line.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from json.encoder import encode_basestring_ascii as quoted
from typing import Literal

from saywhy.core.model import Outcome, Verdict

Level = Literal["info", "warning", "error"]
LEVELS: dict[str, int] = {"info": 0, "warning": 1, "error": 2}

PATH_CHARS = 512
WORD_CHARS = 255
"""Bounds of what a caller chose; a host name has at most 253 characters (RFC 1035 2.3.4)."""
FLUSH_BYTES = 65536
FLUSH_SECONDS = 1.0
BLOCK_LINES = 256
"""In one write: about 64 KiB, and no line has more than 3,000 bytes."""
WAITING_LINES = 20_000
"""About 10 MB of lines: some seconds of full load, long enough for a log collector that restarts."""

_JSON_GAP = '{"level":"warning","event":"lines of this log were dropped","count":%d}\n'
_TEXT_GAP = "(%d lines of this log were dropped)\n"
_THREE_DIGITS = tuple(f"{number:03d}" for number in range(1000))  # a look-up costs a third of a format


def level_of(outcome: Outcome) -> Level:
    """ERROR: the proxy itself failed. WARNING: any other error, which the caller or the site has to mend."""
    status, verdict = outcome.sent_status, outcome.verdict
    if verdict is None:
        return "info" if status < 400 else "error" if outcome.failure and status >= 500 else "warning"
    if verdict.fault or (outcome.failure and status >= 500):
        return "error"
    return "warning" if status >= 400 or verdict.code else "info"


def _who(verdict: Verdict | None, status: int, failure: str) -> str:
    """Who asked. Where nobody looked closer, an error's caller showed no trace of an agent."""
    if verdict is not None:
        return "agent" if verdict.caller.is_agent else "other"
    return "other" if status >= 400 and not failure else "unknown"


def _bounded(text: str, limit: int) -> str:
    return quoted(text if len(text) <= limit else text[:limit] + "...")


class JsonLines:
    """Outcome -> one line of JSON. Keeps the second's time and the few words that repeat."""

    def __init__(self) -> None:
        self._second = -1
        self._stamp = ""
        self._words: dict[str, str] = {}
        self._asked: dict[tuple[str, str], str] = {}

    def _word(self, text: str) -> str:
        """A method, a host, an upstream: nearly always one of a few, so the quoted form is kept."""
        known = self._words.get(text)
        if known is None:
            known = _bounded(text, WORD_CHARS)
            # Callers choose hosts: what is kept is bounded in number and, by the relay's limits, in length.
            if len(self._words) < 256 and len(text) <= WORD_CHARS:
                self._words[text] = known
        return known

    def _members(self, method: str, host: str) -> str:
        """The two members that say what was asked of whom, kept as `_word` keeps words."""
        members = f',"method":{self._word(method)},"host":{self._word(host)},"path":'
        if len(self._asked) < 256 and len(method) + len(host) <= WORD_CHARS:
            self._asked[method, host] = members
        return members

    def __call__(self, outcome: Outcome, level: Level) -> str:
        (
            started,
            method,
            host,
            path,
            upstream,
            request_id,
            traceparent,
            original,
            sent,
            came,
            left,
            took,
            site,
            rewriting,
            verdict,
            failure,
        ) = outcome
        second = int(started)
        if second != self._second:
            self._second, self._stamp = (
                second,
                time.strftime('{"time":"%Y-%m-%dT%H:%M:%S.', time.gmtime(second)),
            )
        line = (
            f'{self._stamp}{_THREE_DIGITS[int((started - second) * 1000)]}Z","level":"{level}","caller":"{_who(verdict, sent, failure)}"'
            f"{self._asked.get((method, host)) or self._members(method, host)}"
            f'{quoted(path) if len(path) <= PATH_CHARS else _bounded(path, PATH_CHARS)},"upstream":{self._words.get(upstream) or self._word(upstream)}'
            f',"original_status":{original},"status":{sent},"bytes_in":{came},"bytes_out":{left}'
            f',"duration_ms":{took * 1000:.3f},"upstream_ms":{site * 1000:.3f}'
            f',"request_id":{quoted(request_id) if len(request_id) <= WORD_CHARS else _bounded(request_id, WORD_CHARS)}'
        )
        if traceparent:
            line += ',"traceparent":' + _bounded(traceparent, WORD_CHARS)
        if failure:
            line += ',"failure":' + quoted(failure)
        if verdict is not None:
            return line + self._of_verdict(verdict, rewriting)
        return line + (',"action":"pass","reason":"not_agent"}\n' if sent >= 400 and not failure else "}\n")

    def _of_verdict(self, verdict: Verdict, seconds: float) -> str:
        line = (
            f',"action":"{verdict.action}","decided_by":"{verdict.decided_by}","source":"{verdict.source}"'
            f',"original_bytes":{verdict.original_bytes},"rewrite_ms":{seconds * 1000:.3f}'
            f',"caller_by":"{verdict.caller.by}","code":{_bounded(verdict.code, WORD_CHARS)}'
        )
        if verdict.rule:
            line += ',"rule":' + _bounded(verdict.rule, WORD_CHARS)
        if verdict.reason:
            line += f',"reason":"{verdict.reason}"'
        if verdict.redactions:
            counted = ",".join(f"{quoted(kind)}:{count}" for kind, count in verdict.redactions.items())
            line += f',"redactions":{{{counted}}}'
        if verdict.shadow_rules:
            line += ',"shadow_rules":[' + ",".join(quoted(rule) for rule in verdict.shadow_rules) + "]"
        if verdict.fault:
            line += ',"fault":' + quoted(verdict.fault)
        return line + "}\n"


_COLOURS = {"info": "32", "warning": "33", "error": "31"}


def text_line(outcome: Outcome, level: Level) -> str:
    """Outcome -> one coloured line for a terminal."""
    verdict = outcome.verdict
    clock = time.strftime("%H:%M:%S", time.localtime(outcome.started))
    status = str(outcome.sent_status)
    if outcome.original_status and outcome.original_status != outcome.sent_status:
        status = f"{outcome.original_status}>{status}"
    what = ""
    if outcome.failure:
        what = f" {outcome.failure}"
    if verdict is not None:
        who = _who(verdict, outcome.sent_status, outcome.failure)
        what += f" {who} {verdict.action} {verdict.code or verdict.reason} by {verdict.rule or verdict.decided_by}"
    elif outcome.sent_status >= 400 and not outcome.failure:
        what = " other pass not_agent"
    shown = [_bounded(one, PATH_CHARS)[1:-1] for one in (outcome.method, outcome.host, outcome.path)]
    return (
        f"\x1b[2m{clock}\x1b[0m \x1b[{_COLOURS[level]}m{status}\x1b[0m {shown[0]} {shown[1]}{shown[2]}"
        f" \x1b[2m{outcome.duration * 1000:.1f} ms {outcome.bytes_out} B\x1b[0m{what}\n"
    )


class Journal:
    """Writes one line an exchange to the file descriptor `fd`, from a thread of its own.

    Flushed after 64 KiB, after a second, and by `close`. `dropped` counts the lines that found the queue full or
    nobody reading.
    """

    def __init__(
        self, fd: int = 1, *, style: Literal["json", "text"] = "json", level: Level = "info"
    ) -> None:
        self._fd = fd
        self._line: Callable[[Outcome, Level], str] = JsonLines() if style == "json" else text_line
        self._gap = _JSON_GAP if style == "json" else _TEXT_GAP
        self._level = LEVELS[level]
        # A deque's append and popleft are atomic: two threads share it without a lock on the hot path.
        self._waiting: deque[str] = deque()
        self._unflushed = 0
        self._wake = threading.Event()
        self._ended = False
        self.dropped = 0
        self._reported = 0
        self._thread = threading.Thread(target=self._write_until_closed, name="journal", daemon=True)
        self._thread.start()

    def set_level(self, level: Level) -> None:
        """From now on, write lines of `level` and above."""
        self._level = LEVELS[level]

    def record(self, outcome: Outcome) -> None:
        """Queue the line of one exchange. Never blocks, never raises."""
        level = level_of(outcome)
        if self._level and LEVELS[level] < self._level:
            return
        if len(self._waiting) >= WAITING_LINES:
            self.dropped += 1
            return
        line = self._line(outcome, level)
        self._waiting.append(line)
        self._unflushed += len(line)
        if self._unflushed >= FLUSH_BYTES:
            self._unflushed = 0
            self._wake.set()

    def close(self, timeout: float = 2.0) -> None:
        """Write what waits, for at most `timeout` seconds: a reader who stalls must not keep the process alive."""
        self._ended = True
        self._wake.set()
        self._thread.join(timeout)

    def _write_until_closed(self) -> None:
        while not self._ended:
            self._wake.wait(FLUSH_SECONDS)
            self._wake.clear()
            self._flush()
        self._flush()

    def _flush(self) -> None:
        while self._waiting:
            take = self._waiting.popleft
            lines = [take() for _ in range(min(len(self._waiting), BLOCK_LINES))]
            if self.dropped > self._reported:
                self._reported, missing = self.dropped, self.dropped - self._reported
                lines.append(self._gap % missing)
            self._write("".join(lines).encode("utf-8", "backslashreplace"), len(lines))

    def _write(self, block: bytes, lines: int) -> None:
        view = memoryview(block)
        try:
            while view:
                view = view[os.write(self._fd, view) :]
        except OSError:
            # Nobody reads any more (a closed pipe) or the disk is full. The proxy's work goes on.
            self.dropped += lines
            self._reported += lines
