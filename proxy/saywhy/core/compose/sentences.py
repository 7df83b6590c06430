"""Our own sentences: what happened (by code, sharper by status where the status decided) and what to do about it.

Nothing of a site's goes into them but names that scrub has passed: the host, a field, scopes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from saywhy.core.contract.codes import CODES
from saywhy.core.contract.kinds import KINDS
from saywhy.core.contract.statuses import code_for_status
from saywhy.core.contract.words import Action, Origin, Retry, SameArguments, SideEffects
from saywhy.core.scrub.clean import Clean, Own

_HAPPENED = {
    "invalid_input": "{Host} did not accept the request as it was sent.",
    "missing_field": "{Host} needs something that the request did not bring.",
    "not_found": "{Host} has no page at this address.",
    "not_allowed": "{Host} does not allow this request.",
    "conflict": "The request does not fit the current state of things at {host}.",
    "out_of_stock": "This item is sold out at {host}.",
    "auth_required": "{Host} answers this request only to somebody who has signed in.",
    "scope_missing": "The grant that was used at {host} lacks a permission that this request needs.",
    "payment_required": "{Host} wants to be paid before it answers this request.",
    "payment_declined": "The payment was declined at {host}.",
    "rate_limited": "{Host} has had too many requests and asks to wait.",
    "temporarily_unavailable": "{Host} cannot answer at the moment.",
    "needs_human": "{Host} asks for a step that only a person can take.",
    "internal": "{Host} failed while it worked on this request.",
}

_HAPPENED_BY_STATUS = {
    405: "{Host} does not take this method at this address.",
    406: "{Host} has nothing at this address in a format that the request accepts.",
    407: "A proxy on the way to {host} asks for a sign-in.",
    408: "{Host} did not get the whole request in time.",
    410: "What was at this address at {host} is gone for good.",
    411: "{Host} takes this request only with a Content-Length.",
    412: "A precondition that the request set does not hold at {host}.",
    413: "The content of the request is larger than {host} takes.",
    414: "The address is longer than {host} takes.",
    415: "{Host} does not take content of this type here.",
    416: "{Host} has no such range at this address.",
    421: "The request reached a server that does not answer for {host}.",
    422: "{Host} understood the request, and something in its content is wrong.",
    423: "What the request is about is locked at {host}.",
    425: "{Host} does not act on a request that came too early.",
    428: "{Host} takes this request only with a precondition, such as If-Match.",
    431: "The header fields of the request are larger than {host} takes.",
    451: "{Host} may not show this for legal reasons.",
    501: "{Host} does not know how to do what the request asks.",
    502: "A server behind {host} gave no valid answer.",
    503: "{Host} is out of service at the moment.",
    504: "A server behind {host} did not answer in time.",
    520: "The network in front of {host} got no valid answer from it.",
    521: "The network in front of {host} found it down.",
    522: "The network in front of {host} could not reach it in time.",
    523: "The network in front of {host} found no way to it.",
    524: "The network in front of {host} waited too long for its answer.",
    529: "{Host} is overloaded at the moment.",
}

_TO_DO = {
    "invalid_input": "Correct the request before sending it again; unchanged it will fail again.",
    "missing_field": "Add what is missing, then send the request again.",
    "not_found": "Stop asking for this address; find the right one, for instance through the site's search.",
    "not_allowed": "Stop; repeating the request will not help, and the site does not want it.",
    "conflict": "Read the current state again, fit the request to it, then send it.",
    "out_of_stock": "Choose another item or variant, or stop.",
    "auth_required": "Get a grant for this site, then send the request with it.",
    "scope_missing": "Ask the person for a grant with the missing permission.",
    "payment_required": "Pay the advertised price if the person has agreed to it, then send the request again.",
    "payment_declined": "Ask the person how to go on; do not repeat the payment.",
    "needs_human": "Hand this step to the person and go on when it is done; do not try to get past it.",
    "internal": "Send the same request once more; if it fails again, stop and report it.",
}

_TO_DO_BY_STATUS = {
    405: "Use another method; this one is not taken at this address.",
    406: "Change Accept: ask for another format, or for any.",
    410: "Stop asking for this address; it will not come back.",
    413: "Send less at once.",
    414: "Shorten the URL, for instance by sending the parameters as content.",
    415: "Change Content-Type: send the content in another type; Accept or Accept-Post in this answer may name those that the site takes.",
    428: "Read the current state, then send the request with If-Match and the ETag that came with it.",
    431: "Send fewer or shorter header fields, cookies above all.",
}

_TO_DO_NEVER_MENDED = {
    501: "Do not repeat this request: the site does not support what it asks for; look for another way.",
    505: "Do not repeat this request: the site does not support its version of HTTP.",
    508: "Do not repeat this request: it runs in a circle among the servers; stop and report it.",
}
"""Server failures that no repetition mends."""

_METHODS = (
    "GET",
    "HEAD",
    "POST",
    "PUT",
    "PATCH",
    "DELETE",
    "OPTIONS",
    "TRACE",
    "QUERY",
    "PROPFIND",
    "REPORT",
    "SEARCH",
)


_TO_DO_BY_RETRY = {
    "fix_input": _TO_DO["invalid_input"],
    "no": "Stop; do not send this request again.",
    "refetch": _TO_DO["conflict"],
    "get_grant": _TO_DO["auth_required"],
    "pay": _TO_DO["payment_required"],
    "ask_human": "Ask the person how to go on.",
    "once": _TO_DO["internal"],
}
"""Where a contract advises otherwise than its code does."""

_CHECK_FIRST = "The request may have taken effect: check the current state first"


def own(text: str) -> Own:
    """A text of ours. Only for words and sentences that are constant: the last check does not read them again."""
    return Own(text)


_WORDS: dict[str, Clean] = {
    word: Own(word)
    for word in (
        *CODES,
        *KINDS,
        *(one for words in (Action, Origin, Retry, SameArguments, SideEffects) for one in get_args(words)),
    )
}


def word(text: str) -> Clean:
    """A word of the contracts; any other one (a site's own code, as scrub let it through) is read by the last check."""
    return _WORDS.get(text) or Clean(text)


def is_word(text: object) -> bool:
    """Whether `text` is a word of the contracts."""
    return text in _WORDS


def with_names(text: str, *names: object) -> Clean:
    """A sentence of ours with names in it that scrub has passed one by one; constant where there are none."""
    return Clean(text) if any(names) else Own(text)


def happened(
    code: str, *, status: int, by_status: bool, host: str, field: str | None, own_code: bool
) -> Clean:
    """One sentence about what happened. `host` is "" where unknown; `own_code` where the code is the site's own."""
    if own_code:
        template = "{Host} reports the error " + code.replace("{", "(").replace("}", ")") + "."
    elif field and code == "invalid_input":
        template = '{Host} did not accept the value of "' + _plain(field) + '".'
    elif field and code == "missing_field":
        template = '{Host} needs a value for "' + _plain(field) + '".'
    elif by_status and status in _HAPPENED_BY_STATUS:
        template = _HAPPENED_BY_STATUS[status]
    else:
        template = _HAPPENED[code]
    text = template.replace("{Host}", host or "The site").replace("{host}", host or "the site")
    return with_names(text, host, field, own_code)


def guidance(
    code: str,
    *,
    status: int,
    by_status: bool,
    wait: int | None,
    waits: bool,
    doubtful: bool,
    keyed: bool,
    fields: Sequence[str],
    scopes: Sequence[str],
    url: bool,
    retry: str = "",
    allow: Sequence[str] = (),
) -> Clean:
    """One or two sentences about what to do. `wait` in seconds, `waits` where the site named it; `url`: a page where
    a person can go on is known; `retry`: the word of a contract that advises otherwise than the code; `allow`: the
    methods that the site takes.
    """
    if code == "internal" and status in _TO_DO_NEVER_MENDED and retry in ("", "refetch"):
        return own(_TO_DO_NEVER_MENDED[status])
    if doubtful:
        after = f"Wait {_seconds(wait)} first. " if wait else ""
        return own(f"{after}{_CHECK_FIRST}; send it again only if it did not.")
    same = "the same request with the same Idempotency-Key" if keyed else "the same request"
    if wait:
        named = (
            f"Wait {_seconds(wait)}" if waits else f"The site named no time; wait at least {_seconds(wait)}"
        )
        last = "" if code in CODES and code != "internal" else "; if it fails again, stop and report it"
        return own(f"{named}, then send {same} again{last}.")
    if retry in _TO_DO_BY_RETRY:
        return own(_TO_DO_BY_RETRY[retry])
    if code in ("invalid_input", "missing_field") and fields:
        named = " and ".join(f'"{_plain(name)}"' for name in fields[:3]) + (
            " and the others" if fields[3:] else ""
        )
        verb = "Correct" if code == "invalid_input" else "Give"
        return Clean(f"{verb} {named}, then send the request again.")
    if code == "scope_missing" and scopes:
        return Clean(
            f"Ask the person for a grant with the scope {', '.join(_plain(scope) for scope in scopes[:5])}."
        )
    if code == "needs_human" and url:
        return own("Hand this step to the person, who can go on at continue_url; do not try to get past it.")
    if (by_status or code == code_for_status(status)) and (sharper := _by_status(status, allow)):
        return own(sharper)
    if code == "internal" and keyed:
        return own(f"Send {same} once more; if it fails again, stop and report it.")
    return own(_TO_DO.get(code) or "Read the message; send the request once more at most.")


def methods(allow: str | None) -> tuple[str, ...]:
    """The methods that an Allow field names (RFC 9110 10.2.1), as far as they are known here."""
    named = {word.strip() for word in (allow or "")[:1024].split(",")}
    return tuple(word for word in _METHODS if word in named)


def _by_status(status: int, allow: Sequence[str]) -> str | None:
    if status == 405 and allow:
        return f"Use a method that the site takes here: {', '.join(allow)}."
    return _TO_DO_BY_STATUS.get(status)


def _seconds(count: int | None) -> str:
    return "1 second" if count == 1 else f"{count} seconds"


def _plain(name: str) -> str:
    return name.replace('"', "'").replace("{", "(").replace("}", ")")[:80]
