"""A package, so that `python -m tests.bench` is this folder and not one that some dependency left in the environment."""
