"""Records into the log with kafka-python: for agents, the HTTP ingest, and people. It blocks, so use it on a thread.

Idempotence stays off: with it, this client (3.0.12) falls silent for ever when a batch it has already sent once runs
out of time. Repetition is harmless here, silence is not; a producer that falls silent all the same is replaced.
"""

import contextlib
import logging
import threading
from collections.abc import Callable, Iterator, Sequence

from kafka import KafkaProducer
from kafka.errors import KafkaError
from kafka.producer.future import FutureRecordMetadata

from streams.clock import monotonic_seconds
from streams.kafka.connection import Arguments, client_arguments, topic_name
from streams.kafka.message import Letter
from streams.settings import KafkaSettings
from streams.stores.store import StoreAway

_log = logging.getLogger(__name__)
MESSAGE_BYTES = 512 << 10
MESSAGE_RECORDS = 500
BLOCK_SECONDS = 2.0
RECONNECT_SECONDS = 1.0
"""The longest pause between two attempts to connect: shorter than a caller waits, for a broker that is back."""
REQUEST_SECONDS = 10.0
LINGER_MS = 20
CLOSE_SECONDS = 1.0


class LogProducer:
    """Puts letters into topics.

    Args:
        arguments: how to reach Kafka; what is given here goes before what is usual.
        topic: gives a stream's name on the broker.
        seconds: until something that was not confirmed counts as failed.
        name: of this client.
    """

    def __init__(self, arguments: Arguments, topic: Callable[[str], str], seconds: float, name: str) -> None:
        self._arguments, self._topic, self._seconds, self._name = arguments, topic, seconds, name
        self._lock = threading.Lock()
        self._producer: KafkaProducer | None = None

    def deliver(self, letters: Sequence[Letter]) -> int:
        """Send letters and wait until Kafka has them; give the highest offset, 0 for nothing.

        Raises:
            StoreAway: it has not; some of them may have arrived all the same.
        """
        if not letters:
            return 0
        producer = self._open()
        try:
            futures = [self._send(producer, letter) for letter in letters]
            return self._wait(producer, futures)
        except KafkaError as fault:
            raise StoreAway(f"Kafka does not answer ({type(fault).__name__})") from None

    def close(self) -> None:
        """Send what is there, and end."""
        with self._lock:
            producer, self._producer = self._producer, None
        if producer is not None:
            _close(producer, self._seconds)

    def _send(self, producer: KafkaProducer, letter: Letter) -> FutureRecordMetadata:
        return producer.send(
            self._topic(letter.stream), key=letter.key.encode(), value=letter.value, partition=letter.partition
        )

    def _wait(self, producer: KafkaProducer, futures: Sequence[FutureRecordMetadata]) -> int:
        """Wait for reports; a producer that reports nothing for twice the time-out has fallen silent."""
        deadline = monotonic_seconds() + 2 * self._seconds
        highest = 0
        for future in futures:
            try:
                told = future.get(timeout=max(0.0, deadline - monotonic_seconds()))
            except KafkaError:
                if not future.is_done:
                    self._replace(producer)
                raise
            highest = max(highest, told.offset)
        return highest

    def _open(self) -> KafkaProducer:
        with self._lock:
            if self._producer is None:
                try:
                    self._producer = self._made()
                except (KafkaError, OSError) as fault:
                    raise StoreAway(f"Kafka does not answer ({type(fault).__name__})") from None
            return self._producer

    def _made(self) -> KafkaProducer:
        usual: Arguments = {
            "enable_idempotence": False,
            "acks": "all",
            "max_in_flight_requests_per_connection": 1,
            "delivery_timeout_ms": int(1000 * self._seconds),
            "request_timeout_ms": int(1000 * min(REQUEST_SECONDS, self._seconds / 2)),
            "bootstrap_timeout_ms": int(1000 * BLOCK_SECONDS),
            "max_block_ms": int(1000 * BLOCK_SECONDS),
            "reconnect_backoff_max_ms": int(1000 * RECONNECT_SECONDS),
            "max_request_size": 2 * MESSAGE_BYTES,
            "linger_ms": LINGER_MS,
            "compression_type": "lz4",
            "client_id": self._name,
        }
        return KafkaProducer(**{**usual, **self._arguments})

    def _replace(self, silent: KafkaProducer) -> None:
        _log.warning("the producer has reported nothing for %.0f s and is replaced", 2 * self._seconds)
        with self._lock:
            if self._producer is silent:
                self._producer = None
        threading.Thread(target=_close, args=(silent, CLOSE_SECONDS), daemon=True).start()


def log_producer(settings: KafkaSettings, name: str) -> LogProducer:
    """Make the producer of an installation; it connects when it is first needed."""
    arguments = client_arguments(settings)
    return LogProducer(arguments, lambda stream: topic_name(settings, stream), settings.deliver, name)


def letters(job: str, records: Sequence[bytes]) -> Iterator[Letter]:
    r"""Put telemetry of a job into few messages: one costs the workers the same, whatever it holds.

    >>> [one.value for one in letters("j", [b"{1}", b"{2}"])]
    [b'{1}\n{2}']
    """
    part: list[bytes] = []
    size = 0
    for record in records:
        if part and (size + len(record) > MESSAGE_BYTES or len(part) == MESSAGE_RECORDS):
            yield Letter("telemetry", job, b"\n".join(part))
            part, size = [], 0
        part.append(record)
        size += len(record) + 1
    if part:
        yield Letter("telemetry", job, b"\n".join(part))


def _close(producer: KafkaProducer, seconds: float) -> None:
    with contextlib.suppress(KafkaError, OSError):
        producer.close(timeout=seconds)
