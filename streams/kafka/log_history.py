"""What was sent before, read again from Kafka by consumers that belong to no group and move nobody's position."""

import asyncio
from collections.abc import AsyncIterator

from aiokafka import AIOKafkaConsumer, TopicPartition

from streams.kafka.connection import Arguments, NoKafka
from streams.kafka.message import Bounds, Message

POLL_MS = 1000
STILL_POLLS = 30
"""Polls without a message after which the broker is taken to have stopped answering."""
FETCH_BYTES = 4 << 20


class LogHistory:
    """The messages of one topic.

    Args:
        arguments: how to reach Kafka.
        topic: its name on the broker.
    """

    def __init__(self, arguments: Arguments, topic: str) -> None:
        self._arguments, self._topic = arguments, topic

    async def bounds(self, partition: int) -> Bounds:
        """Say what can still be read."""
        place = TopicPartition(self._topic, partition)
        consumer = await self._consumer(place)
        try:
            first = await consumer.beginning_offsets([place])
            end = await consumer.end_offsets([place])
        finally:
            await consumer.stop()
        return Bounds(first[place], end[place])

    async def read(self, partition: int, begin: int, end: int) -> AsyncIterator[Message]:
        """Give the messages from `begin` up to, but without, `end`, in order.

        Raises:
            NoKafka: the broker stopped answering.
        """
        place = TopicPartition(self._topic, partition)
        consumer = await self._consumer(place)
        try:
            consumer.seek(place, begin)
            still = 0
            while await consumer.position(place) < end:
                got = await consumer.getmany(place, timeout_ms=POLL_MS)
                still = 0 if got else still + 1
                if still > STILL_POLLS:
                    raise NoKafka(f"Kafka stopped answering while {self._topic}/{partition} was read again")
                for one in got.get(place, []):
                    if one.offset >= end:
                        return
                    key = (one.key or b"").decode("utf-8", "replace")
                    yield Message(partition, one.offset, one.timestamp / 1000.0, key, one.value or b"")
                await asyncio.sleep(0)
        finally:
            await consumer.stop()

    async def _consumer(self, place: TopicPartition) -> AIOKafkaConsumer:
        consumer = AIOKafkaConsumer(
            group_id=None,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            max_partition_fetch_bytes=FETCH_BYTES,
            client_id="trainmaster-history",
            **self._arguments,
        )
        await consumer.start()
        consumer.assign([place])
        return consumer
