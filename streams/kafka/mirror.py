"""A copy of what was said, filled from the topics, so that one process can answer questions without asking Kafka.

The copy is a file of its own. It belongs to no group: every process that serves or acts has one, and all of them number
the records alike, so that a reader may go from one to the other.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import TypeAlias

import msgspec
from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition
from aiokafka.errors import KafkaError
from msgspec import Struct

from schemas.codec import from_wire
from schemas.detection import Vitals
from schemas.topics import BY_NAME, Outbound
from streams.clock import monotonic_seconds
from streams.kafka.connection import Arguments
from streams.kafka.origin_header import origin_in
from streams.kafka.places import Ceiling
from streams.kafka.topic_admin import Standing
from streams.stages.stage import Sent
from streams.stores.archive import SqliteArchive
from streams.stores.identity import identify
from streams.stores.positions import Place, SqlitePositions
from streams.stores.redis_numbers import FEED, RedisNumbers
from streams.stores.store import StoreAway

_log = logging.getLogger(__name__)
FOLLOWED = ("detections", "vitals", "incidents", "requests", "results", "control", "taints", "dead")
"""The streams that are copied, in the order in which those of one batch are filed: causes before consequences."""
BATCH = 2_000
POLL_MS = 250
ANSWER_SECONDS = 2.0
FETCH_BYTES = 4 << 20
AGAIN_SECONDS = 1.0
Batch: TypeAlias = Sequence[ConsumerRecord]


class _Ends(Struct, frozen=True):
    of: dict[TopicPartition, int]
    known: int
    time: float


class Mirror:
    """Follows the topics.

    Args:
        arguments: how to reach Kafka.
        topics: stream -> the topic on the broker.
        archive: the copy.
        positions: how far it goes.
        numbers: places of records in the feed.
        grown: called after something was filed.
    """

    def __init__(
        self,
        arguments: Arguments,
        topics: dict[str, Standing],
        archive: SqliteArchive,
        positions: SqlitePositions,
        numbers: RedisNumbers,
        grown: Callable[[], None] = lambda: None,
    ) -> None:
        self._arguments, self._archive, self._positions, self._numbers = arguments, archive, positions, numbers
        self._topics = {topics[stream].name: (stream, topics[stream]) for stream in FOLLOWED}
        self._grown = grown
        self._ceiling = Ceiling(archive.progress())
        self._ends: _Ends | None = None
        self.whole = asyncio.Event()
        self.seen_at: float | None = None
        self.fault = ""

    def age(self) -> float:
        """Seconds since the copy was known to hold everything; infinite before it ever did."""
        return float("inf") if self.seen_at is None else monotonic_seconds() - self.seen_at

    async def run(self) -> None:
        """Follow for ever; a store or broker that does not answer is waited for."""
        places = [TopicPartition(name, n) for name, (_, one) in self._topics.items() for n in range(one.found)]
        consumer = AIOKafkaConsumer(
            group_id=None,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            max_partition_fetch_bytes=FETCH_BYTES,
            client_id="trainmaster-mirror",
            **self._arguments,
        )
        await consumer.start()
        try:
            consumer.assign(places)
            await asyncio.to_thread(self._numbers.at_least, FEED, self._archive.last())
            self._seek(consumer, places)
            async with asyncio.TaskGroup() as group:
                group.create_task(self._look(consumer, places))
                group.create_task(self._follow(consumer))
        finally:
            await consumer.stop()

    def _seek(self, consumer: AIOKafkaConsumer, places: list[TopicPartition]) -> None:
        known = self._positions.load()
        for place in places:
            consumer.seek(place, known.get(self._place(place), 0))

    async def _follow(self, consumer: AIOKafkaConsumer) -> None:
        while True:
            got = await consumer.getmany(timeout_ms=POLL_MS, max_records=BATCH)
            batch = [record for records in got.values() for record in records]
            while True:
                try:
                    await asyncio.to_thread(self._file, batch)
                    break
                except StoreAway as fault:
                    self.fault = str(fault)
                    await asyncio.sleep(AGAIN_SECONDS)
            self.fault = ""
            if batch:
                self._grown()
            await self._hold_against_ends(consumer)

    async def _look(self, consumer: AIOKafkaConsumer, places: list[TopicPartition]) -> None:
        """Ask again and again where the topics end: a broker that is silent looks like one with nothing to say."""
        while True:
            with contextlib.suppress(KafkaError, StoreAway, TimeoutError):
                # The counter first: whatever has a place up to it is in the topics before their end is read.
                known = await asyncio.to_thread(self._numbers.at_least, FEED, 0)
                ends = await asyncio.wait_for(consumer.end_offsets(places), ANSWER_SECONDS)
                self._ends = _Ends(ends, known, monotonic_seconds())
            await asyncio.sleep(AGAIN_SECONDS / 2)

    async def _hold_against_ends(self, consumer: AIOKafkaConsumer) -> None:
        if (ends := self._ends) is None:
            return
        for place, end in ends.of.items():
            if await consumer.position(place) < end:
                return
        self._ends, self.seen_at = None, ends.time
        if not self.whole.is_set():
            self._ceiling.start(ends.known)
            await asyncio.to_thread(self._archive.put, [], self._ceiling.height)
            self.whole.set()

    def _file(self, batch: Batch) -> None:
        records = sorted(((FOLLOWED.index(self._topics[one.topic][0]), one) for one in batch), key=lambda pair: pair[0])
        sent = [one for rank, record in records if (one := self._sent(FOLLOWED[rank], record)) is not None]
        numbered = [one for one in sent if not isinstance(one.record, Vitals)]
        places = self._numbers.places([_identity(one) for one in numbered])
        by_record = {id(one): place for one, place in zip(numbered, places, strict=True)}
        self._archive.file(sent, [by_record.get(id(one)) for one in sent])
        before = self._ceiling.height
        self._ceiling.add(places, monotonic_seconds())
        if self._ceiling.height != before:
            self._archive.put([], self._ceiling.height)
        self._positions.save({self._place_of(one): one.offset + 1 for one in batch})

    def _sent(self, stream: str, record: ConsumerRecord) -> Sent | None:
        key = (record.key or b"").decode("utf-8", "replace")
        (kind,) = BY_NAME[stream].records
        try:
            told: Outbound = from_wire(record.value or b"", kind)
        except (msgspec.DecodeError, ValueError) as fault:
            _log.error("%s/%d/%d is none of ours: %s", record.topic, record.partition, record.offset, fault)
            return None
        return Sent(stream, key, told, origin_in(record.headers))

    def _place(self, place: TopicPartition) -> Place:
        """A topic that was made anew is another topic."""
        return f"{place.topic} {self._topics[place.topic][1].id}", place.partition

    def _place_of(self, record: ConsumerRecord) -> Place:
        return self._place(TopicPartition(record.topic, record.partition))


def _identity(sent: Sent) -> str:
    assert isinstance(sent.record, Outbound)
    identity = identify(sent.record)
    return blake2b(f"{sent.topic}\x1f{identity.id}\x1f{identity.revision}".encode(), digest_size=16).hexdigest()
