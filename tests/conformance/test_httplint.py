"""What httplint says of answers that are not the site's: nothing BAD, in any rendering, of any status."""

from __future__ import annotations

import gzip
import time
from email.utils import formatdate

import pytest
from httplint import HttpRequestLinter, HttpResponseLinter, levels
from httplint.note import Note
from httplint.status import STATUS_URI_TOO_LONG, STATUS_VERSION_NOT_SUPPORTED
from loopback import Answer, Got, both_loops, get, read_answer, relaying, serving

from saywhy import Normalizer, load_rulebook
from saywhy.core import failures
from saywhy.core.contract.statuses import code_for_status
from saywhy.core.model import Fields, Request
from saywhy.core.policy import Policy, Routes
from saywhy.core.scrub import Scrubber
from saywhy.edge.packs import shipped_rules
from saywhy.relay.answers import composed, continued

STATUSES = (
    400,
    401,
    402,
    403,
    404,
    405,
    406,
    409,
    410,
    413,
    415,
    416,
    422,
    428,
    429,
    451,
    500,
    501,
    502,
    503,
    504,
)
RENDERINGS = ("application/json", "application/problem+json", "text/markdown")
NAMED = {
    401: 'WWW-Authenticate: Basic realm="shop"',
    405: "Allow: GET",
    416: "Content-Range: bytes */10",
    503: "Retry-After: 7",
}
PAGE = b"<html><head><title>It did not work</title></head><body><h1>It did not work</h1><p>Call the shop.</body></html>"


def _normalizer() -> Normalizer:
    routes = Routes((Policy(name="edge", host=("edge.example",), edge_safe_status=True), Policy()))
    return Normalizer(load_rulebook([shipped_rules()]), routes, Scrubber())


def _page(got: Got) -> bytes:
    """An error page with all that a page has: compressed, cached, varied, validated."""
    status = int(got.target.rpartition(b"/")[2])
    packed = gzip.compress(PAGE)
    lines = [
        f"HTTP/1.1 {status} Odd", f"Date: {formatdate(time.time(), usegmt=True)}", "Server: shop", "Content-Type: text/html; charset=utf-8",
        "Content-Encoding: gzip", "Vary: Accept-Encoding", "Cache-Control: public, max-age=60", 'ETag: "abc"', "Accept-Ranges: bytes", "Age: 3",
        f"Last-Modified: {formatdate(time.time() - 999, usegmt=True)}", f"Expires: {formatdate(time.time() + 60, usegmt=True)}",
        "Content-Language: en", "Set-Cookie: a=1; Path=/; Secure; HttpOnly; SameSite=Lax", "Link: </>; rel=home",
        "Strict-Transport-Security: max-age=31536000", f"Content-Length: {len(packed)}", *([NAMED[status]] if status in NAMED else []),
    ]  # fmt: skip
    return "\r\n".join([*lines, "", ""]).encode() + (b"" if got.first.startswith(b"HEAD") else packed)


SAY_THE_STATUS = (STATUS_URI_TOO_LONG, STATUS_VERSION_NOT_SUPPORTED)
"""Notes that come with every 414 and 505, whatever else the answer says."""


def bad_notes(answer: Answer, method: str, media: str) -> list[str]:
    """What is bad about `answer` to a request for `media`."""
    asked = HttpRequestLinter()
    asked.process_request_topline(method.encode(), b"http://t.example/", b"1.1")
    asked.process_headers([(b"Host", b"t.example"), (b"Accept", media.encode())])
    asked.finish_content(True)
    linter = HttpResponseLinter(start_time=time.time(), no_content=method == "HEAD")
    linter.request = asked
    first, *lines = answer.head.split(b"\r\n")
    version, status, phrase = first.split(b" ", 2)
    linter.process_response_topline(version.rpartition(b"/")[2], status, phrase)
    linter.process_headers(
        [(name, value.strip()) for name, _, value in (line.partition(b":") for line in lines)]
    )
    linter.feed_content(answer.body)
    linter.finish_content(answer.complete)
    bad = [note for note in _flat(linter.notes) if note.level is levels.BAD]
    return [f"{note.summary} ({note.subject})" for note in bad if not isinstance(note, SAY_THE_STATUS)]


def _flat(notes: list[Note]) -> list[Note]:
    return [each for note in notes for each in (note, *_flat(note.subnotes))]


@pytest.mark.parametrize("media", RENDERINGS)
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
@both_loops
async def test_a_sites_error_rewritten(media: str, method: str) -> None:
    async with serving(_page) as site, relaying(site.port, _normalizer()) as running:
        reader, writer = await running.open()
        bad: dict[int, list[str]] = {}
        for status in STATUSES:
            length = ("Content-Length: 0",) if method == "POST" else ()
            writer.write(get(f"/{status}", f"Accept: {media}", *length, method=method))
            answer = await read_answer(reader, method)
            assert (answer.status, answer.all(b"agent-error")[0].split(b";")[0]) == (
                status,
                code_for_status(status).encode(),
            )
            bad[status] = bad_notes(answer, method, media)
        writer.close()
        assert {status: notes for status, notes in bad.items() if notes} == {}


@pytest.mark.parametrize("host", ["t.example", "edge.example"])
@pytest.mark.parametrize("media", [*RENDERINGS, "text/html"])
def test_a_failure_of_our_own(media: str, host: str) -> None:
    normalizer = _normalizer()
    bad: dict[tuple[str, str], list[str]] = {}
    for token in failures.FAILURES:
        for method in ("GET", "HEAD", "POST"):
            request = Request(method, b"/", Fields.of({"Host": host, "Accept": media}))
            verdict = normalizer.fail(request, token, now=time.time())
            whole = composed(verdict, None, method == "HEAD", continued(True, False))
            head, _, body = whole.partition(b"\r\n\r\n")
            assert b"\r\nDate: " in head
            bad[token, method] = bad_notes(Answer(verdict.status, head, body, True), method, media)
    assert {case: notes for case, notes in bad.items() if notes} == {}


def test_the_lint_sees_what_is_bad() -> None:
    answer = Answer(
        404,
        b"HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\nContent-Type: text\r\nDate: yesterday",
        b"no",
        True,
    )
    assert len(bad_notes(answer, "GET", "text/html")) >= 2
