"""Both sides at once: an input is a script of what callers and sites say, how much of it is delivered when, who stalls,
ends, resets; dials that arrive late or fail; time that passes. Every answer carries its request's tag, every upload too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

from storm.shapes import POISON

from tests.fuzz.memory import Stage, Wire
from tests.fuzz.replies import ROWS, is_early, is_endless, segments
from tests.fuzz.sight import Seen, Sight

CALLERS = 3
_TAG = re.compile(rb"q(\d)n(\d+)z-\d+")
REQUESTS: tuple[Callable[[bytes], bytes], ...] = (
    lambda tag: b"GET /%b HTTP/1.1\r\nHost: t\r\n\r\n" % tag,
    lambda tag: b"GET /%b HTTP/1.1\r\nHost: t\r\nAccept: application/json\r\n\r\n" % tag,
    lambda tag: b"HEAD /%b HTTP/1.1\r\nHost: t\r\n\r\n" % tag,
    lambda tag: b"POST /%b HTTP/1.1\r\nHost: t\r\nContent-Length: %d\r\n\r\n%b" % (tag, len(tag) * 3, tag * 3),
    lambda tag: b"PUT /%b HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n%x;a\r\n%b\r\n0\r\nX-Sum: 1\r\n\r\n"
    % (tag, len(tag), tag, 2 * len(tag), tag * 2),
    lambda tag: b"GET /%b HTTP/1.0\r\n\r\n" % tag,
    lambda tag: b"POST /%b HTTP/1.1\r\nHost: t\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n%b"
    % (tag, len(tag) * 3, tag * 3),
    lambda tag: b"GET /%b HTTP/1.1\r\nHost: t\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n" % tag,
    lambda tag: b"GET /%b HTTP/1.1\r\nHost: t\r\nAuthorization: NTLM x\r\n\r\n" % tag,
    lambda tag: b"GET /%b HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n" % tag,
)  # fmt: skip


class Script:
    """One input, played on a stage."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.stage = Stage()
        self.callers: list[Wire | None] = [None] * CALLERS
        self.asked: dict[int, list[bytes]] = {}
        self.sights: dict[int, Sight] = {}
        self.owed: dict[int, Seen] = {}
        self.served: set[int] = set()
        self.endless: set[int] = set()  # wires in the middle of an answer, and for good
        self.count = 0
        self.babbled = False  # so answers may be missing

    def byte(self) -> int:
        """The next byte of the script, 0 behind its end."""
        self.at += 1
        return self.data[self.at - 1] if self.at <= len(self.data) else 0

    def play(self) -> None:
        """All of it, then to the end: everything delivered, everything answered, everybody gone."""
        while self.at < len(self.data):
            code = self.byte()
            PLAYS[code % len(PLAYS)](self)
        self.finish()
        self.stage.wait(3.0)  # so long is the rest of an answer read that nobody wants
        self.finish()
        self.nobody_waits()
        for wire in self.stage.callers:
            self.judge(wire)
        self.stage.leave()

    # What callers do.

    def caller(self) -> Wire:
        """One of the callers, connected."""
        number = self.byte() % CALLERS
        wire = self.callers[number]
        if wire is None or wire.closed:
            wire = self.callers[number] = self.stage.connect()
            self.asked[id(wire)] = []
        return wire

    def ask(self) -> None:
        wire = self.caller()
        self.count += 1
        row = ROWS[self.byte() % len(ROWS)]
        tag = b"q%dn%dz-%d" % (self.stage.callers.index(wire) % 10, self.count, row)
        self.asked[id(wire)].append(tag)
        wire.coming.append(REQUESTS[self.byte() % len(REQUESTS)](tag))

    def say(self) -> None:
        self.caller().coming.append(self.raw())

    def raw(self) -> bytes:
        """Bytes of the script as they are, never none."""
        size = self.byte() % 24 + 1
        piece = self.data[self.at : self.at + size]
        self.at += size
        return piece.replace(b"poison", b"POISON") or b"."

    def hear(self) -> None:
        wire = self.caller()
        wire.deliver(self.byte() % 64 or 1 << 16)

    def hear_all(self) -> None:
        wire = self.caller()
        while wire.deliver():
            pass

    def leave(self) -> None:
        wire = self.caller()
        if self.byte() % 2:
            wire.reset()
        elif b"" not in wire.coming:
            wire.coming.append(b"")

    def stall(self) -> None:
        wire = self.caller()
        if wire.stalled:
            wire.flow()
        else:
            wire.stalled = True

    # What the site does.

    def site(self) -> Wire | None:
        """One of the site's connections that stand."""
        self.look()
        standing = [wire for wire in self.stage.sites if not wire.closed]
        return standing[self.byte() % len(standing)] if standing else None

    def look(self) -> None:
        """The site reads what came."""
        for wire in self.stage.sites:
            sight = self.sights.get(id(wire)) or self.sights.setdefault(id(wire), Sight())
            if not wire.said:
                continue
            said = bytes(wire.said)
            wire.said.clear()
            if wire.protocol.__class__.__name__ == "TunnelEnd":
                sight.odd = True
            for seen in sight.see(said):
                self.saw(wire, seen)
            assert not sight.broken, (sight.broken, said)

    def saw(self, wire: Wire, seen: Seen) -> None:
        """A whole request: its body is its own."""
        assert id(wire) not in self.owed, "a request before the last one's answer"
        self.owed[id(wire)] = seen
        tag = seen.target[1:]
        if _TAG.fullmatch(tag):
            assert seen.body in (b"", tag * 3), seen

    def answer(self) -> None:
        wire = self.site()
        if wire is not None:
            self.reply(wire)

    def reply(self, wire: Wire) -> None:
        """The site answers what it was asked, or, where the shape is so, an upload that it has not read to its end."""
        sight = self.sights[id(wire)]
        seen = self.owed.pop(id(wire), None)
        if seen is None:
            partial = sight.partial
            tag = partial.target[1:] if partial is not None else b""
            if partial is not None and _TAG.fullmatch(tag) and is_early(tag) and not wire.coming:
                wire.coming.extend([*segments(tag, partial.method), b""])
            return
        tag = seen.target[1:]
        self.served.add(id(wire))
        if _TAG.fullmatch(tag):
            if is_endless(tag):
                self.endless.add(id(wire))
            wire.coming.extend(segments(tag, seen.method))
        else:
            wire.coming.append(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        for following in sight.answered():
            self.saw(wire, following)

    def babble(self) -> None:
        wire = self.site()
        piece = self.raw()
        if wire is not None:
            self.babbled = True
            wire.coming.append(piece)

    def intrude(self) -> None:
        """An answer that nobody asked for, on a connection that owes none as far as the site can know. On a new one it is
        a site that refuses to serve, and its answer is for whoever comes first.
        """
        wire = self.site()
        if wire is None or id(wire) in self.owed or wire.coming or self.sights[id(wire)].begun:
            return
        if id(wire) not in self.served or id(wire) in self.endless:
            return
        wire.coming.append(POISON)

    def serve(self) -> None:
        wire = self.site()
        if wire is not None:
            wire.deliver(self.byte() % 64 or 1 << 16)

    def go(self) -> None:
        wire = self.site()
        if wire is None:
            return
        if self.byte() % 2:
            wire.reset()
        elif b"" not in wire.coming:
            wire.coming.append(b"")

    def clog(self) -> None:
        wire = self.site()
        if wire is None:
            return
        if wire.stalled:
            wire.flow()
        else:
            wire.stalled = True

    # What happens.

    def turn(self) -> None:
        self.stage.loop.turn()

    def arrive(self) -> None:
        self.stage.pool.arrive(OSError("refused") if self.byte() % 8 == 7 else None)

    def wait(self) -> None:
        self.stage.wait((0.1, 1.5, 6.0, 61.0)[self.byte() % 4])

    def finish(self) -> None:
        """Everything that is still to happen does."""
        for _ in range(2000):
            wires = [*self.stage.callers, *self.stage.sites]
            self.stage.loop.settle()
            for wire in wires:
                wire.flow()
            moved = [wire.deliver() for wire in wires] + [self.stage.pool.arrive()]
            self.look()
            owing = [wire for wire in self.stage.sites if id(wire) in self.owed and not wire.closed]
            for wire in owing:
                self.reply(wire)
            if not owing and not any(moved) and not self.stage.loop.soon:
                return
        raise AssertionError("it never comes to an end")

    def nobody_waits(self) -> None:
        """Every request that came whole, and was answered to the end, is over."""
        if self.babbled:
            return
        exchanges = [down.exchange for down in self.stage.relay.connections if down.exchange is not None]
        open_ones = [one.head.target[1:] for one in exchanges if one.request_done]
        endless = [tag for tag in open_ones if not _TAG.fullmatch(tag) or is_endless(tag)]
        assert not open_ones or endless, open_ones

    def judge(self, wire: Wire) -> None:
        """What a caller got: nothing but answers to its own requests, in their order."""
        said = bytes(wire.said)
        mine = self.asked[id(wire)]
        assert b"X-Id: poison" not in said
        over = wire.closed or wire.ended or getattr(wire.protocol, "exchange", None) is not None
        assert over or b"\r\nConnection: close\r\n" not in said
        got = [found[0] for found in re.finditer(rb"(?<=\r\nX-Id: )q\dn\d+z-\d+(?=\r\n)", said)]
        order = [mine.index(tag) for tag in got]  # ValueError: somebody else's
        assert all(first < second for first, second in pairwise(order)), (got, mine)
        foreign = {found[0] for found in _TAG.finditer(said)} - set(mine)
        foreign = {tag for tag in foreign if not any(one.startswith(tag) for one in mine)}
        assert not foreign, (foreign, mine)


PLAYS: tuple[Callable[[Script], None], ...] = (
    Script.ask, Script.ask, Script.ask, Script.hear_all, Script.hear_all, Script.hear, Script.answer, Script.answer, Script.answer,
    Script.serve, Script.serve, Script.serve, Script.arrive, Script.arrive, Script.turn, Script.turn,
    Script.say, Script.babble, Script.leave, Script.go, Script.stall, Script.clog, Script.wait,
    Script.intrude,
)  # fmt: skip
_ASK, _HEAR, _ANSWER, _SERVE, _ARRIVE, _TURN, _LEAVE, _GO, _STALL, _WAIT, _INTRUDE = (
    0,
    3,
    6,
    9,
    12,
    14,
    18,
    19,
    20,
    22,
    23,
)


def check(data: bytes) -> None:
    """Play a script; no promise may break on the way, and nothing may be left behind it."""
    if len(data) <= 600:
        Script(data).play()


def seeds() -> Iterator[bytes]:
    """Every kind of request with every shape of answer, delivered whole and in pieces; two callers at once, and three
    before two connections; callers and sites that go, stall, or say nothing while time passes.
    """
    for number in range(len(ROWS)):
        shape, kind = number % len(ROWS), number % len(REQUESTS)
        ask = bytes([_ASK, 0, shape, kind])
        calm = bytes([_HEAR, 0, _ARRIVE, 0, _TURN, _ANSWER, 0, _SERVE, 0, 0, _TURN])
        slow = bytes(
            [5, 0, 20, 5, 0, 0, _ARRIVE, 0, _TURN, _ANSWER, 0, _SERVE, 0, 30, _TURN, _SERVE, 0, 0, _TURN]
        )
        yield ask + calm
        yield ask + slow + ask + calm
        other = bytes([_ASK, 1, (shape + 7) % len(ROWS), (kind + 3) % len(REQUESTS), _HEAR, 1])
        third = bytes([_ASK, 2, shape, kind, _HEAR, 2])
        serve = bytes([_TURN, _ANSWER, 1, _SERVE, 1, 0, _ANSWER, 0, _SERVE, 0, 0])
        again = bytes([_HEAR, 0, _TURN, _TURN, _ANSWER, 0, _SERVE, 0, 0, _TURN])
        yield ask + calm + (ask + again) * 2 + bytes([_ASK, 0, shape, 2]) + again + ask + again
        yield (
            ask + calm + ask + bytes([_HEAR, 0, 17, 0, 5]) + b"HTTP/1" + bytes([_SERVE, 0, 0, _TURN]) + again
        )
        yield ask + calm + ask + bytes([_HEAR, 0, _INTRUDE, 0, _SERVE, 0, 0, _TURN]) + again
        yield ask + calm + ask + bytes([_HEAR, 0, _INTRUDE, 0, _TURN, _SERVE, 0, 0]) + again
        yield ask + calm + bytes([_INTRUDE, 0]) + ask + again
        yield ask + ask + other + calm + bytes([_ARRIVE, 0]) + serve * 2 + calm[4:] * 3
        yield ask + other + third + bytes([_HEAR, 0, _ARRIVE, 0, _ARRIVE, 0]) + serve * 4
        yield ask + calm[:4] + bytes([_LEAVE, 0, number % 2]) + other + calm[4:] * 2
        yield (
            ask
            + calm[:6]
            + bytes([_STALL, 0, _SERVE, 0, 0, _GO, 0, number % 2, _WAIT, number % 4])
            + other
            + calm
        )
        yield ask + calm[:7] + bytes([_SERVE, 0, 0, _WAIT, 3, _WAIT, 2]) + other + calm
        yield ask + calm[: 2 + number % 9] + bytes([_WAIT, 3, _WAIT, 3, _STALL, 0]) + ask + calm
        yield other + bytes(
            [
                _STALL,
                1,
                _ARRIVE,
                7,
                _ARRIVE,
                0,
                _TURN,
                _ANSWER,
                0,
                _SERVE,
                0,
                0,
                _WAIT,
                3,
                _WAIT,
                3,
                _STALL,
                1,
            ]
        )
