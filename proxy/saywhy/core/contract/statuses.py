"""Status -> code: what an error means when nothing but its number speaks. The last word of the order of evidence."""

_BY_STATUS: dict[int, str] = {
    **dict.fromkeys((400, 405, 406, 411, 413, 414, 415, 416, 417, 421, 422, 431), "invalid_input"),
    428: "missing_field",
    **dict.fromkeys((401, 407), "auth_required"),
    402: "payment_required",
    **dict.fromkeys((403, 451), "not_allowed"),
    **dict.fromkeys((404, 410), "not_found"),
    **dict.fromkeys((409, 412, 423), "conflict"),
    **dict.fromkeys((408, 425), "temporarily_unavailable"),
    429: "rate_limited",
    # 520-524: Cloudflare could not get an answer from the site; 529: overloaded. 525-527 and 530 are set-up faults
    # that waiting does not mend.
    **dict.fromkeys((502, 503, 504, 520, 521, 522, 523, 524, 529), "temporarily_unavailable"),
}


def code_for_status(status: int) -> str:
    """The code for an HTTP status of 400 or more; any other 4xx is invalid_input, anything else internal."""
    return _BY_STATUS.get(status) or ("invalid_input" if 400 <= status < 500 else "internal")
