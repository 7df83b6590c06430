"""Secrets by their shape: named values, authorisation and cookie values, JWT, PEM, connection strings, provider tokens.

A name alone is no secret ("password is required"), and a value alone only where its shape leaves no doubt: `judges` tell a
value from a word.
"""

from __future__ import annotations

from saywhy.core.scrub import judges
from saywhy.core.scrub.judges import NAME
from saywhy.core.scrub.patterns import Pattern

_NAMED = rf"""(?i)(?:\A|[^\w.\-])['"\[\\]{{0,2}}({NAME})[\\'"\]]{{0,2}}\s{{0,3}}(=>|:=|=|:|%3D)\s{{0,3}}(?:b?\\?"([^"\\]+)\\?"|b?'([^']+)'|([^\s"'<>,;&=][^\s"'<>,;&]*))"""
_CELL = r"(?:\A|[^\w])((?:[A-Z][A-Z0-9]*_)*(?:PASSWORD|PASSWD|PASS|PWD|SECRET|TOKEN|KEY|DSN|COOKIE|AUTHORIZATION)) {1,3}([^\s\"'<>,;&=:\[]{6,})"
_SAID = r"""(?i)\b(?:password|passphrase|secret|token|key|code|credential|jwt|cookie|session)s? {1,2}(?:(?:is|was|of|value|id) )?(?:["'`]([^"'`\s]{4,})["'`]|([A-Za-z0-9_\-+/=.~]{16,}))"""
_SCHEME = r"(?i)\b(?:(?:bearer|basic|negotiate|digest|dpop)|authorization['\"]?\s{0,3}(?:=>|=|:)\s{0,3}['\"]?[\w\-]+) {1,2}([A-Za-z0-9+/=_\-.~]{8,})"
_COOKIE = r"""(?i)\b(?:set-|set_|http_)?cookie2?s?['"]?\s{0,3}(?:=>|=|:)\s{0,3}['"]?([^\s=;,"'<>]+=[^\s;,"'<>]+(?:;\s{0,2}[^\s=;,"'<>]+=[^\s;,"'<>]*)*)"""
_QUERY = r"(?:[?&;]|&amp;|\\u0026)(?:code|state|key|sig|signature|token|access_token|id_token|refresh_token|assertion|ticket|nonce|hmac|auth|otp|X-Amz-(?:Signature|Credential|Security-Token))=([^\s&\"'<>#;]{12,})"
_CURL = r"""(?:\A|[\s"'`(])(?:-u|--user|-U|--proxy-user)(?:\s{0,3}|=)["']?([^\s:"'`]{1,64}:[^\s"'`]{3,})"""
_JWT = r"\beyJ[A-Za-z0-9_\-]{8,}(?:\.[A-Za-z0-9_\-]*){1,4}"
_PEM = r"(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]*-----|\z)"
_CARD = r"(?:\A|[^\w.\-])(\d{4}(?: \d{4}){3}|\d{4}(?:-\d{4}){3}|3\d{3}[ \-]\d{6}[ \-]\d{5}|\d{13,19})(?:[^\w\-]|\z)"
_SCHEMES = (
    "postgresql|postgres|postgis|mysql|mysqlx|mariadb|mongodb|redis|rediss|amqp|amqps|mssql|sqlserver|oracle|db2|cockroachdb"
    "|clickhouse|cassandra|neo4j|bolt|kafka|nats|ldap|ldaps|smtp|smtps|imap|imaps|memcached|memcache|etcd|couchbase"
    "|elasticsearch|fastcgi|sqlite|influxdb|mqtt|mqtts|sftp|ssh|rmi|snowflake|libsql|unix|tcp|grpc"
)
_CONNECTION = rf"(?i)\b(?:jdbc:[a-z0-9:]{{2,}}|(?:{_SCHEMES})(?:\+[a-z0-9+\-]{{1,20}})?)://[^\s\"'<>]+"
_JDBC = r"(?i)\bjdbc:[a-z0-9]{2,20}:[^\s\"'<>]{3,}"
_USERINFO = r"(?i)\b[a-z][a-z0-9+.\-]{1,20}://([^\s/?#\"'<>]+)@"

_PROVIDERS = (
    r"\b(?:AKIA|ASIA|AROA|AIDA|ABIA|ACCA)[A-Z0-9]{16}\b",
    r"\bgh[pousr]_[A-Za-z0-9]{20,}",
    r"\bgithub_pat_\w{20,}",
    r"\bgl(?:pat|ptt|rt|dt|soat|imt|agent|cbt|ft|oas|ffct)-[\w.\-]{16,}",
    r"\bxox[abcdeoprs]-[\w\-]{10,}",
    r"\bxapp-\d-[\w\-]{10,}",
    r"hooks\.slack\.com/(?:services|workflows)/[\w/+]{20,}",
    r"\b[srp]k_(?:live|test|prod)_[A-Za-z0-9]{10,}",
    r"\bwhsec_[A-Za-z0-9+/=]{16,}",
    r"\bsk-(?:ant|proj|or|svcacct|admin|lf|service)-[\w\-]{16,}",
    r"\bsk-[A-Za-z0-9]{20,}",
    r"\bAIza[\w\-]{30,}",
    r"\bya29\.[\w\-]{20,}",
    r"\bGOCSPX-[\w\-]{20,}",
    r"\bhf_[A-Za-z0-9]{20,}",
    r"\bdo[por]_v1_[a-f0-9]{40,}",
    r"\bSK[0-9a-f]{32}\b",
    r"\bnpm_[A-Za-z0-9]{30,}",
    r"\bpypi-[\w\-]{30,}",
    r"\bSG\.[\w\-]{16,32}\.[\w\-]{16,}",
    r"\bkey-[0-9a-f]{32}\b",
    r"\bshp(?:at|ss|ca|pa|tka)_[a-fA-F0-9]{24,}",
    r"\blin_(?:api|oauth)_[A-Za-z0-9]{30,}",
    r"\bfig[dou]_[\w\-]{30,}",
    r"\bATATT3[\w\-=]{40,}",
    r"\bdapi[0-9a-f]{32}",
    r"\bhv[sb]\.[\w\-]{20,}",
    r"\bdckr_(?:pat|oat)_[\w\-]{20,}",
    r"\brubygems_[a-f0-9]{40,}",
    r"\bglsa_[\w]{32,}",
    r"\bsntry[su]_[\w+/=]{30,}",
    r"\bNRAK-[A-Z0-9]{20,}",
    r"\bPMAK-[0-9a-f\-]{40,}",
    r"\bsq0(?:atp|csp)-[\w\-]{20,}",
    r"\bpul-[a-f0-9]{40}\b",
    r"\b(?:gsk|r8|xai|pplx|tvly|nfp|fo1|ph[cx])[_-][A-Za-z0-9_]{30,}",
    r"\btskey-[\w\-]{16,}",
    r"\bdp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9]{40,}",
    r"\bAGE-SECRET-KEY-1[0-9A-Z]{50,}",
    r"\bLTAI[A-Za-z0-9]{16,24}\b",
    r"\b\d{8,10}:AA[\w\-]{32,34}",
    r"\b[MNO][\w\-]{23,27}\.[\w\-]{6}\.[\w\-]{27,}",
    r"\bEAA[A-Za-z0-9]{60,}",
    r"\bsecret_[A-Za-z0-9]{32,}",
    r"\bntn_[A-Za-z0-9]{32,}",
    r"\bsbp_[a-f0-9]{40}",
    r"\bpat[A-Za-z0-9]{14}\.[a-f0-9]{64}",
    r"\bv2/[A-Za-z0-9+/]{40,}={0,2}\.[A-Za-z0-9+/]{20,}",
    r"\bAPI-[A-Z0-9]{26,}\b",
)
_PROVIDER_DOORS = (
    "akia", "asia", "aroa", "aida", "abia", "acca", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-",
    "glptt-", "glrt-", "gldt-", "glsoat-", "glimt-", "glagent-", "glcbt-", "glft-", "gloas-", "glffct-", "xox", "xapp-",
    "hooks.slack.com", "k_live_", "k_test_", "k_prod_", "whsec_", "sk-", "aiza", "ya29.", "gocspx-", "hf_", "_v1_",
    "sk0", "sk1", "sk2", "sk3", "sk4", "sk5", "sk6", "sk7", "sk8", "sk9", "ska", "skb", "skc", "skd", "ske", "skf",
    "npm_", "pypi-", "sg.", "key-", "shpat_", "shpss_", "shpca_", "shppa_", "shptka_", "lin_api_", "lin_oauth_",
    "figd_", "figo_", "figu_", "atatt3", "dapi", "hvs.", "hvb.", "dckr_", "rubygems_", "glsa_", "sntrys_", "sntryu_",
    "nrak-", "pmak-", "sq0", "pul-", "gsk_", "r8_", "xai-", "pplx-", "tvly-", "nfp_", "fo1_", "phc_", "phx_", "tskey-",
    "dp.", "age-secret-key-1", "ltai", ":aa", "eaa", "secret_", "ntn_", "sbp_", "pat", "v2/", "api-",
)  # fmt: skip

_NAME_DOORS = (
    "pass", "pwd", "secret", "token", "credential", "auth", "jwt", "sess", "key", "sid", "signature", "cookie", "otp",
    "sig", "dsn", "salt",
    "kennwort", "contrase", "senha", "wachtwoord",
)  # fmt: skip

FLOOR = (
    Pattern("private_key", ("-----begin",), _PEM),
    Pattern("connection_string", ("://",), _CONNECTION, judge=judges.is_marked),
    Pattern("connection_string", ("jdbc:",), _JDBC, judge=judges.is_marked),
    Pattern("connection_string", ("@",), _USERINFO, (1,), judges.is_userinfo),
    Pattern("provider_token", _PROVIDER_DOORS, "|".join(_PROVIDERS)),
)
"""The kinds that no app needs: redacted also in bodies that are kept."""

PATTERNS = (
    *FLOOR,
    Pattern("jwt", ("eyj",), _JWT),
    Pattern("card_number", ("2", "3", "4", "5", "6"), _CARD, (1,), judges.is_card),
    Pattern(
        "authorization",
        ("bearer ", "basic ", "negotiate ", "digest ", "dpop ", "authorization"),
        _SCHEME,
        (1,),
        judges.is_credential,
    ),
    Pattern("cookie", ("cookie",), _COOKIE, (1,), judges.is_cookie),
    Pattern("secret", ("-u", "--user", "--proxy-user"), _CURL, (1,), judges.is_login),
    Pattern("secret", _NAME_DOORS, _NAMED, (3, 4, 5), judges.is_named_value),
    Pattern(
        "secret",
        (
            "_pass",
            "_pwd",
            "_secret",
            "_token",
            "_key",
            "_dsn",
            "_cookie",
            "_authorization",
            "password ",
            "secret ",
            "token ",
        ),
        _CELL,
        (2,),
        judges.is_cell,
    ),
    Pattern(
        "secret",
        (
            "code=",
            "state=",
            "key=",
            "sig=",
            "signature=",
            "token=",
            "assertion=",
            "ticket=",
            "nonce=",
            "hmac=",
            "auth=",
            "otp=",
            "credential=",
        ),
        _QUERY,
        (1,),
        judges.is_query_value,
    ),
    Pattern(
        "secret",
        (
            "password",
            "passphrase",
            "secret",
            "token",
            "key",
            "code",
            "credential",
            "jwt",
            "cookie",
            "session",
        ),
        _SAID,
        (1, 2),
        judges.is_said,
    ),
)
"""Every kind of secret, the floor's first."""
