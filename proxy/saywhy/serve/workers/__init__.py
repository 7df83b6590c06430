"""Several processes that serve, under one parent that does not: `workers: N`.

channel  what parent and worker tell each other, over a pair of sockets
fork     a process out of this one
worker   one that serves: a Server that takes orders
slot     one worker's place in the parent: who works there now, and whoever follows
crew     all places: starting, replacing who ended, one scrape, one reload, one end
parent   the process of the operator: signals, the admin port, the set in force

The parent opens every socket and builds every set before it forks, and holds both for as long as it lives. So a worker
that ended is replaced in some milliseconds by one with the same set, whatever stands in the files by then, and the
connections that wait in its socket wait for its successor. The parent relays nothing.

A reload changes sets inside the workers. Replacing the processes instead would close callers' kept connections and
tunnels at every new rule, and keep the old processes beside the new ones for as long as somebody downloads.

Whoever is forked must not meet another thread's half-done work: the parent never forks while a thread builds a set. While
the workers build theirs it does; whoever takes a place then is asked as well.
"""

from saywhy.serve.workers.parent import run_workers

__all__ = ["run_workers"]
