"""The embedded runtime: one process, the journal in, the archive out, snapshots in between.

It does four things per record and decides nothing: decode, load memory, feed the line, save and send. The journal is
what Kafka is to the other runtime: everything that is said is a function of it, so a crash at any point repeats work
and changes nothing.
"""

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from schemas.codec import BadRecord, decode
from schemas.dead import DeadLetter
from schemas.telemetry import Tick
from streams.line import Line, LineMemory
from streams.stages.stage import Sent
from streams.stores.pack import Unreadable, pack, unpack
from streams.stores.store import Archive, Entry, Journal, Snapshot, Snapshots

EVERYBODY = "*"
"""Key of the ticks: they concern every job."""
MARK = ""
"""Key of the snapshot that says up to which offset all memories are true."""
DEAD_BYTES = 65536


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
        self.memories: dict[str, LineMemory] = {}
        self.true_at: dict[str, int] = {}
        self.changed: set[str] = set()
        self.offset = 0
        self.lost: list[str] = []
        self.taken = 0
        self._recover()

    def work(self) -> int:
        """Take the next records of the journal; give how many there were.

        What they lead to and how far the journal has been read are written in one step.
        """
        entries = self.journal.read(self.offset, self.batch)
        said: list[Sent] = []
        for entry in entries:
            said += self._take(entry)
        if entries:
            self.offset = entries[-1].offset
            self.archive.put(said, self.offset)
        return len(entries)

    def save(self) -> None:
        """Write the memories that have changed, true at the present offset."""
        saved = [Snapshot(key, self.offset, _pack(self.memories[key])) for key in sorted(self.changed)]
        self.snapshots.save([*saved, Snapshot(MARK, self.offset, b"")])
        self.changed.clear()
        self.journal.trim(self.offset - self.kept)

    def _recover(self) -> None:
        """Load every memory; the entries after the mark are then read again, and said again, to the same effect."""
        mark = self.snapshots.load(MARK)
        self.offset = mark.offset if mark is not None else 0
        held = self.snapshots.keys()
        for key in held:
            snapshot = self.snapshots.load(key) if key != MARK else None
            if snapshot is None:
                continue
            try:
                self.memories[key] = self._unpack(snapshot)
                self.true_at[key] = snapshot.offset
            except Unreadable as fault:
                self.lost.append(f"{key}: {fault}")

    def _take(self, entry: Entry) -> Sequence[Sent]:
        try:
            record = decode(entry.raw)
        except BadRecord as fault:
            return (Sent("dead", entry.key, _dead(entry, fault)),)
        is_tick = isinstance(record, Tick)
        self.taken += not is_tick
        keys = sorted(self.memories) if is_tick else [entry.key]
        said: list[Sent] = []
        for key in keys:
            if entry.offset <= self.true_at.get(key, 0):
                continue
            memory = self.memories.setdefault(key, self.line.blank(key))
            said += self.line.feed(memory, record)
            self.changed.add(key)
        return said

    def _unpack(self, snapshot: Snapshot) -> LineMemory:
        parts = msgspec.msgpack.decode(snapshot.data, type=list[bytes])
        if len(parts) != len(self.line.rows):
            raise Unreadable(f"{len(parts)} stages, this is {len(self.line.rows)}")
        stages: list[Struct] = [unpack(part, row.stage.memory) for part, row in zip(parts, self.line.rows, strict=True)]
        return LineMemory(key=snapshot.key, stages=stages)


def _pack(memory: LineMemory) -> bytes:
    return msgspec.msgpack.encode([pack(stage) for stage in memory.stages])


def _dead(entry: Entry, fault: BadRecord) -> DeadLetter:
    return DeadLetter(
        reason=fault.reason,
        path=fault.path,
        detail=fault.detail,
        source="journal",
        offset=entry.offset,
        line=0,
        raw=fault.raw[:DEAD_BYTES],
        time=entry.received,
    )
