"""The embedded runtime: one process, the journal in, the archive out, snapshots in between.

It does four things per record and decides nothing: decode, load memory, feed the line, save and send. The journal is
what Kafka is to the other runtime: everything that is said is a function of it, so a crash at any point repeats work
and changes nothing.
"""

from schemas.codec import BadRecord, decode, encode
from schemas.telemetry import Inbound, Tick
from streams.dead_letter import dead_letter
from streams.line import Line
from streams.runtimes.lost_history import Loss, LostHistory, of_jobs
from streams.runtimes.memories import Memories
from streams.stages.stage import Sent
from streams.stores.store import Archive, Entry, Journal, Snapshots


class Embedded:
    """Runs the line over a journal.

    Args:
        line: the topology at work.
        journal: telemetry in arrival order.
        snapshots: where memory survives.
        archive: where everything that is said goes.
        batch: records between two commits.
        kept: records that stay in the journal behind the last snapshot, for evidence to be computed again.
    """

    def __init__(
        self,
        line: Line,
        journal: Journal,
        snapshots: Snapshots,
        archive: Archive,
        *,
        batch: int = 500,
        kept: int = 500_000,
    ) -> None:
        self.line, self.journal, self.snapshots, self.archive = line, journal, snapshots, archive
        self.batch, self.kept = batch, kept
        stored = [snapshots.load(key) for key in snapshots.keys()]  # noqa: SIM118 - no dict
        self.memories = Memories(line, [one for one in stored if one is not None])
        self.offset = max(0, self.memories.mark)
        self.taken = 0
        self._received = self.memories.since or 0.0
        self._losses = {key: self._loss(key, why) for key, why in self.memories.lost.items()}

    def work(self) -> int:
        """Take the next records of the journal; give how many there were.

        What they lead to and how far the journal has been read are written in one step.
        """
        entries = self.journal.read(self.offset, self.batch)
        said: list[Sent] = []
        for entry in entries:
            said += self._take(entry)
        if entries:
            self.offset, self._received = entries[-1].offset, entries[-1].received
            self.archive.put(said, self.offset)
        return len(entries)

    def save(self) -> None:
        """Write the memories that have changed, true at the present offset."""
        self.snapshots.save(self.memories.snapshots(self.offset, self._received))
        self.journal.trim(self.offset - self.kept)

    def _take(self, entry: Entry) -> list[Sent]:
        try:
            record = decode(entry.raw)
        except BadRecord as fault:
            return [Sent("dead", entry.key, dead_letter(fault, "journal", entry.offset, 0, entry.received))]
        self.taken += not isinstance(record, Tick)
        self._report(record, entry)
        said = self.memories.feed(entry.offset, record)
        back = [(sent.key, encode(sent.record)) for sent in said if sent.topic == "telemetry"]
        if back:
            self.journal.append(back, entry.received)  # twice after a crash: a repeated report is dropped
        return [sent for sent in said if sent.topic != "telemetry"]

    def _report(self, record: Inbound, entry: Entry) -> None:
        """Say on the journal itself that a job goes on without its past."""
        if isinstance(record, Tick) or record.job not in self._losses:
            return
        event = self._losses.pop(record.job).look(record, entry.received)
        if event is not None:
            self.journal.append([(record.job, encode(event))], entry.received)

    def _loss(self, key: str, why: str) -> LostHistory:
        reason = f"its memory could not be read back: {why}"
        return LostHistory(0, Loss(0, self.memories.mark + 1, None, reason), of_jobs({key}))
