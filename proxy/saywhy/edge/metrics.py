"""The metrics' names, and what their labels may say. Every metric name of the product stands in this file, and nowhere
else; `meter` counts them.

Labels are closed sets: upstreams come from the settings, codes and statuses from the tables, rules from the rulebook;
whatever else comes is `other`. No path, no URL, no word that a caller chose ever becomes a label.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Literal

COUNTERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "saywhy_requests_total": (
        "Exchanges by the class of the status that was sent.",
        ("upstream", "status_class"),
    ),
    "saywhy_errors_total": (
        "Errors by what they mean and by what decided it; status is the one that was sent, of the proxy's own failures the one before edge_safe_status.",
        ("upstream", "caller", "code", "status", "source", "decided_by"),
    ),
    "saywhy_rule_hits_total": ("How often a rule decided, or would have in shadow mode.", ("rule", "mode")),
    "saywhy_unmatched_errors_total": (
        "Agents' errors of the site about which nothing spoke but the status.",
        ("upstream", "status"),
    ),
    "saywhy_passthrough_total": ("Errors that passed untouched, by why.", ("reason",)),
    "saywhy_redactions_total": ("Secrets and traces taken out of answers, by kind.", ("kind",)),
    "saywhy_original_bytes_total": ("Bytes of the site's errors that were replaced.", ("upstream",)),
    "saywhy_sent_bytes_total": ("Bytes that were sent in their place.", ("upstream",)),
    "saywhy_tokens_saved_estimate_total": (
        "Tokens that agents did not have to read, at four bytes a token.",
        ("upstream",),
    ),
    "saywhy_faults_total": ("Pages on which saywhy itself failed; the status decided.", ("fault",)),
    "saywhy_upstream_openings_total": (
        "How often a site came to count as away, after a row of failed connections.",
        ("upstream",),
    ),
    "saywhy_handshakes_failed_total": (
        "TLS handshakes of callers that came to nothing, by why.",
        ("reason",),
    ),
    "saywhy_log_lines_dropped_total": ("Lines of the log that nobody took in time.", ()),
    "saywhy_worker_crashes_total": ("Worker processes that ended unasked; each was replaced.", ()),
}
"""Counter -> (help, labels)."""

HISTOGRAMS: dict[str, tuple[str, tuple[str, ...], tuple[float, ...]]] = {
    "saywhy_upstream_duration_seconds": (
        "From the request to the head of the site's answer.",
        ("upstream",),
        (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
    ),
    "saywhy_rewrite_duration_seconds": (
        "Reading an error and writing its envelope.",
        (),
        (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1),
    ),
}
"""Histogram -> (help, labels, upper bounds in seconds)."""

GAUGES: dict[str, tuple[str, tuple[str, ...]]] = {
    "saywhy_inflight_exchanges": ("Exchanges that have begun and not ended.", ()),
    "saywhy_held_bytes": ("Bytes of errors held to be read.", ()),
    "saywhy_upstream_connections": ("Connections to a site.", ("upstream", "state")),
    "saywhy_upstream_up": (
        "1, or 0 while a site counts as away and callers are told so at once.",
        ("upstream",),
    ),
    "saywhy_workers": ("Processes that take exchanges; not those that hang.", ()),
    "saywhy_config_last_reload_successful": ("1 where the last reload was, else 0.", ()),
    "saywhy_config_last_reload_success_timestamp_seconds": ("When settings and rules were last loaded.", ()),
    "saywhy_config_info": ("The hash of settings and rules in force.", ("hash",)),
    "saywhy_build_info": ("The version.", ("version", "python")),
}
"""Gauge -> (help, labels)."""

Merge = Literal["sum", "min", "own"]
MERGED: dict[str, Merge] = {
    "saywhy_inflight_exchanges": "sum",
    "saywhy_held_bytes": "sum",
    "saywhy_upstream_connections": "sum",
    "saywhy_upstream_up": "min",
    "saywhy_workers": "own",
    "saywhy_config_last_reload_successful": "own",
    "saywhy_config_last_reload_success_timestamp_seconds": "own",
    "saywhy_config_info": "own",
    "saywhy_build_info": "own",
}
"""Gauge -> what the scrape of several workers shows: their sum, the least, or what the parent itself knows."""

PASS_REASONS = (
    "not_agent",
    "structured",
    "streaming",
    "too_large",
    "coding",
    "opted_out",
    "upgrade",
    "grpc",
    "budget",
)
HANDSHAKE_REASONS = (
    "no_certificate",
    "bad_certificate",
    "certificate_refused",
    "protocol",
    "not_tls",
    "left",
    "timeout",
    "other",
)
_SITE_STATUSES = (
    420,
    430,
    440,
    444,
    449,
    450,
    460,
    463,
    494,
    495,
    496,
    497,
    498,
    499,
    509,
    *range(520, 531),
    561,
    598,
    599,
)
"""Unregistered statuses that well-known servers and CDNs send. Any further number counts as `other`: a site that
answers with 900 different numbers must not make 900 series of each metric."""
STATUS_LABELS = {status: str(int(status)) for status in [*(int(one) for one in HTTPStatus), *_SITE_STATUSES]}
CLASSES = ("other", "1xx", "2xx", "3xx", "4xx", "5xx", "other", "other", "other", "other")
"""Status class by the status' first digit; 0 where nothing was sent."""
MAX_KINDS = 64
"""Redaction kinds and fault classes are words of our own code; the cap holds should that ever change."""
