"""Records on their way out, in memory: first in, first out, bounded, and the least needed are given up first."""

from collections import deque
from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

Kind = Literal["samples", "steps", "events"]
GIVEN_UP_FIRST: tuple[Kind, ...] = ("samples", "steps", "events")


class Parcel(Struct, frozen=True):
    """One record as it is sent.

    Attributes:
        ticket: grows with every record of this process.
        kind: what it is, and so how long it is held on to.
        key: its job; one request carries one.
        line: the record as JSON, without a line end.
    """

    ticket: int
    kind: Kind
    key: str
    line: bytes


class Outbox:
    """What has not arrived yet.

    Args:
        limit_bytes: size above which records are given up.
    """

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._parcels: deque[Parcel] = deque()
        self._tickets = 0
        self.size_bytes = 0

    def __len__(self) -> int:
        return len(self._parcels)

    @property
    def full(self) -> bool:
        """Whether it holds more than it may."""
        return self.size_bytes > self._limit_bytes

    @property
    def last_ticket(self) -> int:
        """The number of the newest record; 0 before the first."""
        return self._tickets

    @property
    def settled(self) -> int:
        """The ticket up to which no record is in here any more."""
        return self._parcels[0].ticket - 1 if self._parcels else self._tickets

    def put(self, kind: Kind, key: str, line: bytes) -> None:
        """Add a record."""
        self._tickets += 1
        self._parcels.append(Parcel(self._tickets, kind, key, line))
        self.size_bytes += len(line)

    def head(self, limit_bytes: int) -> list[Parcel]:
        """Give the oldest records up to a size, at least one; they stay."""
        taken: list[Parcel] = []
        size = 0
        for parcel in self._parcels:
            size += len(parcel.line)
            if taken and size > limit_bytes:
                break
            taken.append(parcel)
        return taken

    def settle(self, ticket: int) -> None:
        """Let go of everything up to a ticket."""
        while self._parcels and self._parcels[0].ticket <= ticket:
            self.size_bytes -= len(self._parcels.popleft().line)

    def give_up(self) -> list[Parcel]:
        """Shrink to nine tenths of the limit: the oldest samples go first, then steps, events last; give them."""
        wanted = self._limit_bytes * 9 // 10
        lost: list[Parcel] = []
        for kind in GIVEN_UP_FIRST:
            lost += self._give_up_kind(kind, wanted)
        return lost

    def _give_up_kind(self, kind: Kind, wanted: int) -> list[Parcel]:
        lost: list[Parcel] = []
        if self.size_bytes <= wanted:
            return lost
        kept: deque[Parcel] = deque()
        for parcel in self._parcels:
            if parcel.kind == kind and self.size_bytes > wanted:
                self.size_bytes -= len(parcel.line)
                lost.append(parcel)
            else:
                kept.append(parcel)
        self._parcels = kept
        return lost


def by_key(parcels: Iterable[Parcel]) -> dict[str, list[Parcel]]:
    """Sort records by their job; those of one job keep their order."""
    sorted_out: dict[str, list[Parcel]] = {}
    for parcel in parcels:
        sorted_out.setdefault(parcel.key, []).append(parcel)
    return sorted_out
