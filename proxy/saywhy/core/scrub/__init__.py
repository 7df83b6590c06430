"""Makes texts safe to leave: markup, traces and secrets out, one bounded line in.

The lowest room of the core: it imports nothing of it, so that everything above may use it. The route of one text:
`plain` (markup, entities, invisible characters) -> `traces` (frame lines, source paths, exception classes, SQL) ->
`secrets` and `paths` (what is redacted in place) -> a cut at the limit, until nothing changes any more. `values` does
the same to whole JSON values, `floor` redacts in place in bodies that are kept. `Scrubber` is the door to all of it;
`Clean` is the type that only this room makes. Expressions run on RE2, each behind a literal that was seen.
"""

from saywhy.core.scrub.clean import Clean
from saywhy.core.scrub.scrubber import Finder, Scrubber

__all__ = ["Clean", "Finder", "Scrubber"]
