"""A partition is made as it was: its snapshots, and what was sent between them and the first message to come."""

import logging

from streams.kafka.message import Bounds, History, Message
from streams.line import Line
from streams.runtimes.lost_history import Loss, LostHistory, of_a_stretch, of_jobs
from streams.runtimes.memories import MARK, NOTHING, Memories
from streams.runtimes.partition import SOURCE, Partition
from streams.stores.store import Snapshot

_log = logging.getLogger(__name__)


class Restore:
    """Makes partitions.

    Args:
        line: the topology at work.
        of: how many partitions the topic has.
        history: where the messages since a snapshot are read again.
        most: messages that are read again at most; what lies further back counts as lost.
    """

    def __init__(self, line: Line, of: int, history: History, most: int) -> None:
        self._line, self._of, self._history, self._most = line, of, history, most

    async def partition(self, first: Message, snapshots: list[Snapshot]) -> Partition:
        """Make the partition of a message as it was before that message.

        Args:
            first: the message that comes next; everything before it has been said.
            snapshots: what was saved of the partition, in no order.
        """
        memories = Memories(self._line, snapshots, topic=SOURCE, partition=first.partition)
        bounds = await self._history.bounds(first.partition)
        if memories.mark >= bounds.end:
            _log.warning("partition %d is shorter than what was saved of it; that is put aside", first.partition)
            memories, snapshots = Memories(self._line, topic=SOURCE, partition=first.partition), []
        # What was saved of a job and cannot be read back is learned from the log again; the others pass over that.
        begin = 0 if memories.lost else memories.mark + 1
        readable = min(first.offset, max(begin, bounds.first, first.offset - self._most))
        lost = self._lost(first, memories, readable, bounds, snapshots)
        partition = Partition(self._line, first.partition, self._of, memories, lost)
        if readable < first.offset:
            async for message in self._history.read(first.partition, readable, first.offset):
                partition.know(message)
        partition.offset, partition.time = first.offset - 1, first.time
        return partition

    async def look_at_gap(self, partition: Partition, first: Message) -> None:
        """Look why a partition goes on further ahead than expected: marks of transactions do that, and retention."""
        bounds = await self._history.bounds(first.partition)
        if bounds.first > partition.offset + 1:
            reason = "the worker was further behind than the log reaches"
            loss = Loss(partition.offset + 1, first.offset, partition.time, reason)
            partition.lose(LostHistory(first.partition, loss, of_a_stretch(partition.jobs())))

    def _lost(
        self, first: Message, memories: Memories, readable: int, bounds: Bounds, snapshots: list[Snapshot]
    ) -> LostHistory | None:
        """Say what cannot be seen again of a partition, and whom that concerns."""
        how = "the log no longer holds it" if readable == bounds.first else f"more than {self._most} messages"
        if memories.mark + 1 < readable:
            kind = "no memory of it was saved" if memories.mark == NOTHING else "what was saved of it is too old"
            loss = Loss(memories.mark + 1, readable, memories.since, f"{kind}, and {how}")
            concerns = of_a_stretch({one.key for one in snapshots if one.key != MARK})
        elif memories.lost and readable > 0:
            why = sorted(memories.lost.values())[0]
            loss = Loss(0, readable, None, f"its memory could not be read back ({why}), and {how}")
            concerns = of_jobs(set(memories.lost))
        else:
            return None
        _log.warning("partition %d, messages %d to %d: %s", first.partition, loss.begin, loss.end - 1, loss.reason)
        return LostHistory(first.partition, loss, concerns)
