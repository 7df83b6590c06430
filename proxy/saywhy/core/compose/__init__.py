"""Evidence -> Envelope: the only maker of envelopes.

The route: `choice` (which evidence decides) -> `advice` (retry, side effects) -> `message` (the site's words where
they say something, else `sentences`) -> `texts` (everything raw through scrub) -> one frozen `Envelope`. What scrub has
not passed cannot get in: the envelope's members take `Clean` alone.
"""

from saywhy.core.compose.bare import bare, failure_envelope
from saywhy.core.compose.choice import choose
from saywhy.core.compose.maker import Composed, Found, compose, leaks

__all__ = ["Composed", "Found", "bare", "choose", "compose", "failure_envelope", "leaks"]
