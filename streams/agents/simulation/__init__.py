"""A training cluster that does not exist: one synchronous job, its faults and decoys, and the telemetry of it."""
