"""Letters into the log: confirmed or reported as failed in time, whatever the broker does."""

import contextlib
import itertools
import time
from collections.abc import Iterator

import pytest
from kafka import KafkaConsumer, TopicPartition

from streams.kafka.connection import Arguments
from streams.kafka.log_producer import BLOCK_SECONDS, MESSAGE_BYTES, MESSAGE_RECORDS, LogProducer, letters
from streams.kafka.message import Letter
from streams.kafka.placing import partition_of
from streams.kafka.topic_admin import apply
from streams.settings import KafkaSettings
from streams.stores.store import StoreAway
from tests.kafka.conftest import NewInstallation
from tests.services.kafka import KafkaBroker
from tests.services.processes import free_port
from tests.waiting import until

PARTITIONS = 4
SECONDS = 2.0
LATE = 3.0
"""What a busy machine may take beyond a time-out, seconds."""


@contextlib.contextmanager
def producing(bootstrap: str, prefix: str, **given: object) -> Iterator[tuple[LogProducer, Arguments]]:
    """A producer, and its arguments, which hold from the next connection on."""
    arguments: Arguments = {"bootstrap_servers": [bootstrap], **given}
    producer = LogProducer(arguments, lambda stream: f"{prefix}{stream}", SECONDS, "test")
    yield producer, arguments
    producer.close()


def stored(bootstrap: str, topic: str) -> dict[int, list[tuple[str, bytes]]]:
    """What stands in each partition of a topic."""
    with contextlib.closing(KafkaConsumer(bootstrap_servers=bootstrap)) as consumer:
        places = [TopicPartition(topic, number) for number in range(PARTITIONS)]
        consumer.assign(places)
        consumer.seek_to_beginning(*places)
        ends = consumer.end_offsets(places)
        found: dict[int, list[tuple[str, bytes]]] = {place.partition: [] for place in places}
        while any(consumer.position(place) < end for place, end in ends.items()):
            for place, records in consumer.poll(timeout_ms=500).items():
                found[place.partition] += [(one.key.decode(), one.value) for one in records]
    return found


@pytest.mark.service
def test_letters_arrive_where_they_belong_and_are_confirmed(new_installation: NewInstallation) -> None:
    """The key decides the partition as everywhere else, or the letter does; the highest offset is told."""
    installation = new_installation(PARTITIONS)
    jobs = [f"job-{number}" for number in range(20)]
    with producing(installation.bootstrap, f"{installation.name}.") as (producer, _):
        assert producer.deliver([]) == 0
        producer.deliver([Letter("telemetry", job, b"first") for job in jobs])
        assert producer.deliver([Letter("dead", "a", b"%d" % number, 3) for number in range(5)]) == 4
        assert producer.deliver([Letter("dead", "b", b"more", 3), Letter("dead", "b", b"other", 1)]) == 5
    found = stored(installation.bootstrap, f"{installation.name}.telemetry")
    assert found == {
        number: [(job, b"first") for job in jobs if partition_of(job, PARTITIONS) == number]
        for number in range(PARTITIONS)
    }
    dead = stored(installation.bootstrap, f"{installation.name}.dead")
    assert dead[3] == [*(("a", b"%d" % number) for number in range(5)), ("b", b"more")]
    assert dead[1] == [("b", b"other")]


@pytest.mark.service
def test_a_frozen_broker_is_reported_in_time_and_used_again(own_kafka: KafkaBroker) -> None:
    """What is not confirmed within the time-out counts as failed; when the broker thaws the same producer goes on."""
    apply(KafkaSettings(bootstrap=own_kafka.bootstrap, prefix="frozen.", partitions=PARTITIONS))
    with producing(own_kafka.bootstrap, "frozen.") as (producer, _):
        assert producer.deliver([Letter("telemetry", "j", b"before", 0)]) == 0
        own_kafka.process.freeze()
        for _ in range(2):
            begin = time.monotonic()
            with pytest.raises(StoreAway):
                producer.deliver([Letter("telemetry", "j", b"meanwhile", 0)])
            assert time.monotonic() - begin < 2 * SECONDS + LATE
        own_kafka.process.thaw()
        until(lambda: is_delivered(producer, b"after"), 30.0, "the producer did not come back")
    bodies = [value for _, value in stored(own_kafka.bootstrap, "frozen.telemetry")[0]]
    assert bodies[0] == b"before"
    assert b"after" in bodies


@pytest.mark.service
def test_a_silent_producer_is_replaced(new_installation: NewInstallation) -> None:
    """A producer that reports neither success nor failure is given up after twice the time-out; the next one works."""
    installation = new_installation(PARTITIONS)
    silent = {"linger_ms": 3_600_000, "delivery_timeout_ms": 7_200_000}
    with producing(installation.bootstrap, f"{installation.name}.", **silent) as (producer, arguments):
        begin = time.monotonic()
        with pytest.raises(StoreAway):
            producer.deliver([Letter("telemetry", "j", b"unheard", 0)])
        assert 2 * SECONDS <= time.monotonic() - begin < 2 * SECONDS + LATE
        for name in silent:
            del arguments[name]
        assert is_delivered(producer, b"heard")
    bodies = [value for _, value in stored(installation.bootstrap, f"{installation.name}.telemetry")[0]]
    assert b"heard" in bodies


def test_no_broker_is_reported_soon() -> None:
    """Where nobody listens that is said as soon as a connection may take, each time anew, and closing takes no time."""
    with producing(f"127.0.0.1:{free_port()}", "no.") as (producer, _):
        for _ in range(2):
            begin = time.monotonic()
            with pytest.raises(StoreAway):
                producer.deliver([Letter("telemetry", "j", b"x")])
            assert time.monotonic() - begin < BLOCK_SECONDS + LATE


def is_delivered(producer: LogProducer, body: bytes) -> bool:
    """Try to deliver something."""
    try:
        producer.deliver([Letter("telemetry", "j", body, 0)])
    except StoreAway:
        return False
    return True


SIZES = {
    "nothing": ([], []),
    "one": ([10], [1]),
    "few": ([10] * 3, [3]),
    "as many as there may be": ([10] * MESSAGE_RECORDS, [MESSAGE_RECORDS]),
    "one more": ([10] * (MESSAGE_RECORDS + 1), [MESSAGE_RECORDS, 1]),
    "as large as may be": ([MESSAGE_BYTES // 2 - 1, MESSAGE_BYTES // 2], [2]),
    "one byte more": ([MESSAGE_BYTES // 2, MESSAGE_BYTES // 2], [1, 1]),
    "one that is too large travels alone": ([10, MESSAGE_BYTES + 1, 10], [1, 1, 1]),
}


@pytest.mark.parametrize("case", SIZES)
def test_telemetry_travels_in_few_messages_of_bounded_size(case: str) -> None:
    """Records stay in their order and whole; a message holds as many as may be, of one job."""
    sizes, counts = SIZES[case]
    records = [bytes([97 + number % 26]) * size for number, size in enumerate(sizes)]
    made = list(letters("j", records))
    assert [len(one.value.split(b"\n")) for one in made] == counts
    assert list(itertools.chain.from_iterable(one.value.split(b"\n") for one in made)) == records
    assert {(one.stream, one.key, one.partition) for one in made} <= {("telemetry", "j", None)}
    assert all(len(one.value) <= MESSAGE_BYTES for one in made if b"\n" in one.value)
