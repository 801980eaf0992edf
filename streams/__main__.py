"""`python -m streams` is `trainmaster`."""

from streams.cli import main

main()
