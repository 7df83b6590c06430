"""The access log: one line an exchange, JSON for machines or text for people.

A line is made by one template (1 to 2 microseconds; a general JSON encoder costs 14) and handed to a writing thread, so
that a reader who stalls never stalls the event loop. Lines wait in a bounded queue; what does not fit is counted, and
the log says how many are missing. No query, no body: an Outcome holds neither; a
token in a path is masked. Whatever a caller
chose (method, host, path, ids) is bounded, and escaped so that a line stays a line.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from json.encoder import encode_basestring_ascii as quoted
from typing import Literal

from saywhy.core.model import Outcome, Verdict
from saywhy.edge.lines import CLOSE_SECONDS, Lines, coloured, json_gap, text_gap
from saywhy.edge.pathmask import PATH_CHARS, PLAIN_PATH, PathMask

Level = Literal["info", "warning", "error"]
LEVELS: dict[str, int] = {"info": 0, "warning": 1, "error": 2}

WORD_CHARS = 255
"""Of what a caller chose, beside the path (PATH_CHARS); a host name has at most 253 characters (RFC 1035 2.3.4)."""

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


def _in_shadow(verdict: Verdict) -> bool:
    """Whether this is what would have been: the route is in shadow mode, and something was found."""
    return verdict.action == "pass" and verdict.reason == "opted_out" and bool(verdict.code)


def _bounded(text: str, limit: int) -> str:
    return quoted(text if len(text) <= limit else text[:limit] + "...")


class JsonLines:
    """Outcome -> one line of JSON. Keeps the second's time and the few words that repeat."""

    def __init__(self) -> None:
        self._second = -1
        self._stamp = ""
        self._words: dict[str, str] = {}
        self._asked: dict[tuple[str, str], str] = {}
        self._shown_path = PathMask()

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
        if not original and verdict is not None:
            original = verdict.original_status  # of a failure of ours that was sent as another one
        if len(path) > PLAIN_PATH or ";" in path or "=" in path or "%3" in path:
            shown = _bounded(self._shown_path(path), PATH_CHARS)
        else:
            shown = quoted(path)
        who = "unknown" if verdict is None and sent < 400 else _who(verdict, sent, failure)
        second = int(started)
        if second != self._second:
            self._second, self._stamp = (
                second,
                time.strftime('{"time":"%Y-%m-%dT%H:%M:%S.', time.gmtime(second)),
            )
        line = (
            f'{self._stamp}{_THREE_DIGITS[int((started - second) * 1000)]}Z","level":"{level}","caller":"{who}"'
            f"{self._asked.get((method, host)) or self._members(method, host)}"
            f'{shown},"upstream":{self._words.get(upstream) or self._word(upstream)}'
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
        line = f',"action":"{verdict.action}","source":"{verdict.source}","caller_by":"{verdict.caller.by}"'
        if _in_shadow(verdict):
            line += ',"mode":"shadow"'
        if verdict.code:  # where nothing was found nothing decided
            line += f',"code":{_bounded(verdict.code, WORD_CHARS)},"decided_by":"{verdict.decided_by}"'
        line += f',"original_bytes":{verdict.original_bytes},"rewrite_ms":{seconds * 1000:.3f}'
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


class TextLines:
    """Outcome -> one line for people, in colour where `colours`."""

    def __init__(self, *, colours: bool) -> None:
        self._colours = colours
        self._shown_path = PathMask()

    def _drawn(self, text: str, colour: str) -> str:
        return f"\x1b[{colour}m{text}\x1b[0m" if self._colours else text

    def __call__(self, outcome: Outcome, level: Level) -> str:
        verdict = outcome.verdict
        status = str(outcome.sent_status)
        original = outcome.original_status or (verdict.original_status if verdict is not None else 0)
        if original and original != outcome.sent_status:
            status = f"{original}>{status}"
        what = ""
        if outcome.failure:
            what = f" {outcome.failure}"
        if verdict is not None:
            what += f" {_who(verdict, outcome.sent_status, outcome.failure)} {_decision(verdict)}"
        elif outcome.sent_status >= 400 and not outcome.failure:
            what = " other pass not_agent"
        shown = [
            _bounded(one, PATH_CHARS)[1:-1]
            for one in (outcome.method, outcome.host, self._shown_path(outcome.path))
        ]
        clock = self._drawn(time.strftime("%H:%M:%S", time.localtime(outcome.started)), "2")
        sizes = self._drawn(f"{outcome.duration * 1000:.1f} ms {outcome.bytes_out} B", "2")
        return (
            f"{clock} {self._drawn(status, _COLOURS[level])} {shown[0]} {shown[1]}{shown[2]} {sizes}{what}\n"
        )


def _decision(verdict: Verdict) -> str:
    if not verdict.code:
        return f"{verdict.action} {verdict.reason}".rstrip()
    shadow = "shadow: " if _in_shadow(verdict) else ""
    code = _bounded(verdict.code, WORD_CHARS)[1:-1]
    return f"{verdict.action} {shadow}{code} by {verdict.rule or verdict.decided_by}"


class Journal:
    """Writes one line an exchange to the file descriptor `fd`, from a thread of its own (see `Lines`)."""

    def __init__(
        self, fd: int = 1, *, style: Literal["json", "text"] = "json", level: Level = "info"
    ) -> None:
        self._line: Callable[[Outcome, Level], str]
        self._line = JsonLines() if style == "json" else TextLines(colours=coloured(fd))
        self._level = LEVELS[level]
        self._lines = Lines(fd, json_gap if style == "json" else text_gap, name="journal")

    @property
    def dropped(self) -> int:
        """The lines that found the queue full or nobody reading."""
        return self._lines.dropped

    def set_level(self, level: Level) -> None:
        """From now on, write lines of `level` and above."""
        self._level = LEVELS[level]

    def record(self, outcome: Outcome) -> None:
        """Queue the line of one exchange. Never blocks, never raises."""
        level: Level = "info" if outcome.verdict is None and outcome.sent_status < 400 else level_of(outcome)
        if self._level and LEVELS[level] < self._level:
            return
        # Where there is no room the line need not be made.
        self._lines.put("" if self._lines.full else self._line(outcome, level))

    def close(self, timeout: float = CLOSE_SECONDS) -> None:
        """Write what waits, for at most `timeout` seconds."""
        self._lines.close(timeout)
