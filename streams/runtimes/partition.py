"""One partition of the log at work: a message in, what the line says out. It reads and writes nothing by itself."""

from msgspec import Struct, field

from schemas.codec import BadRecord, decode, encode, split
from schemas.telemetry import Telemetry, Tick
from streams.dead_letter import dead_letter
from streams.kafka.message import Message
from streams.kafka.placing import partition_of
from streams.line import Line
from streams.runtimes.lost_history import LostHistory, resumed
from streams.runtimes.memories import NOTHING, Memories
from streams.stages.stage import Sent
from streams.stores.store import Snapshot

SOURCE = "telemetry"


class Telling(Struct, frozen=True):
    """A record for the log itself: one that came to the wrong partition, or a report of the worker's own."""

    job: str
    raw: bytes


class Taken(Struct):
    """What came of a message.

    Attributes:
        said: for the other topics, in order.
        telemetry: for the log itself.
        records: how many the message held.
        rejected: how many of them could not be read.
    """

    said: list[Sent] = field(default_factory=list)
    telemetry: list[Telling] = field(default_factory=list)
    records: int = 0
    rejected: int = 0


class Partition:
    """The memories of all jobs of a partition, and how far it has been read.

    Args:
        line: the topology at work.
        number: of the partition.
        of: how many the topic has.
        memories: as they were saved, or blank.
        lost: what could not be seen of it.
    """

    def __init__(self, line: Line, number: int, of: int, memories: Memories, lost: LostHistory | None = None) -> None:
        self._line, self.number, self._of = line, number, of
        self._memories = memories
        self._lost = lost
        self.offset, self.time = NOTHING, 0.0
        self._reports: list[Telling] = []

    @property
    def is_whole(self) -> bool:
        """Whether everything was seen that its memories should know."""
        return self._lost is None

    def know(self, message: Message) -> None:
        """Take a message that was taken before, for what it teaches alone: what it led to has been said."""
        self._run(message, Taken())

    def take(self, message: Message) -> Taken:
        """Take the next message."""
        taken = Taken()
        self._run(message, taken)
        taken.telemetry += self._reports
        self._reports = []
        return taken

    def lose(self, lost: LostHistory) -> None:
        """Note that from here on a stretch is missing."""
        self._lost = lost

    def snapshots(self) -> list[Snapshot]:
        """Write the memories that have changed, true at the last message."""
        return self._memories.snapshots(self.offset, self.time)

    def jobs(self) -> list[str]:
        """List the keys that have a memory."""
        return list(self._memories.keys)

    def _run(self, message: Message, taken: Taken) -> None:
        for line, raw in enumerate(split(message.body)):
            taken.records += 1
            try:
                record = decode(raw)
            except BadRecord as fault:
                taken.rejected += 1
                letter = dead_letter(fault, f"{SOURCE}/{self.number}", message.offset, line, message.time)
                taken.said.append(Sent("dead", message.key or SOURCE, letter))
                continue
            if not isinstance(record, Tick):
                if partition_of(record.job, self._of) != self.number:
                    taken.telemetry.append(Telling(record.job, raw))
                    continue
                if self._lost is not None:
                    taken.said += self._report(self._lost, record, message)
            taken.said += self._memories.feed(message.offset, record)
        self.offset, self.time = message.offset, message.time

    def _report(self, lost: LostHistory, record: Telemetry, message: Message) -> list[Sent]:
        event = lost.look(record, message.time)
        if event is None:
            return []
        self._reports.append(Telling(record.job, encode(event)))
        return self._memories.feed(message.offset, resumed(event))
