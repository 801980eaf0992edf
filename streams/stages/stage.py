"""What a stage is: a blank memory, and one step from a record to what it says."""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, TypeVar, runtime_checkable

from msgspec import Struct

from schemas.origin import Origin
from schemas.topics import Record

M = TypeVar("M", bound=Struct)


class Sent(Struct, frozen=True):
    """A record on its way to a stream.

    Attributes:
        topic: name in `schemas.topics`.
        key: the message key: job or incident id.
        record: what is sent.
        origin: what it can be computed from again; noted by the runtime, which knows the log.
    """

    topic: str
    key: str
    record: Record
    origin: Origin | None = None


class Stage(Protocol[M]):
    """A pure step: no clock, no disk, no network, no waiting, no randomness."""

    @property
    def name(self) -> str:
        """Its name in the topology."""
        ...

    @property
    def memory(self) -> type[M]:
        """The type of its memory, for reading a snapshot back."""
        ...

    def blank(self, key: str) -> M:
        """Make the memory of a key that has not been seen yet."""
        ...

    def feed(self, memory: M, record: Record) -> Iterable[Sent]:
        """Take one record, change the memory, say what follows."""
        ...

    def flush(self, memory: M) -> Iterable[Sent]:
        """Nothing more will come: say what was kept back for late records."""
        ...

    def is_over(self, memory: M) -> bool:
        """Whether nothing in the memory matters any more, should the key be heard of again."""
        ...


@runtime_checkable
class Absorbing(Stage[M], Protocol[M]):
    """A stage to which most records mean nothing at once, and which takes many of them together faster."""

    def put_away(self, memory: M, records: Sequence[Record], at: int) -> int:
        """Take records from a place on for as long as nothing follows from them; give how many."""
        ...


AnyStage = Stage[Any]  # Any: the topology holds stages of different memories
