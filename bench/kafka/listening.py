"""A consumer of the benchmark's own: what was said on a topic, and when it could be read."""

import threading
import time
from types import TracebackType
from typing import Self

from kafka import KafkaConsumer, TopicPartition
from msgspec import Struct

POLL_MS = 20


class Heard(Struct, frozen=True):
    """A record, and the moment it could be read (seconds of a clock that never goes back)."""

    key: str
    value: bytes
    moment: float


class Listener:
    """Listens to a topic on a thread, from its end on.

    Args:
        bootstrap: address of the broker.
        topic: its name.
    """

    def __init__(self, bootstrap: str, topic: str) -> None:
        self.heard: list[Heard] = []
        self._consumer = KafkaConsumer(bootstrap_servers=bootstrap, fetch_max_wait_ms=5)
        places = [TopicPartition(topic, number) for number in self._consumer.partitions_for_topic(topic)]
        self._consumer.assign(places)
        self._consumer.seek_to_end(*places)
        for place in places:
            self._consumer.position(place)
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._listen, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: object, trace: TracebackType | None) -> None:
        self._ending.set()
        self._thread.join()
        self._consumer.close()

    def _listen(self) -> None:
        while not self._ending.is_set():
            got = self._consumer.poll(timeout_ms=POLL_MS)
            now = time.monotonic()
            for records in got.values():
                self.heard += [Heard((one.key or b"").decode(), one.value or b"", now) for one in records]
