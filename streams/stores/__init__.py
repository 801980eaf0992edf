"""What has to survive a crash: the journal of telemetry, snapshots of memory, the archive of results, and leases."""
