"""What every home borrows from the world: files, environment, clock of the log, metrics. No socket is opened here.

documents  the only reader of YAML, with line marks
settings   file, environment and flags -> frozen settings, each value with its origin
packs      folders of rules -> rulebook; examples, proof and eclipse are about the examples beside them
assemble   settings and packs -> Normalizer: the one factory
fingerprint  whether any of the files changed
heap       memory that is free again goes back to the kernel
meter, journal, events  what is counted and written down: one Outcome feeds the first two
"""
