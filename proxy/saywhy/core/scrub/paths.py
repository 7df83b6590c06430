"""The site's inside: file paths, private addresses, internal host names; and people's e-mail addresses.

Route paths, public URLs and version numbers look much like them and must survive: a path counts by its root, an
address by its range and what stands before it.
"""

from __future__ import annotations

from typing import Any

import re2

from saywhy.core.scrub.patterns import Pattern

_ROOTS = (
    "var/(?:www|lib|log|run|cache|task|folders|opt|tmp|spool|app|data|runtime|local|backups?|mail|vcap|snap)"
    "|usr/(?:local|lib|lib64|share|src|bin|sbin|include|libexec|home|app)|home/[\\w.\\-]+/[\\w.\\-]+|Users/[\\w.\\-]+"
    "|etc|opt/[\\w.\\-]+|srv/[\\w.\\-]+|root/|proc/(?:self|\\d+)|mnt/[\\w.\\-]+|tmp/[\\w.\\-]+|private/(?:var|tmp|etc)|Volumes|nix/store"
    "|Applications/|Library/|System/|vercel/path|app/\\.next|app/node_modules|workspace/|builds?/|go/pkg|go/src|snap/|layers/|inetpub"
    "|[\\w.\\-]+/(?:site-packages|node_modules|public_html|htdocs|wwwroot|WEB-INF)"
)
_POSIX = rf"(?:\A|[\s\"'`(\[=:,;>|{{])(/(?:{_ROOTS})(?:/[^\s\"'`<>()\[\],;:|]*)?)"
_DEEP = r"(?:\A|[\s\"'`(\[=:,;>|{])((?:/[\w.@+\-]+){1,20}/(?:site-packages|dist-packages|node_modules|vendor/bundle|gems|WEB-INF|public_html|wwwroot|htdocs|wp-content|wp-includes|inetpub|\.next|\.nuxt|\.env|\.git|\.ssh|\.aws)(?:/[^\s\"'`<>()\[\],;:|]*)?)"
_SOURCE = r"(?:\A|[\s\"'`(\[=,;>|{])((?:/[\w.@+\- ]+){1,20}\.(?:py|php|phtml|inc|rb|erb|js|mjs|cjs|ts|tsx|jsx|java|kt|go|rs|ex|exs|erl|pl|pm|cgi|cs|vb|cshtml|aspx|asax|c|cc|cpp|h|lua|jsp|jar|war|conf|cnf|ini|env|ya?ml|toml|properties|sock|pem|key|crt|sqlite3?|db|log))(?::\d|\(\d| on line \d| line \d|, line \d)"
_WINDOWS = (
    r"(?i)(?:\A|[^\w])([a-z]:(?:\\{1,2}|/)(?:[^\\/:*?\"<>|\r\n']+\\{1,2}){0,20}[^\\:*?\"<>|\r\n\s',;)]*)"
)
_UNC = r"(\\\\{1,3}[\w.$\-]{2,}\\{1,2}[^\s\"'<>|,;]+)"
_FILE = r"(?i)\bfile:/{1,3}[^\s\"'<>]+"
_INETPUB = r"(?i)[\\/]inetpub(?:[\\/][^\s\"'<>]*)?"
_IPV4 = r"(?:\A|[^\w.\-])((?:10\.\d{1,3}|172\.(?:1[6-9]|2\d|3[01])|192\.168|127\.\d{1,3}|169\.254|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\.\d{1,3}\.\d{1,3}(?::\d{1,5})?)(?:[^\w.]|\.(?:\W|\z)|\z)"
_IPV6 = r"(?i)(?:\A|[^\w:.])(\[?(?:f[cd][0-9a-f]{2}|fe[89ab][0-9a-f])(?::[0-9a-f]{0,4}){2,7}\]?(?::\d{1,5})?|\[::1\](?::\d{1,5})?)"
_LOCALHOST = r"(?i)\blocalhost:\d{2,5}\b"
_HOST = (
    r"(?i)(?:\A|[^\w.@\-])((?:[\w\-]+\.){1,6}(?:internal|local|localdomain|corp|lan|intranet|svc|consul|cluster)"
    r"|(?:[\w\-]+\.){1,6}(?:rds|cache|compute|redshift|elb|es|docdb|neptune)(?:\.[\w\-]{1,30})?\.amazonaws\.com"
    r"|ip-\d{1,3}-\d{1,3}-\d{1,3}-\d{1,3}(?:\.[\w\-]+){0,5}"
    r"|(?:[\w\-]+\.){1,6}(?:database|redis\.cache|servicebus|vault|blob\.core)\.(?:windows|azure)\.net)(?::\d{1,5})?(?:[^\w\-]|\z)"
)
# A pod's name ends in a template hash and five characters, both of an alphabet without vowels (Kubernetes' SafeEncode).
_POD = r"(?:\A|[^\w\-])((?:[a-z][a-z0-9]*-){1,8}[bcdfghjklmnpqrstvwxz2456789]{8,10}-[bcdfghjklmnpqrstvwxz2456789]{5})(?:[^\w\-]|\z)"
_EMAIL = r"(?:\A|[^\w.+\-/@:])([\w.+\-]+@(?:[A-Za-z0-9\-]+\.){1,8}[A-Za-z]{2,24}|[\w.+\-]+@localhost)\b"

_ROLES = frozenset(
    "support help helpdesk info contact contactus sales service services hello press privacy abuse legal billing orders "
    "order shop store noreply no-reply donotreply feedback team care customerservice customercare customer-service security "
    "accessibility api developers developer partners enquiries inquiries office mail kontakt kundenservice".split()
)
_VERSION = re2.compile(r"(?i)(?:version|release|ver|build|v|[\w.\-]+/)[\s:=]*\z")


def _is_address(match: Any, text: str) -> bool:
    start = match.start(1)
    octets = match.group(1).partition(":")[0].split(".")
    return (
        all(int(octet) < 256 for octet in octets)
        and _VERSION.search(text[max(0, start - 24) : start]) is None
    )


def _is_person(match: Any, text: str) -> bool:
    return match.group(1).partition("@")[0].lower() not in _ROLES


def _is_pod(match: Any, text: str) -> bool:
    return any(letter.isdigit() for letter in match.group(1).rsplit("-", 2)[1])


def _is_path(match: Any, text: str) -> bool:
    return len(match.group(1)) > 3


_SLASHES = (
    "/var/", "/usr/", "/home/", "/users/", "/etc", "/opt/", "/srv/", "/root/", "/proc/", "/mnt/", "/tmp/", "/private/",  # noqa: S108 - looked for, not used
    "/volumes", "/nix/", "/applications/", "/library/", "/system/", "/vercel/", "/app/", "/workspace/", "/build", "/go/",
    "/snap/", "/layers/", "/inetpub", "/site-packages", "/node_modules", "/public_html", "/htdocs", "/wwwroot", "/web-inf",
)  # fmt: skip

PATTERNS = (
    Pattern("path", _SLASHES, _POSIX, (1,)),
    Pattern(
        "path",
        ("/site-packages", "/dist-packages", "/node_modules", "/vendor/bundle", "/gems", "/web-inf", "/public_html",
         "/wwwroot", "/htdocs", "/wp-content", "/wp-includes", "/inetpub", "/.next", "/.nuxt", "/.env", "/.git", "/.ssh", "/.aws"),
        _DEEP, (1,),
    ),
    Pattern("path", ("line ", ":1", ":2", ":3", ":4", ":5", ":6", ":7", ":8", ":9", "(1", "(2", "(3", "(4", "(5", "(6", "(7", "(8", "(9"), _SOURCE, (1,)),
    Pattern("path", (":\\", ":/"), _WINDOWS, (1,), _is_path),
    Pattern("path", ("\\\\",), _UNC, (1,)),
    Pattern("path", ("file:/",), _FILE),
    Pattern("path", ("inetpub",), _INETPUB),
    Pattern("private_address", ("10.", "172.", "192.168.", "127.", "169.254.", "100."), _IPV4, (1,), _is_address),
    Pattern("private_address", ("fc", "fd", "fe8", "fe9", "fea", "feb", "::1"), _IPV6, (1,)),
    Pattern("private_address", ("localhost:",), _LOCALHOST),
    Pattern("internal_host", (".internal", ".local", ".corp", ".lan", ".intranet", ".svc", ".consul", ".cluster", ".amazonaws.com", "ip-", ".windows.net", ".azure.net"), _HOST, (1,)),
    Pattern("internal_host", ("-b", "-c", "-d", "-f", "-g", "-h", "-j", "-k", "-l", "-m", "-n", "-p", "-q", "-r", "-s", "-t", "-v", "-w", "-x", "-z", "-2", "-4", "-5", "-6", "-7", "-8", "-9"), _POD, (1,), _is_pod),
    Pattern("email", ("@",), _EMAIL, (1,), _is_person),
)  # fmt: skip
"""Paths, addresses, hosts, people."""
