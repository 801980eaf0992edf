"""Series of Prometheus and OpenTelemetry as findings: one table of aliases, units included, for every way they come."""
