"""The route of one exchange on one page, in the three verbs that every home needs.

`triage(head)` says what is wanted of the body: nothing (pass), a look (peek), all of it (hold). `normalize(head, plan,
body)` reads and decides: page, evidence (contracts, vendor headers, site rules, dialects, packs, status), compose,
render, fields -> Verdict. `fail(request, token)` answers where there is no head at all. Nothing here raises on what a
site or a caller sent, and nothing here does I/O.
"""

from saywhy.core.normalize.normalizer import Normalizer
from saywhy.core.normalize.record import Record

__all__ = ["Normalizer", "Record"]
