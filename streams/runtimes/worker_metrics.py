"""What a worker counts, for Prometheus. No label has more values than there are topics."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from streams.runtimes.partition import Taken


class WorkerMetrics:
    """Counters of one worker.

    Args:
        registry: where they are shown.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self.registry = registry
        self.messages = Counter("trainmaster_messages", "messages taken", registry=registry)
        self.records = Counter("trainmaster_records", "records taken", registry=registry)
        self.rejected = Counter("trainmaster_records_rejected", "records that could not be read", registry=registry)
        self.moved = Counter("trainmaster_records_moved", "records that came to the wrong partition", registry=registry)
        self.said = Counter("trainmaster_said", "records said", ["topic"], registry=registry)
        self.assigned = Gauge("trainmaster_partitions", "partitions of this worker", registry=registry)
        self.waiting = Gauge("trainmaster_unconfirmed", "messages whose output is not confirmed", registry=registry)
        self.behind = Gauge("trainmaster_behind", "messages that wait to be taken", registry=registry)
        self.ready = Gauge("trainmaster_ready", "1 while the worker is ready", registry=registry)
        self.restores = Histogram("trainmaster_restore_seconds", "until a partition was restored", registry=registry)
        self.snapshots = Histogram("trainmaster_snapshot_seconds", "to write a partition's memory", registry=registry)

    def took(self, taken: Taken) -> None:
        """Count a message."""
        self.messages.inc()
        self.records.inc(taken.records)
        if taken.rejected:
            self.rejected.inc(taken.rejected)
        if taken.telemetry:
            self.moved.inc(len(taken.telemetry))
        for sent in taken.said:
            self.said.labels(sent.topic).inc()
