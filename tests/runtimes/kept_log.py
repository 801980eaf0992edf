"""A topic in memory: everything that was sent, of which only a part may still be read."""

from collections.abc import AsyncIterator

from streams.kafka.message import Bounds, Message

BEGIN = 1_740_000_000.0


class KeptLog:
    """One partition of a topic, and what is asked of it.

    Attributes:
        messages: everything that was ever sent.
        first: the oldest offset that can still be read.
        asked: the stretches that were read again, as (begin, end).
    """

    def __init__(self, partition: int = 0) -> None:
        self.partition, self.first = partition, 0
        self.messages: list[Message] = []
        self.asked: list[tuple[int, int]] = []

    def send(self, key: str, body: bytes) -> Message:
        """Put a message at the end; one arrives every second."""
        offset = len(self.messages)
        self.messages.append(Message(self.partition, offset, BEGIN + offset, key, body))
        return self.messages[-1]

    async def bounds(self, partition: int) -> Bounds:
        """Say what can still be read."""
        assert partition == self.partition
        return Bounds(self.first, len(self.messages))

    async def read(self, partition: int, begin: int, end: int) -> AsyncIterator[Message]:
        """Give a stretch; what is gone cannot be asked for."""
        assert partition == self.partition
        assert self.first <= begin < end <= len(self.messages)
        self.asked.append((begin, end))
        for message in self.messages[begin:end]:
            yield message
