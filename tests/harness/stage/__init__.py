"""The stage on which tests put saywhy: real processes on loopback, raw sockets before them, a recording wire between.

Nothing here judges; the tests do. The route: `processes` starts a program, `serving` starts saywhy itself,
`forwarder` records what the site said on an exchange, `callers` are the heads that browsers, curl and agents send,
`wire` sends bytes and reads one answer.
"""
