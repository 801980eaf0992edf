"""Mathematics only: numbers in, alarms out. No clock, no disk, no network, no waiting; imports only `schemas`."""
