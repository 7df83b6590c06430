"""Traces of crashes: frame lines, source places, exception classes, SQL. They are cut out, not marked.

Two passes. `without_frames` drops whole lines while the text still has lines; PATTERNS finds what stands inline, for
texts that some framework has already put on one line. What is left is the sentence that a person would read, where
there is one.
"""

from __future__ import annotations

from typing import Any

import re2

from saywhy.core.scrub.patterns import Pattern

_EXT = (
    "py|pyx|php|phtml|inc|rb|erb|haml|slim|rake|js|mjs|cjs|ts|tsx|jsx|vue|java|kt|kts|scala|groovy|clj|go|rs|ex|exs|erl|hrl|eex|heex"
    "|pl|pm|cgi|cs|vb|fs|cshtml|razor|aspx|ascx|asp|c|cc|cpp|cxx|h|hpp|swift|lua|twig|jsp|dart|hs|ml|cfm|cfc|blade\\.php"
)

# A line that begins like this is a frame, whatever follows.
_FRAME_LINE = re2.compile(
    r"(?i)\A\s*(?:"
    r"File \"[^\"]*\", line \d+"
    r"|at\s+(?:async\s+|new\s+)?[^\s(]+.*\(.*\)|at\s+\S+:\d+(?::\d+)?|at\s+[\w$.<>/]+\.[\w$<>]+\("
    r"|#\d+\s+(?:\S+\(\d+\)|\{main\}|\[internal|0x|/|[A-Za-z]:\\|[\w\\:>-]+\()"
    r"|from\s+\S+:\d+"
    r"|\.\.\.\s+\d+\s+(?:more|common frames)"
    r"|caused by:.*exception|suppressed:.*exception"
    r"|goroutine\s+\d+\s+\[|created by\s+\S+|exit status \d+|\[signal "
    r"|\d+:\s+0x[0-9a-f]+|\d+:\s+[\w:<>]+::[\w:<>{}]+\s*\z|stack backtrace|note: run with"
    r"|---+\s*(?:End of|Begin of|inner)"
    r"|(?:=>|>|-->|→|\*)?\s*\d+\s*[|│:]\s"
    r"|[\^~\s]+\z"
    r"|\(\w+(?:\s[\d.]+)?\)\s(?:lib|src|test)/"
    r"|(?:stack ?trace|backtrace|call stack|stack|trace)\s*:?\s*\z"
    r"|traceback \(most recent"
    r"|source file:|version information:.*framework|\[\w*exception\b.*\]"
    r")"
)
_PY_FRAME = re2.compile(r"\A\s*File \"[^\"]*\", line \d+")
_GO_FRAME = re2.compile(r"\A\s*\S+\.go:\d+")

_DOTTED = rf"[\w.…$/\\@~+\-\[\]]*[\w$\])\-]\.(?:{_EXT})"
_PLACE = rf"(?i)(?:\A|[\s\"'`(\[=,;<>|:])((?:(?:in|at|from|on|thrown in)\s+(?:file\s+)?)?[\"'`]?(?:[A-Za-z]:)?{_DOTTED}[\"'`]?(?::(?:line ?)?\d+(?::\d+)?|\(\d+(?:,\d+)?\)|,? (?:on )?line:? \d+)(?::in [`'][^'`\n]*'?|:\s[\w.]+/\d+| \+0x[0-9a-f]+)?)"
_QUALIFIED = r"\b(?:[a-z_][\w$]*\.){1,12}(?:[A-Z][\w$]*\.){0,4}[A-Z][\w$]*(?:Exception|Error|Warning|Fault|Failure|Throwable|Timeout|Interrupt|DoesNotExist|Wrapper)(?:\$\w+)?\b:?"
_DOTNET = r"\b(?:System|Microsoft|Npgsql|MySql|Oracle|Newtonsoft|Azure|Amazon|Autofac|StackExchange|AutoMapper|MongoDB)(?:\.[A-Z]\w*){1,8}\b:?"
_RUBY_CLASS = r"\b(?:[A-Z]\w*::){1,6}[A-Z]\w*\b:?"
_BARE_CLASS = r"(?:\b|_)[A-Z][A-Za-z0-9]{2,}(?:Exception|Error|Wrapper)\b(?::|\s\(|\z| in\b)"
_PHP_CLASS = r"\\?\b(?:[A-Z]\w*\\{1,2}){1,8}[A-Z]\w*\b(?::|->\w+\(\)|::\w+\(\))?"
_PANIC = r"(?i)\bthread '[^'\n]*' panicked at|\bpanic: |\bfatal error: (?:uncaught|allowed memory|maximum execution)|\b(?:php )?(?:fatal error|parse error|warning|notice|deprecated): +(?:uncaught )?[a-z_:]*\(|\bgoroutine \d+ \[[^\]]*\]:?|\bunhandled (?:exception|rejection)\b[^.:]*:"

_SQL = (
    r"(?i)\bSQLSTATE\b|\bSQLCODE\b|\bORA-\d{5}\b|\bPLS-\d{5}\b|\bTNS-\d{5}\b|you have an error in your sql syntax|\bsql syntax\b|syntax error at or near"
    r"|\b(?:relation|column|table|function|schema|role|database|constraint|type|sequence) [\"'`“][^\"'`”]+[\"'`”] (?:of relation [\"'`“][^\"'`”]+[\"'`”] )?(?:does not exist|already exists)"
    r"|violates (?:unique|foreign key|not-null|check|exclusion) constraint|duplicate (?:key value|entry '[^']*' for key)"
    r"|\bno such (?:table|column):? |\bunknown column\b.*\bin\b|\btable '[^']+' doesn't exist|\bsql command not properly ended"
    r"|\bnear \"[^\"]*\": syntax error|\bunclosed quotation mark|\bincorrect syntax near|\bconversion failed when converting|\bquoted string not properly terminated"
    r"|\bunique constraint failed|\bforeign key constraint fails|\bnot null constraint failed|\bdatabase is locked\b|\bdeadlock found when trying|\block wait timeout exceeded"
    r"|\bjdbc\b|\bodbc\b|\bpdoexception|\bpg_(?:query|exec|connect)\b|\bmysqli?_\w+\(|\bmysql server (?:has gone away|version)|\baccess denied for user\b|\bpassword authentication failed\b|\bunknown database\b"
    r"|\bdynamic sql error|\bsql error\b|\bexecution of (?:sql|query)|\binvalid input syntax for (?:type )?\w+|\bXPATH syntax error|\bmalformed gtid|\berror \d{4} \([0-9A-Z]{5}\)"
    r"|\bselect statements have different number|\bE11000 duplicate key|\bWRONGPASS\b|\bNOAUTH Authentication|\bNo connection could be made because the target machine"
)
_STATEMENT = (
    r"\b(?:SELECT\s[^;]+?\sFROM\s+[\"'`\[\w.]+|INSERT\s+INTO\s+[\"'`\[\w.]+|UPDATE\s+[\"'`\[\w.]+\s+SET\s|DELETE\s+FROM\s+[\"'`\[\w.]+"
    r"|CREATE\s+TABLE\s|ALTER\s+TABLE\s|DROP\s+TABLE\s)|\b(?:select\s[^;.]+?\sfrom\s+\w+\s+where\s|insert\s+into\s+\w+\s*\(|delete\s+from\s+\w+\s+where\s|update\s+\w+\s+set\s+\w+\s*=)"
)
_CONNECT = r"(?i)\b(?:getaddrinfo|ECONNREFUSED|ECONNRESET|ENOTFOUND|EHOSTUNREACH|ETIMEDOUT|EAI_AGAIN|ENOENT|EACCES)\b[^.!?\n]*|\bdial tcp\b[^!?\n]*|\bconnect\(\) (?:failed|to)\b[^!?\n]*"


def _has_class(match: Any, text: str) -> bool:
    return "http" not in match.group(0)[:5]


_CLOCK = re2.compile(r"\d{2}:\d{2}:\d{2}")


def _is_place(match: Any, text: str) -> bool:
    return _CLOCK.search(match.group(0)) is None


PATTERNS = (
    Pattern("trace", ("traceback",), r"\bTraceback\b(?: of \S+)?(?: \(most recent call (?:last|first)\))?:?|\btraceback \(most recent call (?:last|first)\):?", cut=True),
    Pattern("trace", ("line ",), r"\bFile \"?[^\s\"]+\"? ?, line \d+(?: ?, in [\w<>.]+)?|, line \d+ ?, in [\w<>.]+|\bat line \d+:\d+", cut=True),
    Pattern(
        "trace", ("at ",),
        r"\bat (?:[\w$.\-]+/)*(?:[\w$.\-]+@[\w.\-]+/)?[\w.$<>/\-]+\.[\w$<>\-]+\((?:[\w$.\-]+\.(?:java|kt|scala|groovy|clj)(?::-?\d+)?|Native Method|Unknown Source|<generated>|[^()\s]+:-?\d+)\)(?: ~?\[[^\]]*\])?",
        cut=True,
    ),
    Pattern("trace", ("at ",), r"\bat (?:(?:async |new )?[\w$.<>\[\]#/ ]+ (?:\[as [^\]]+\] )?)?\(?(?:file://|node:|webpack[\w\-]*:|evalmachine|/|[A-Za-z]:[\\/]|https?://|\./|internal/)?[^\s()]*[/.\\A-Za-z>][^\s():]*:\d+:\d+\)?", (0,), _is_place, cut=True),
    Pattern("trace", ("at ",), r"\bat (?:(?:async |new )?[\w$.<>\[\]#/]+ )\(?(?:<anonymous>|native|anonymous)\)?", cut=True),
    Pattern("trace", ("at ",), r"\bat (?:lambda_method\d*|(?:[A-Za-z_<][\w`<>+|]*\.){1,12}[\w<>.`|]+)(?:\[[^\]]*\])?\([^()]*\)(?: in [^\s:]*:?[^\s:]+:line \d+)?", cut=True),
    Pattern("trace", ("--- end of", "---> "), r"(?i)-{3} end of (?:inner exception )?stack trace[^-]*-{3}|-{3}> ", cut=True),
    Pattern("trace", ("... ",), r"\.\.\. \d+ (?:common frames omitted|more)\b", cut=True),
    Pattern("trace", ("#0", "#1", "#2", "#3", "#4", "#5", "#6", "#7", "#8", "#9"), r"#\d+ +(?:\S+\(\d+\): [^#]+?(?:\)|\z)|\{main\}|\[internal function\]: [^#\s]+|0x[0-9a-f]+ in \S+)", cut=True),
    Pattern("trace", ("stack trace", "stacktrace", "backtrace", "call stack"), r"(?i)\b(?:stack ?trace|backtrace|call stack)\s*:", cut=True),
    Pattern("trace", (":0", ":1", ":2", ":3", ":4", ":5", ":6", ":7", ":8", ":9", "line ", ":line", "(0", "(1", "(2", "(3", "(4", "(5", "(6", "(7", "(8", "(9"), _PLACE, (1,), cut=True),
    Pattern("trace", (" line ",), r"\bat (?:\S+|\([\w ]{1,20}\)) line \d+\b(?:, <[^>]+> (?:line|chunk) \d+)?\.?", cut=True),
    Pattern("trace", ("panic", "fatal error", "goroutine", "parse error", "warning:", "notice:", "deprecated:", "unhandled"), _PANIC, cut=True),
    Pattern("trace", ("exception", "error", "warning", "fault", "failure", "throwable", "timeout", "interrupt", "doesnotexist", "wrapper"), _QUALIFIED, (0,), _has_class, cut=True),
    Pattern("trace", ("system.", "microsoft.", "npgsql.", "mysql.", "oracle.", "newtonsoft.", "azure.", "amazon.", "autofac.", "stackexchange.", "automapper.", "mongodb."), _DOTNET, cut=True),
    Pattern("trace", ("::",), _RUBY_CLASS, cut=True),
    Pattern("trace", ("exception", "error", "wrapper"), _BARE_CLASS, cut=True),
    Pattern("trace", ("\\",), _PHP_CLASS, cut=True),
    Pattern("sql", ("sql", "ora-", "pls-", "tns-", "syntax", "relation", "column", "table", "constraint", "duplicate", "quotation", "conversion", "quoted string", "database", "deadlock", "lock wait", "jdbc", "odbc", "pdo", "pg_", "access denied for", "password authentication", "function", "schema", "role", "sequence", "type", "gtid", "select statements", "wrongpass", "noauth", "error 1", "target machine"), _SQL, whole_sentence=True, cut=True),
    Pattern("sql", ("select", "insert", "update", "delete", "create", "alter", "drop"), _STATEMENT, whole_sentence=True, cut=True),
    Pattern("trace", ("getaddrinfo", "econn", "enotfound", "ehost", "etimedout", "eai_again", "enoent", "eacces", "dial tcp", "connect() "), _CONNECT, cut=True),
)  # fmt: skip
"""What stands inline. Order does not matter; findings that touch are merged."""

FLOOR = PATTERNS[:11]
"""The kinds of trace that are certain: also cut out of bodies that are kept."""


def without_frames(text: str) -> str:
    """`text` without the lines that are frames, the source lines that belong to them, and the marks under those."""
    if "\n" not in text:
        return text
    kept: list[str] = []
    follows = False  # the line after a Python frame is its source
    for line in text.split("\n"):
        if _FRAME_LINE.search(line) or _GO_FRAME.search(line):
            follows = _PY_FRAME.search(line) is not None
            if kept and _GO_FRAME.search(line) and "(" in kept[-1]:
                kept.pop()  # Go prints the function above its place
        elif follows and line.strip():
            follows = False
        else:
            kept.append(line)
    return "\n".join(kept)
