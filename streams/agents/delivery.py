"""Getting records to the pipeline: each at least once, over outages and restarts, within bounded memory and disk."""

import asyncio
import contextlib
import logging
import os
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec
from msgspec import Struct

from schemas.codec import encode
from schemas.telemetry import Event, SampleFrame, StepFrame
from streams.agents.link import Away, Link, Refused
from streams.agents.outbox import Kind, Outbox, Parcel, by_key
from streams.agents.spool import Spool, Stretch

log = logging.getLogger(__name__)

_KINDS: dict[type[StepFrame | SampleFrame | Event], Kind] = {
    StepFrame: "steps",
    SampleFrame: "samples",
    Event: "events",
}


class Limits(Struct, frozen=True, kw_only=True):
    """How much is held, and how patiently.

    Attributes:
        memory_bytes: records in memory.
        spool_bytes: records on disk.
        request_bytes: records in one delivery.
        every: seconds from the first record to its delivery while there is little to send.
        first_pause: seconds before the first repetition; each further one waits twice as long.
        longest_pause: seconds at most.
        farewell: seconds to go on delivering when it is closed; the rest goes to the spool.
    """

    memory_bytes: int = 8 << 20
    spool_bytes: int = 64 << 20
    request_bytes: int = 1 << 18
    every: float = 0.5
    first_pause: float = 0.5
    longest_pause: float = 30.0
    farewell: float = 2.0


class Loss(Struct, frozen=True):
    """Whose records were given up, and of which kind."""

    job: str
    attempt: int
    kind: Kind


class Delivery:
    """Offers records to the pipeline and holds on to them until it has said yes.

        async with link, Delivery(link, spool) as delivery:
            delivery.offer(event)

    Args:
        link: the way there; it stays open as long as this.
        spool: a folder for records while the pipeline is away.
        limits: how much is held, and how patiently.
    """

    def __init__(self, link: Link, spool: Path, limits: Limits | None = None) -> None:
        self._link, self._limits = link, limits or Limits()
        self._outbox = Outbox(self._limits.memory_bytes)
        self._spool = Spool(spool, self._limits.spool_bytes, self._limits.request_bytes)
        self._losses: Counter[Loss] = Counter()
        self._failures, self._complaint = 0, ""
        self._wake, self._closing = asyncio.Event(), asyncio.Event()

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._work())
        return self

    async def __aexit__(self, kind: type[BaseException] | None, fault: object, trace: TracebackType | None) -> None:
        self._closing.set()
        self._wake.set()
        try:
            await asyncio.wait_for(self._task, self._limits.farewell)
        except TimeoutError:
            log.warning("%d records stay in the spool", len(self._outbox))
        finally:
            self._spill()
            self._spool.close()

    def offer(self, record: StepFrame | SampleFrame | Event) -> None:
        """Take a record; never waits."""
        if self._task.done():
            self._task.result()  # the worker crashed: so does whoever relies on it
        is_first = not len(self._outbox)
        self._outbox.put(_KINDS[type(record)], record.job, encode(record))
        if self._outbox.full:
            self._spill()
        if is_first or self._is_urgent:
            self._wake.set()

    @property
    def last_ticket(self) -> int:
        """The number of the newest record offered."""
        return self._outbox.last_ticket

    @property
    def settled(self) -> int:
        """The number up to which all records have arrived, are on disk, or were given up and counted."""
        return self._outbox.settled

    @property
    def away(self) -> bool:
        """Whether the last delivery failed."""
        return self._failures > 0

    def take_losses(self) -> Counter[Loss]:
        """Give what was given up since the last call."""
        losses, self._losses = self._losses, Counter()
        return losses

    async def _work(self) -> None:
        while True:
            await self._next_round()
            stretch = self._spool.oldest()
            parcels = stretch.parcels if stretch else self._outbox.head(self._limits.request_bytes)
            arrived = await self._send(parcels, stretch) if parcels else False
            if self._closing.is_set() and not arrived:
                return  # nothing is left, or the other side is away and the spool keeps it

    async def _next_round(self) -> None:
        """Wait for a record, and then until it is worth sending: enough of them, enough time, or it is being closed."""
        if not self._is_urgent and not len(self._outbox):
            self._wake.clear()
            await self._wake.wait()
        if not self._is_urgent:
            self._wake.clear()
            await _wait(self._wake, self._limits.every)

    @property
    def _is_urgent(self) -> bool:
        much = self._outbox.size_bytes >= self._limits.request_bytes
        return much or self._spool.size_bytes > 0 or self._closing.is_set()

    async def _send(self, parcels: Sequence[Parcel], stretch: Stretch | None) -> bool:
        try:
            for key, part in by_key(parcels).items():
                await self._deliver(key, part)
        except Away as away:
            self._spill()
            await self._pause(away)
            return False
        if self._failures:
            log.info("records are taken again after %d failures", self._failures)
        self._failures, self._complaint = 0, ""
        if stretch is not None:
            self._spool.forget(stretch.number)
        else:
            self._outbox.settle(parcels[-1].ticket)
        return True

    async def _deliver(self, key: str, parcels: Sequence[Parcel]) -> None:
        """Send the records of one job; what is refused is halved until the one at fault stands alone."""
        try:
            await self._link.deliver(key, [parcel.line for parcel in parcels])
        except Refused as refused:
            if len(parcels) == 1:
                log.warning("a record of %s is refused: %s", key, refused)
                self._lose(parcels)
                return
            middle = len(parcels) // 2
            await self._deliver(key, parcels[:middle])
            await self._deliver(key, parcels[middle:])

    async def _pause(self, away: Away) -> None:
        self._failures += 1
        if str(away) != self._complaint:
            self._complaint = str(away)
            log.warning("records are not taken: %s", away)
        limits = self._limits
        pause = min(limits.first_pause * 2 ** min(self._failures - 1, 20), limits.longest_pause)
        # A thousand agents that lost the same server or broker shall not all come back in the same moment.
        spread = zlib.crc32(f"{os.uname().nodename} {os.getpid()} {self._failures}".encode()) / 2**32
        pause = max(pause * (0.5 + spread / 2), min(away.wait, limits.longest_pause))
        await _wait(self._closing, pause)

    def _spill(self) -> None:
        """Move everything from memory to disk; where the disk takes nothing, memory gives up what it must."""
        parcels = self._outbox.head(self._outbox.size_bytes)
        try:
            self._spool.append(parcels)
        except OSError as fault:
            log.warning("the spool takes nothing: %s", fault)
            if self._outbox.full:
                self._lose(self._outbox.give_up())
        else:
            if parcels:
                self._outbox.settle(parcels[-1].ticket)
            self._lose(self._spool.give_up())

    def _lose(self, parcels: Sequence[Parcel]) -> None:
        for parcel in parcels:
            self._losses[Loss(parcel.key, _attempt(parcel.line), parcel.kind)] += 1


class _Identity(Struct):
    attempt: int


_identity = msgspec.json.Decoder(_Identity)


def _attempt(line: bytes) -> int:
    return _identity.decode(line).attempt


async def _wait(event: asyncio.Event, seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), seconds)
