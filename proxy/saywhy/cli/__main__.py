"""`python -m saywhy.cli`, for images and tests that do not have the script on their path."""

from saywhy.cli import main

main()
