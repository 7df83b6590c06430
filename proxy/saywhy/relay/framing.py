"""Where a message ends, on both sides: the guard against mixing.

Each connection has one Framing. It is shown every byte of the current message and not one more, says at which offset of
a segment the message ends, and makes sure that llhttp (strict) and our own reading of the head agree on it. Whatever
comes after that offset is another message, or noise; it is never forwarded with this one.
"""

from __future__ import annotations

from typing import Any, Final

import httptools

from saywhy.relay.chunks import Chunks
from saywhy.relay.lines import CHUNKED, CLOSE, LENGTH, NONE, BadHead

_CHUNKED_HEAD: Final = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


class Framing:
    """The end of the current message of one connection. `done` tells whether it was reached.

    `parser` is httptools.HttpRequestParser or HttpResponseParser. Errors come as BadHead, before any byte at fault was
    handed out; after one, the connection is of no further use.
    """

    __slots__ = ("_chunks", "_ended", "_kind", "_left", "_make", "_parser", "_shown", "done")

    def __init__(self, make: Any, chunks: Chunks) -> None:
        self._chunks = chunks
        self._make = make
        self._parser = make(self)
        self._ended = False
        self._kind = NONE
        self._left = 0
        self._shown = True  # llhttp sees this message
        self.done = True

    def on_message_complete(self) -> None:
        """llhttp says: the message ends here."""
        self._ended = True

    def begin(
        self,
        data: bytes,
        end: int,
        kind: int,
        length: int,
        *,
        shown: bytes | None = None,
        bodyless: bool = False,
    ) -> int:
        """Validate the head `data[:end]` and take what `data` holds of its body; the offset where that stops.

        `shown` replaces the head in front of llhttp. `bodyless` is an answer to HEAD, of which llhttp cannot know.
        """
        self._ended = False
        self._kind = kind
        self._shown = True
        if kind == LENGTH and shown is None and len(data) - end <= length:
            # The usual answer: head and body in one segment, one call.
            self._feed(data)
            self._left = length - (len(data) - end)
            self.done = self._left == 0
            if self._ended is not self.done:
                raise BadHead("http_request_error")
            return len(data)
        self._feed(shown if shown is not None else data if end == len(data) else data[:end])
        self.done = kind == NONE
        if kind == NONE:
            if bodyless:
                self._parser = self._make(self)
            elif not self._ended:
                raise BadHead("http_request_error")
            return end
        if kind == CLOSE and self._ended:
            raise BadHead("http_request_error")
        self._left = length
        if kind == CHUNKED:
            self._chunks.begin()
        return self.take(data, end)

    def begin_again(self, data: bytes, end: int, length: int) -> int:
        """As `begin`, for a head that llhttp has accepted before, byte for byte, as one with this length: all that is
        left to do is to count.
        """
        self._kind = LENGTH
        self._shown = False
        size = len(data)
        left = self._left = length - (size - end)
        if left > 0:
            self.done = False
            return size
        self._left = 0
        self.done = True
        return size + left

    def take(self, data: bytes, start: int = 0) -> int:
        """Take what `data[start:]` holds of the body; the offset where that stops."""
        if self._kind == CLOSE:
            return len(data)
        if self._kind == CHUNKED:
            return self._take_chunks(data, start)
        stop = min(start + self._left, len(data))
        self._left -= stop - start
        self.done = self._left == 0
        if not self._shown:
            return stop
        if stop > start:
            self._feed(memoryview(data)[start:stop])
        if self._ended is not self.done:
            raise BadHead("http_request_error")
        return stop

    def _take_chunks(self, data: bytes, start: int) -> int:
        # llhttp does not tell at which byte a message ended: we count chunks ourselves, and both must agree.
        if start == len(data):
            return start
        stop = self._chunks.take(data, start)
        self._feed(memoryview(data)[start:stop] if stop - start < len(data) else data)
        self.done = self._chunks.done
        if self._ended is not self.done:
            raise BadHead("http_request_error")
        return stop

    def _feed(self, data: bytes | memoryview) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            return
        except httptools.HttpParserInvalidMethodError:
            raise BadHead("method_unknown") from None
        except httptools.HttpParserError:
            raise BadHead("http_request_error") from None


class Dechunk:
    """The bare body out of chunks, for those who must read it: a held page, a caller of HTTP/1.0."""

    __slots__ = ("_parser", "_pieces")

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._parser = httptools.HttpResponseParser(self)
        self._parser.feed_data(_CHUNKED_HEAD)

    def on_body(self, piece: bytes) -> None:
        """llhttp found this much of a chunk."""
        self._pieces.append(piece)

    def feed(self, data: bytes) -> bytes:
        """The content in `data`, which Framing has already found sound and of this message alone."""
        self._parser.feed_data(data)
        content = b"".join(self._pieces)
        self._pieces.clear()
        return content


def request_framing() -> Framing:
    """For the requests on a caller's connection."""
    return Framing(httptools.HttpRequestParser, Chunks(trailers_from_caller=True))


def response_framing() -> Framing:
    """For the answers on a site's connection."""
    return Framing(httptools.HttpResponseParser, Chunks())
