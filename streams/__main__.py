"""`python -m streams` is `trainmaster`."""

from streams.start import main

main()
