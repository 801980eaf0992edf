"""One partition of the log at work: a message in, what the line says out. It reads and writes nothing by itself."""

from itertools import groupby

from msgspec import Struct, field

from schemas.codec import BadRecord, decode_all, encode, split
from schemas.telemetry import Inbound, Telemetry, Tick
from streams.dead_letter import dead_letter
from streams.kafka.message import Message
from streams.kafka.placing import partition_of
from streams.line import Line
from streams.runtimes.lost_history import LostHistory, resumed
from streams.runtimes.memories import NOTHING, Memories
from streams.stages.stage import Sent
from streams.stores.store import Snapshot

SOURCE = "telemetry"
Read = Inbound | BadRecord


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
        place = 0
        for job, run in groupby(decode_all(message.body), key=_job_of):
            records = list(run)
            if job is None:
                self._of_nobody(message, place, records, taken)
            elif partition_of(job, self._of) != self.number:
                raw = split(message.body)[place : place + len(records)]
                taken.telemetry += [Telling(job, one) for one in raw]
            else:
                self._of_job(message, job, records, taken)
            place += len(records)
        taken.records += place
        self.offset, self.time = message.offset, message.time

    def _of_nobody(self, message: Message, place: int, records: list[Read], taken: Taken) -> None:
        for line, record in enumerate(records, place):
            if isinstance(record, BadRecord):
                taken.rejected += 1
                letter = dead_letter(record, f"{SOURCE}/{self.number}", message.offset, line, message.time)
                taken.said.append(Sent("dead", message.key or SOURCE, letter))
            else:
                taken.said += self._memories.feed(message.offset, record)

    def _of_job(self, message: Message, job: str, records: list[Read], taken: Taken) -> None:
        telemetry = [record for record in records if isinstance(record, Telemetry)]
        if self._lost is None:
            taken.said += self._memories.feed_job(job, message.offset, telemetry)
            return
        for record in telemetry:
            taken.said += self._report(self._lost, record, message)
            taken.said += self._memories.feed_job(job, message.offset, (record,))

    def _report(self, lost: LostHistory, record: Telemetry, message: Message) -> list[Sent]:
        event = lost.look(record, message.time)
        if event is None:
            return []
        self._reports.append(Telling(record.job, encode(event)))
        return self._memories.feed(message.offset, resumed(event))


def _job_of(record: Read) -> str | None:
    return None if isinstance(record, BadRecord | Tick) else record.job
