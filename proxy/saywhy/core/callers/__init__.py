"""Who asks? The answer chooses a format, never a right: forging "agent" gains nothing but JSON (an envelope says no
more than the page did).

Order of evidence, the first that speaks wins: a route's pin, a signature, browser marks (a veto), Accept, the
User-Agent list. The evidence lives in one file each and knows nothing of the others; `identify` puts it in order.
"""

from saywhy.core.callers.order import identify, may_be_agent

__all__ = ["identify", "may_be_agent"]
