"""`python -m saywhy`, for whoever does not have the script on the path."""

from saywhy.cli import main

main()
