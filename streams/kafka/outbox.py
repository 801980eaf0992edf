"""What is on its way to Kafka: sent at once, confirmed in order, and what waits for a confirmation runs only then."""

import asyncio
from collections.abc import Callable, Sequence

from aiokafka import AIOKafkaProducer
from aiokafka.structs import RecordMetadata
from msgspec import Struct

from streams.kafka.connection import Arguments
from streams.kafka.message import Letter

Then = Callable[[], object]
ROOM = 2_000
"""Messages whose output may wait for its confirmation; then the next one waits."""
LINGER_MS = 5
BATCH_BYTES = 256 << 10


class _Waiting(Struct, frozen=True):
    futures: list[asyncio.Future[RecordMetadata]]
    then: Then


class Outbox:
    """Sends letters and sees to it that nothing is called done before Kafka has it.

    Args:
        arguments: how to reach Kafka.
        topic: gives a stream's name on the broker.
        seconds: until a letter that was not confirmed counts as failed; it is tried again until then.
        name: of this client.
    """

    def __init__(self, arguments: Arguments, topic: Callable[[str], str], seconds: float, name: str) -> None:
        self._topic = topic
        self._arguments, self._seconds, self._name = arguments, seconds, name
        self._waiting: asyncio.Queue[_Waiting] = asyncio.Queue(ROOM)
        self.sent = 0

    async def start(self) -> None:
        """Connect."""
        self._producer = AIOKafkaProducer(
            acks="all",
            enable_idempotence=False,
            linger_ms=LINGER_MS,
            max_batch_size=BATCH_BYTES,
            compression_type="lz4",
            request_timeout_ms=int(1000 * self._seconds),
            client_id=self._name,
            **self._arguments,
        )
        await self._producer.start()

    async def stop(self) -> None:
        """Send what is there, and end."""
        await self._producer.stop()

    @property
    def size(self) -> int:
        """How much waits for a confirmation."""
        return self._waiting.qsize()

    async def put(self, letters: Sequence[Letter], then: Then) -> None:
        """Send letters; `then` is called when they and everything before them are confirmed."""
        futures = [await self._send(letter) for letter in letters]
        self.sent += len(futures)
        await self._waiting.put(_Waiting(futures, then))

    async def confirm(self) -> None:
        """Wait for confirmations, for ever.

        Raises:
            KafkaError: something could not be sent; nothing behind it is called done.
        """
        while True:
            waiting = await self._waiting.get()
            for future in waiting.futures:
                await future
            waiting.then()

    async def answers(self, seconds: float) -> bool:
        """Ask the broker for something small."""
        try:
            await asyncio.wait_for(self._producer.client.fetch_all_metadata(), seconds)
        except Exception:  # noqa: BLE001 - whatever it is, the broker did not answer
            return False
        return True

    async def _send(self, letter: Letter) -> asyncio.Future[RecordMetadata]:
        future: asyncio.Future[RecordMetadata] = await self._producer.send(
            self._topic(letter.stream),
            letter.value,
            key=letter.key.encode(),
            partition=letter.partition,
            headers=list(letter.headers),  # the client takes no tuple
        )
        return future
