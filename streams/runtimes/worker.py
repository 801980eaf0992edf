"""What a worker does with the messages of its partitions, whoever brings them.

Per message: memory restored if there is none, the line, the outputs sent, and the message called done when they are
confirmed. Beside that it writes snapshots, puts ticks into its partitions, and knows whether it is well.
"""

import asyncio
import logging
from collections.abc import Callable, Collection

from schemas.codec import encode
from schemas.telemetry import Tick
from schemas.topics import BY_NAME
from streams.clock import monotonic_seconds, unix_seconds
from streams.kafka.message import Letter, Message
from streams.kafka.origin_header import headers_of
from streams.kafka.outbox import Outbox
from streams.kafka.placing import partition_of
from streams.runtimes.memories import EVERYBODY
from streams.runtimes.partition import Partition, Taken
from streams.runtimes.restore import Restore
from streams.runtimes.saving import Saving
from streams.runtimes.worker_metrics import WorkerMetrics

_log = logging.getLogger(__name__)
LATEST = "incidents.latest"
WIDE_GAP = 16
"""Offsets that may be missing between two messages without a look at the log: transactions leave such holes."""


class Worker:
    """The work of one process.

    Args:
        restore: makes partitions.
        outbox: takes what is said.
        saving: where memories survive.
        of: partitions of the topic telemetry.
        tick: seconds from one tick to the next; 0 for none.
        snapshot: seconds from one snapshot to the next.
        metrics: what is counted.
    """

    def __init__(
        self,
        restore: Restore,
        outbox: Outbox,
        saving: Saving,
        *,
        of: int,
        tick: float,
        snapshot: float,
        metrics: WorkerMetrics,
    ) -> None:
        self._restore, self._outbox, self._saving, self._of = restore, outbox, saving, of
        self._tick, self._snapshot, self._metrics = tick, snapshot, metrics
        self._partitions: dict[int, Partition] = {}
        self._generation = 0
        self.assigned: frozenset[int] | None = None
        self.restoring: set[int] = set()
        self.moved = monotonic_seconds()

    def assign(self, partitions: Collection[int]) -> None:
        """Note which partitions are ours from now on."""
        self.assigned = frozenset(partitions)
        self.moved = monotonic_seconds()
        self._metrics.assigned.set(len(self.assigned))
        _log.info("partitions: %s", ", ".join(map(str, sorted(self.assigned))) or "none")

    def revoke(self) -> None:
        """Forget everything: somebody else may go on with it, and what comes back is made anew."""
        self._generation += 1
        self._partitions.clear()
        self.assigned = None
        self._metrics.assigned.set(0)

    def offsets(self) -> dict[int, int]:
        """Give the offset of the last message taken of each partition."""
        return {number: partition.offset for number, partition in self._partitions.items()}

    async def take(self, message: Message, done: Callable[[], object]) -> None:
        """Take a message; `done` is called when everything it led to is on the broker.

        Raises:
            Exception: of the infrastructure; the message must then not be called done, and the process should end.
        """
        partition = await self._partition(message)
        if partition is None:
            return  # it belongs to somebody else by now, who reads it again
        taken = partition.take(message)
        self._metrics.took(taken)
        self.moved = monotonic_seconds()
        await self._outbox.put(self._letters(taken), done)

    async def keep_time(self) -> None:
        """Put ticks into our partitions, for ever: they are part of the log, so that a replay sees them too."""
        while self._tick:
            now = unix_seconds()
            tick = encode(Tick(time=now, every=self._tick))
            ours = sorted(self.assigned or ())
            letters = [Letter("telemetry", EVERYBODY, tick, number) for number in ours]
            await self._outbox.put(letters, lambda: None)
            await asyncio.sleep(self._tick)

    async def keep_snapshots(self) -> None:
        """Write memories, for ever; each only when everything that was said up to it is confirmed."""
        while True:
            await asyncio.sleep(self._snapshot)
            for number in sorted(self._partitions):
                await self._save(number)

    async def _save(self, number: int) -> None:
        partition = self._partitions.get(number)
        if partition is not None and self._saving.is_free(number):
            with self._metrics.snapshots.time():
                snapshots = partition.snapshots()
            await self._outbox.put([], lambda: self._saving.save(number, snapshots))

    async def _partition(self, message: Message) -> Partition | None:
        """Find the partition of a message, restored if it is new to us or if the log jumped back."""
        partition = self._partitions.get(message.partition)
        if partition is not None and message.offset > partition.offset:
            if message.offset > partition.offset + WIDE_GAP:
                await self._restore.look_at_gap(partition, message)
            return partition
        generation = self._generation
        self.restoring.add(message.partition)
        begin = monotonic_seconds()
        try:
            partition = await self._restore.partition(message, await self._saving.load(message.partition))
        finally:
            self.restoring.discard(message.partition)
        if generation != self._generation:
            return None
        seconds = monotonic_seconds() - begin
        self._metrics.restores.observe(seconds)
        _log.info("partition %d goes on at %d after %.2f s", message.partition, message.offset, seconds)
        self._partitions[message.partition] = partition
        return partition

    def _letters(self, taken: Taken) -> list[Letter]:
        letters = [Letter("telemetry", one.job, one.raw, partition_of(one.job, self._of)) for one in taken.telemetry]
        for sent in taken.said:
            if BY_NAME[sent.topic].key:
                value = encode(sent.record)
                beside = headers_of(sent.origin)
                letters.append(Letter(sent.topic, sent.key, value, headers=beside))
                if sent.topic == "incidents":
                    letters.append(Letter(LATEST, sent.key, value, headers=beside))
        return letters
