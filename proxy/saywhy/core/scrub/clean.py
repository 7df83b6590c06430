"""`Clean`: the type of a text that may leave. Only scrub makes it; the envelope accepts nothing else."""


class Clean(str):
    """A text that scrub has passed: one line, bounded, without secrets, traces, markup or control characters."""

    __slots__ = ()


class Own(Clean):
    """A sentence or word of ours, with nothing of a site's in it: the last check need not read it again."""

    __slots__ = ()
