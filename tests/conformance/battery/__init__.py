"""The raw battery: bytes in at a proxy, bytes seen by a recording site behind it, bytes out at the caller.

`cases` are tables by theme; each row says what is sent, what the site plays, and which behaviours are right (`verdicts`:
whatever the RFCs allow, so that any proxy can be put to it). `site` plays and records, `caller` sends and reads, `wire`
reads both sides strictly, `run` takes cases through a proxy, `peers` starts the proxies that are installed, `table`
prints what came out.
"""
