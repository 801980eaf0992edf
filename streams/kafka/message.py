"""Messages of a log, without the client that carries them."""

from collections.abc import AsyncIterator
from typing import Protocol

from msgspec import Struct


class Message(Struct, frozen=True):
    """One message of one partition.

    Attributes:
        time: Unix seconds at which it was sent or came in, as the broker keeps them.
        key: "" where it has none.
        body: one record or several.
    """

    partition: int
    offset: int
    time: float
    key: str
    body: bytes


class Letter(Struct, frozen=True):
    """Something to send.

    Attributes:
        stream: by the table of topics, without the prefix.
        partition: None lets the key decide.
        headers: what travels beside the value.
    """

    stream: str
    key: str
    value: bytes
    partition: int | None = None
    headers: tuple[tuple[str, bytes], ...] = ()


class Bounds(Struct, frozen=True):
    """What of a partition can be read: from `first` up to, but without, `end`."""

    first: int
    end: int


class History(Protocol):
    """What was sent before, to be read again."""

    async def bounds(self, partition: int) -> Bounds:
        """Say what can still be read."""
        ...

    def read(self, partition: int, begin: int, end: int) -> AsyncIterator[Message]:
        """Give the messages from `begin` up to, but without, `end`, in order."""
        ...
