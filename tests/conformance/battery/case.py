"""One case, what was seen of it, and the bytes that most cases are made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

from battery.site import Script
from battery.wire import CRLF, HEAD_END, Answer, Asked, read_answers, read_requests

HOST = b"t.example"
"""The host of every request that does not play with it. Lanes put a name of the same length in its place."""


@dataclass(frozen=True)
class Seen:
    """One case as both ends saw it. `answered` is what the caller got, `asked` what each connection to the site brought."""

    answered: bytes
    ended: Literal["", "eof", "reset"]
    asked: tuple[bytes, ...]
    methods: tuple[bytes, ...] = field(default=(b"GET",))

    @cached_property
    def _read(self) -> tuple[list[Answer], bytes]:
        return read_answers(self.answered, self.methods, ended=self.ended == "eof")

    @property
    def answers(self) -> list[Answer]:
        """Every answer, interim ones too."""
        return self._read[0]

    @property
    def extra(self) -> bytes:
        """What came that is no answer."""
        return self._read[1]

    @property
    def final(self) -> Answer:
        """The first final answer; one of status 0 where there is none."""
        none = Answer(b"", (), b"", b"", False)
        return next((answer for answer in self.answers if answer.status >= 200), none)

    @property
    def status(self) -> int:
        """The first final status, 0 where none came."""
        return self.final.status

    @property
    def statuses(self) -> list[int]:
        """All of them, interim ones too."""
        return [answer.status for answer in self.answers]

    @cached_property
    def requests(self) -> list[Asked]:
        """Every request that began to reach the site; unfinished ones are not `whole`."""
        found: list[Asked] = []
        for record in self.asked:
            whole, left = read_requests(record)
            found += whole
            if left:
                head, _, body = left.partition(HEAD_END)
                first, *lines = head.split(CRLF)
                found.append(Asked(first, tuple(lines), body, whole=False))
        return found

    @property
    def request(self) -> Asked:
        """The first request that reached the site; an empty one where none did."""
        return self.requests[0] if self.requests else Asked(b"", (), whole=False)


class Note(NamedTuple):
    """A verdict that is none: what was seen is written down, and nothing asked of it."""

    text: str


Verdict = Callable[[Seen], bool | Note]


class Case(NamedTuple):
    """One row. `rule` is where the RFC says so; `send` what the caller sends (seconds: wait for something to come);
    `right` whether what was seen is right; `site` what the site plays. `answers`: how many are due. `seconds` is the
    caller's patience. `alone`: it plays with Host or the target, so that hosts must not lead it anywhere.
    """

    name: str
    rule: str
    send: bytes | tuple[bytes | float, ...]
    right: Verdict
    site: Script = Script()
    answers: int = 1
    seconds: float = 1.0
    alone: bool = False

    @property
    def methods(self) -> tuple[bytes, ...]:
        """The method of each answer that is due: HEAD has no content."""
        data = (
            self.send
            if isinstance(self.send, bytes)
            else b"".join(b for b in self.send if isinstance(b, bytes))
        )
        return (data.lstrip(b"\r\n").partition(b" ")[0],) * self.answers


def request(
    method: str = "GET",
    target: str | bytes = "/",
    fields: tuple[str | bytes, ...] = (),
    body: bytes = b"",
    *,
    version: str = "HTTP/1.1",
    host: bytes = b"Host: " + HOST + b"\r\n",
) -> bytes:
    """The bytes of a request; texts are latin-1. `host` is the whole line, or nothing."""
    first = b"%b %b %b\r\n" % (method.encode("latin-1"), _bytes(target), version.encode())
    return first + host + b"".join(_bytes(line) + b"\r\n" for line in fields) + b"\r\n" + body


def post(*fields: str | bytes, body: bytes, version: str = "HTTP/1.1") -> bytes:
    """A POST to / with `body`, framed as `fields` say."""
    return request("POST", "/", fields, body, version=version)


def head(*fields: str | bytes, status: str = "200 OK", version: str = "HTTP/1.1") -> bytes:
    """The head of a site's answer."""
    return (
        f"{version} {status}\r\n".encode("latin-1")
        + b"".join(_bytes(line) + b"\r\n" for line in fields)
        + b"\r\n"
    )


def _bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode("latin-1")
