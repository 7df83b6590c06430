"""What tells a value from a word: whether a match of `secrets` is what it looks like. Plain string work on one match."""

from __future__ import annotations

from typing import Any

import re2

# A name that announces a secret: the announcing word ends the name (token_type and session_timeout do not).
NAME = (
    r"(?:[\w.\-]*(?:password|passwort|kennwort|mot[_\- ]de[_\- ]passe|contrase(?:ñ|n)a|senha|wachtwoord|passwd|passphrase|pwd|secret|token|credentials?|authorization|jwt|sessionid|sessid"
    r"|session[_\-]?(?:id|key|token)|(?:api|access|account|private|secret|shared|master|license|encryption|signing"
    r"|auth|client|app|application|service|storage|sas|webhook|hmac|crypto|cipher|aes|rsa|ssh|subscription|instrumentation|consumer|deploy|admin|user|db|shared[_\-]?access)"
    r"[_\-. ]?key(?:[_\-]?id)?|connect\.sid|[_\-]session|signature|set[_\-]?cookie|cookies?)"
    r"|(?:[\w.\-]*[_.\-])?(?:pass|sid|otp|auth|sig|dsn|pgpassword|session|salt|key))"
    r"(?:[_\-]?(?:hash|b64|base64|value)|\d{1,2})?"
)
_WORDS = frozenset(
    "required missing invalid expired null none nil undefined true false empty incorrect wrong unknown string must may is "
    "cannot should too not the a an and or here field hidden filtered redacted denied failed failure mismatch error "
    "malformed revoked unauthorized forbidden optional blank bearer basic digest token password secret key object array "
    "number boolean integer header cookie body query path your yes no on off set unset default plain text enabled "
    "disabled limited exceeded insufficient absent provided supplied present same strict lax".split()
)
_PLACEHOLDER = re2.compile(
    r"(?i)[*•.xX#_\-…?]+|<.*|\[?(?:redacted|filtered|hidden|masked|removed|secret)\]?.*|\{.*|\$\{.*|\$\(.*|%[sd].*|your[_\-\s].*|\(.*|\[.*"
)
_WEAK = re2.compile(r"(?i)(?:.*[_.\-])?(?:key|session|auth|sig|salt|signature|cookies?)\z")
_UUID = re2.compile(r"(?i)\{?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\}?")
_HEX = re2.compile(r"[0-9a-f]+|[0-9A-F]+")


def is_secret_name(name: str) -> bool:
    """Whether a member or variable of this name holds a secret, as far as its name says."""
    return _NAME_ALONE.fullmatch(name) is not None and _WEAK.fullmatch(name) is None


_NAME_ALONE = re2.compile(f"(?i){NAME}")


def looks_random(value: str, least: int = 6) -> bool:
    """Whether `value` is no word: letters mixed with digits, case mixed within, or base64's padding."""
    if len(value) < least or _PLACEHOLDER.fullmatch(value):
        return False
    digits = sum(letter.isdigit() for letter in value)
    letters = sum(letter.isalpha() for letter in value)
    if not letters:
        return digits >= 8 and value.isdigit()
    inner = value[1:]
    mixed = any(letter.isupper() for letter in inner) and any(letter.islower() for letter in value)
    if digits:
        return mixed or letters >= 2
    return (mixed and (least <= 6 or len(value) >= 16)) or value.endswith("=")


def looks_generated(value: str) -> bool:
    """Whether a value without a name can only be a secret: long, upper, lower and digits mixed. No UUID, hash or id."""
    if (
        len(value) < 20
        or _UUID.fullmatch(value)
        or _HEX.fullmatch(value)
        or value.count(".") > 2
        or "/" in value[:1]
    ):
        return False
    upper = sum(letter.isupper() for letter in value)
    lower = sum(letter.islower() for letter in value)
    digits = sum(letter.isdigit() for letter in value)
    return upper >= 3 and lower >= 3 and (digits >= 2 or (digits == 1 and len(value) >= 32))


def is_named_value(match: Any, text: str) -> bool:
    name, separator = match.group(1), match.group(2)
    quoted = match.group(3) or match.group(4)
    value = (quoted or match.group(5) or "").strip()
    low = value.lower().rstrip(".,;:!?)\\")
    if not low or low in _WORDS or _PLACEHOLDER.fullmatch(value):
        return False
    weak = _WEAK.fullmatch(name) is not None
    if quoted:
        if " " in value and (separator == ":" or weak):
            return False
        return looks_random(value) if weak else len(value) >= 3
    if value.isdigit() and len(value) < 6 and "pass" not in name.lower() and "pwd" not in name.lower():
        return False
    if separator == ":" or weak:
        return looks_random(value)
    return len(value) >= 3


def is_login(match: Any, text: str) -> bool:
    value = match.group(1).partition(":")[2]
    # `-u 1000:1000` is a user and a group.
    return not value.isdigit() and _PLACEHOLDER.fullmatch(value) is None and value.lower() not in _WORDS


def is_cell(match: Any, text: str) -> bool:
    return looks_random(match.group(2)) and match.group(2).lower() not in _WORDS


def is_said(match: Any, text: str) -> bool:
    quoted, plain = match.group(1), match.group(2)
    return looks_random(quoted) and not _UUID.fullmatch(quoted) if quoted else looks_generated(plain)


def is_credential(match: Any, text: str) -> bool:
    value = match.group(1)
    return looks_random(value, 8) and value.lower() not in _WORDS


def is_userinfo(match: Any, text: str) -> bool:
    return str(match.group(1)) != "[redacted]"


def is_query_value(match: Any, text: str) -> bool:
    return looks_random(match.group(1), 12) and not _UUID.fullmatch(match.group(1))


def is_cookie(match: Any, text: str) -> bool:
    return any(looks_random(pair.partition("=")[2]) for pair in match.group(1).split(";"))


def is_marked(match: Any, text: str) -> bool:
    return "[redacted]" not in match.group(0)


def is_card(match: Any, text: str) -> bool:
    """ISO/IEC 7812: the check digit, and a first digit that cards have."""
    digits = [int(letter) for letter in match.group(1) if letter.isdigit()]
    if not 13 <= len(digits) <= 19 or digits[0] not in (2, 3, 4, 5, 6):
        return False
    doubled: list[int] = [
        digit * 2 - 9 * (digit > 4) if place % 2 else digit for place, digit in enumerate(reversed(digits))
    ]
    return sum(doubled) % 10 == 0
