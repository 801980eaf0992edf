"""What an installation can see, and whether a run may start: what `doctor` and `preflight` tell."""
