"""Evidence -> Envelope: the only maker of envelopes.

The route: `choice` (which evidence decides) -> `advice` (retry, side effects), both settled in a `draft` -> `message` (the
site's words where they say something, else `sentences`) -> `extras` -> `texts` (everything raw through scrub) -> one
frozen `Envelope` by `maker`; `bare` makes those that hold no word of a site's. What scrub has
not passed cannot get in: the envelope's members take `Clean` alone.
"""

from saywhy.core.compose.bare import bare, failure_envelope
from saywhy.core.compose.choice import choose
from saywhy.core.compose.draft import Found
from saywhy.core.compose.maker import Composed, compose, leaking, leaks

__all__ = ["Composed", "Found", "bare", "choose", "compose", "failure_envelope", "leaking", "leaks"]
