"""The real ways out: what actions and sinks touch of the world, one file for each port of `playbooks.ports`."""
