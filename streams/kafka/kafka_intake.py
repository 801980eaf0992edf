"""Telemetry on its way into the log, for the HTTP ingest, operators and runners."""

from collections.abc import Sequence

from streams.kafka.log_producer import LogProducer, letters


class KafkaIntake:
    """Appends to the topic telemetry; what is answered is confirmed by Kafka.

    Args:
        producer: of the topics.
    """

    def __init__(self, producer: LogProducer) -> None:
        self._producer = producer

    def append(self, messages: Sequence[tuple[str, bytes]], received: float) -> int:  # noqa: ARG002 - Kafka stamps it
        """Append (key, raw) pairs; give the highest offset among those of all partitions.

        Raises:
            StoreAway: none or not all of them are there; appending them again is harmless.
        """
        jobs: dict[str, list[bytes]] = {}
        for job, raw in messages:
            jobs.setdefault(job, []).append(raw)
        return self._producer.deliver([one for job, records in jobs.items() for one in letters(job, records)])
