"""The proxy's own failures by RFC 9209 token: one row each, so that every home fails alike."""

from typing import NamedTuple

from saywhy.core.contract.words import SideEffects


class Failure(NamedTuple):
    """One way in which the proxy itself fails.

    `token` is the Proxy-Status error type (RFC 9209 2.3); `effects_unsafe` says whether an unsafe request may have
    taken effect; `wait` is Retry-After in seconds, 0 for none.
    """

    token: str
    status: int
    code: str
    kind: str
    effects_unsafe: SideEffects
    wait: int
    message: str


_ROWS = (
    Failure("dns_error", 502, "temporarily_unavailable", "dns_error", "none_expected", 30, "The proxy could not find the address of the site."),
    Failure("dns_timeout", 504, "temporarily_unavailable", "dns_error", "none_expected", 10, "The proxy did not learn the address of the site in time."),
    Failure("destination_ip_unroutable", 502, "temporarily_unavailable", "connection_error", "none_expected", 30, "The proxy has no way to the site's address."),
    Failure("connection_refused", 502, "temporarily_unavailable", "connection_refused", "none_expected", 10, "The site refused the connection; the request was not sent."),
    Failure("connection_terminated", 502, "temporarily_unavailable", "connection_error", "possible", 5, "The site closed the connection before it answered."),
    Failure("connection_timeout", 504, "temporarily_unavailable", "timeout", "none_expected", 10, "The site did not accept a connection in time; the request was not sent."),
    Failure("connection_read_timeout", 504, "temporarily_unavailable", "timeout", "possible", 30, "The site did not answer in time."),
    Failure("connection_write_timeout", 504, "temporarily_unavailable", "timeout", "possible", 30, "The site did not take the request in time."),
    Failure("connection_limit_reached", 503, "temporarily_unavailable", "queue_saturated", "none_expected", 5, "The proxy has as many connections to the site as it may; the request was not sent."),
    Failure("destination_unavailable", 503, "temporarily_unavailable", "service_unavailable", "none_expected", 10, "The site has been failing and is left alone for a moment; the request was not sent."),
    Failure("tls_protocol_error", 502, "temporarily_unavailable", "connection_error", "none_expected", 30, "The proxy and the site could not agree on an encrypted connection; the request was not sent."),
    Failure("tls_certificate_error", 502, "internal", "connection_error", "none_expected", 0, "The site's certificate was not accepted; the request was not sent."),
    Failure("tls_alert_received", 502, "temporarily_unavailable", "connection_error", "possible", 30, "The site refused the encrypted connection."),
    Failure("http_protocol_error", 502, "temporarily_unavailable", "protocol_error", "possible", 5, "The site's answer was not valid HTTP."),
    Failure("http_response_incomplete", 502, "temporarily_unavailable", "protocol_error", "possible", 5, "The site's answer ended early."),
    Failure("http_response_header_section_size", 502, "temporarily_unavailable", "protocol_error", "possible", 0, "The header section of the site's answer was too large."),
    Failure("http_upgrade_failed", 502, "internal", "protocol_error", "none_expected", 0, "The site switched protocols without being asked."),
    Failure("http_request_error", 400, "invalid_input", "invalid_param", "none_expected", 0, "The request was not valid HTTP."),
    Failure("http_request_denied", 403, "not_allowed", "forbidden", "none_expected", 0, "The proxy does not allow this request."),
    Failure("proxy_loop_detected", 508, "internal", "internal_error", "none_expected", 0, "The request came back to the proxy that had sent it on."),
    Failure("proxy_internal_error", 500, "internal", "internal_error", "unknown", 0, "The proxy failed."),
    Failure("proxy_internal_response", 503, "temporarily_unavailable", "service_unavailable", "none_expected", 5, "The proxy is shutting down or out of memory for this answer."),
    Failure("destination_not_found", 404, "not_found", "route_not_found", "none_expected", 0, "No site is served here under this host and path."),
)  # fmt: skip

_REFUSALS = {
    "method_unknown": Failure("http_request_error", 501, "invalid_input", "invalid_param", "none_expected", 0, "The proxy does not know this method, or does not forward it."),
    "method_refused": Failure("http_request_error", 405, "invalid_input", "invalid_param", "none_expected", 0, "The proxy does not forward this method."),
    "host_repeated": Failure("http_request_error", 400, "invalid_input", "invalid_param", "none_expected", 0, "The request had more than one Host field."),
    "coding_unknown": Failure("http_request_error", 501, "invalid_input", "invalid_param", "none_expected", 0, "The proxy does not know this transfer coding."),
    "version_unknown": Failure("http_request_error", 505, "invalid_input", "invalid_param", "none_expected", 0, "The proxy speaks HTTP/1.1 and HTTP/1.0."),
    "head_too_large": Failure("http_request_error", 431, "invalid_input", "invalid_param", "none_expected", 0, "The header section of the request was too large."),
    "target_too_long": Failure("http_request_error", 414, "invalid_input", "invalid_param", "none_expected", 0, "The request target was too long."),
    "too_many_waiting": Failure("proxy_internal_response", 503, "temporarily_unavailable", "queue_saturated", "none_expected", 5, "The proxy has as many requests waiting as it may; this one was not read."),
    "request_timeout": Failure("http_request_error", 408, "temporarily_unavailable", "timeout", "none_expected", 0, "The request did not arrive in time."),
}  # fmt: skip
"""Requests that are refused with a status of their own: RFC 9209 has one word for all of them, so these rows have names
of our own beside it (`Failure.token` stays the word for Proxy-Status)."""

FAILURES: dict[str, Failure] = {row.token: row for row in _ROWS} | _REFUSALS
"""Token, or the name of a refusal, -> row."""


def edge_safe(status: int) -> int:
    """The status in whose place a CDN puts no page of its own: some replace the content of every 502 and 504 that they
    see, and let 503 and all others pass.
    """
    return 503 if status in (502, 504) else status


def look_up(token: str) -> Failure:
    """The row of `token`; an unknown one reads as proxy_internal_error."""
    return FAILURES.get(token) or FAILURES["proxy_internal_error"]
