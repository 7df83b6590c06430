"""`Clean`: the type of a text that may leave. Only scrub makes it; the envelope accepts nothing else."""


class Clean(str):
    """A text that scrub has passed: one line, bounded, without secrets, traces, markup or control characters."""

    __slots__ = ()
