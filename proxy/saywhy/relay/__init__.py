"""Moves bytes between callers and sites: asyncio protocols on httptools, no aiohttp in the path, no decision of its own.

The route of one exchange: `downstream` takes a whole request head off a caller's connection (`parting` ends it;
`framing` says where head and body end, `chunks` counted; `head` what it says, `facts` what it says again, `forwarded`
what the site is told), `exchange` asks `pool` for a connection (`dial` makes one to a `place`, by the `names` of its
addresses; `health` says whether it is worth it, `keeping` how long one is kept, `pinned` whose it is), `asking` sends
the request, `upstream` reads the answer (`reply`), and the exchange streams it on, or holds it (`hold`) until the core has decided; `again` says
what is sent twice, and the `outbox` lets requests and small answers leave together.
After a 101 both ends become a `tunnel`. `deadlines` is the one timer; with it callers are missed who left while nobody
read from them (`departed`). Nothing here knows what an error page is.
"""

from saywhy.relay.relay import Decider, Recorder, Recorders, Relay, as_server

__all__ = ["Decider", "Recorder", "Recorders", "Relay", "as_server"]
