"""Fuzzing of the relay: bytes of either side, in every cut, on transports that are memory; no socket and no clock.

A target is a module with `check(data)`, which raises when a promise is broken, and `seeds()`. `requests` is what callers
send, `responses` what sites send, `both` everything at once in any order, `chunks` where chunked messages end.
`python -m tests.fuzz` lets atheris look for inputs (it follows the relay's branches); what it found, packed one a line in
`corpus`, is replayed by `make test`.
"""
