"""The agent's way over Kafka: puts telemetry into the log, and reads control documents from theirs."""

import asyncio
import contextlib
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from aiokafka import AIOKafkaConsumer
from aiokafka.errors import KafkaError

from streams.agents.link import Away, Refused
from streams.kafka.connection import client_arguments, topic_name
from streams.kafka.log_producer import MESSAGE_BYTES, letters, log_producer
from streams.settings import KafkaSettings
from streams.stores.store import StoreAway

AGAIN_SECONDS = 5.0
POLL_MS = 500


class KafkaLink:
    """One Kafka; it may be away when this begins.

    The agent belongs to no group: it reads the last document of every job, there are few of them.

    Args:
        settings: how to reach Kafka.
        name: of this client.

    Raises:
        BadSettings: a certificate or key cannot be read.
    """

    def __init__(self, settings: KafkaSettings, name: str) -> None:
        self._name, self._arguments = name, client_arguments(settings)
        self._topic = topic_name(settings, "control")
        self._producer = log_producer(settings, name)
        self._fresh: dict[str, bytes] = {}
        self._fault = ""

    async def __aenter__(self) -> Self:
        self._follower = asyncio.create_task(self._follow_for_ever())
        return self

    async def __aexit__(self, kind: type[BaseException] | None, fault: object, trace: TracebackType | None) -> None:
        self._follower.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._follower
        await asyncio.to_thread(self._producer.close)

    async def deliver(self, job: str, lines: Sequence[bytes]) -> None:
        """Put records of one job into the log; back when Kafka has them.

        Raises:
            Away: Kafka does not answer.
            Refused: a record is larger than any message may be.
        """
        if any(len(line) > MESSAGE_BYTES for line in lines):
            raise Refused(f"larger than {MESSAGE_BYTES} bytes")
        try:
            await asyncio.to_thread(self._producer.deliver, list(letters(job, lines)))
        except StoreAway as fault:
            raise Away(str(fault)) from None

    async def control(self, job: str) -> bytes | None:
        """The newest control document of a job, once.

        Raises:
            OSError: the documents cannot be followed.
        """
        if self._fault:
            raise ConnectionError(self._fault)
        return self._fresh.pop(job, None)

    async def _follow_for_ever(self) -> None:
        while True:
            try:
                await self._follow()
            except (KafkaError, OSError) as fault:
                self._fault = f"no control documents: {fault or type(fault).__name__}"
            await asyncio.sleep(AGAIN_SECONDS)

    async def _follow(self) -> None:
        """Read the topic from its beginning, for ever.

        Raises:
            KafkaError, OSError: it cannot be read, or is not there.
        """
        consumer = AIOKafkaConsumer(
            group_id=None,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            client_id=self._name,
            **self._arguments,
        )
        try:
            await consumer.start()
            if self._topic not in await consumer.topics():
                raise FileNotFoundError(f"the topic {self._topic} is missing; run `trainmaster topics apply`")
            # Without a group, a subscription brings all partitions.
            consumer.subscribe([self._topic])
            self._fault = ""
            while True:
                for records in (await consumer.getmany(timeout_ms=POLL_MS)).values():
                    self._fresh |= {(one.key or b"").decode("utf-8", "replace"): one.value or b"" for one in records}
        finally:
            await consumer.stop()
