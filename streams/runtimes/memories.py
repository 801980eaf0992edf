"""The memories of all keys of one log, each true at an offset of it. Both runtimes keep theirs so."""

from collections.abc import Iterable, Sequence
from contextlib import suppress

import msgspec
from msgspec import Struct, structs

from schemas.origin import Origin
from schemas.telemetry import Inbound, Tick
from streams.line import Line, LineMemory
from streams.stages.stage import Sent
from streams.stores.pack import Unreadable, pack, unpack
from streams.stores.store import Snapshot

EVERYBODY = "*"
"""Key of the ticks: they concern every job of a log."""
MARK = ""
"""Key of the snapshot that says up to which offset all memories are true."""
OVER = msgspec.msgpack.encode(None)
"""Instead of the memory of a key that was forgotten."""
NOTHING = -1
"""The offset before the first."""
TRACED = ("detections", "incidents")
"""Streams whose records are kept with the stretch of the log that led to them."""


class Memories:
    """Feeds records to the line, each key with its own memory.

    Args:
        line: the topology at work.
        snapshots: as they were saved.
        topic: what the log is called; likewise `partition`.

    Attributes:
        keys: the memories.
        mark: offset at which all of them were true when they were loaded; `NOTHING` without snapshots.
        since: Unix seconds of the message at that offset; None without snapshots.
        lost: key -> why its snapshot could not be read back.
    """

    def __init__(
        self, line: Line, snapshots: Iterable[Snapshot] = (), *, topic: str = "journal", partition: int = 0
    ) -> None:
        self._line, self._topic, self._partition = line, topic, partition
        self.keys: dict[str, LineMemory] = {}
        self.mark = NOTHING
        self.since: float | None = None
        self.lost: dict[str, str] = {}
        self._true_at: dict[str, int] = {}
        self._begun: dict[str, int] = {}
        self._changed: set[str] = set()
        self._forgotten: set[str] = set()
        for snapshot in snapshots:
            self._load(snapshot)

    def feed(self, offset: int, record: Inbound) -> list[Sent]:
        """Run a record through the line; a key that already knows this offset is left alone."""
        if not isinstance(record, Tick):
            return self.feed_job(record.job, offset, (record,))
        said = [one for key in sorted(self.keys) for one in self.feed_job(key, offset, (record,))]
        for key in [key for key, memory in self.keys.items() if self._line.is_over(memory)]:
            self._forget(key)
        return said

    def feed_job(self, key: str, offset: int, records: Sequence[Inbound]) -> list[Sent]:
        """Run records of one key, that came together, through the line, unless it knows their offset already."""
        if offset <= self._true_at.get(key, NOTHING):
            return []
        memory = self.keys.get(key)
        if memory is None:
            memory = self.keys[key] = self._line.blank(key)
            self._begun[key] = offset
        self._changed.add(key)
        return self._traced(key, offset, self._line.feed_all(memory, records))

    def _traced(self, key: str, offset: int, said: list[Sent]) -> list[Sent]:
        """Note what was said with the stretch of the log that led to it."""
        first = self._begun.get(key)
        if first is None or not any(one.topic in TRACED for one in said):
            return said
        origin = Origin(self._topic, self._partition, first, offset)
        return [structs.replace(one, origin=origin) if one.topic in TRACED else one for one in said]

    def _forget(self, key: str) -> None:
        """A cluster runs other jobs every day; those of last week are not carried along for ever."""
        del self.keys[key]
        self._begun.pop(key, None)
        self._changed.discard(key)
        self._forgotten.add(key)

    def snapshots(self, offset: int, time: float) -> list[Snapshot]:
        """Write the memories that have changed since the last call, and the mark, true at an offset.

        Args:
            offset: of the last record that was fed.
            time: Unix seconds of that record's arrival.
        """
        changed = [Snapshot(key, offset, self._pack(key)) for key in sorted(self._changed)]
        gone = [Snapshot(key, offset, OVER) for key in sorted(self._forgotten - self.keys.keys())]
        self._changed.clear()
        self._forgotten.clear()
        return [*changed, *gone, Snapshot(MARK, offset, msgspec.msgpack.encode(time))]

    def _load(self, snapshot: Snapshot) -> None:
        if snapshot.key == MARK:
            self._load_mark(snapshot)
            return
        if snapshot.data == OVER:
            self._true_at[snapshot.key] = snapshot.offset
            return
        try:
            parts = msgspec.msgpack.decode(snapshot.data, type=list[bytes])
            self.keys[snapshot.key] = self._unpack(snapshot.key, parts)
            if len(parts) > len(self._line.rows):
                self._begun[snapshot.key] = msgspec.msgpack.decode(parts[-1], type=int)
            self._true_at[snapshot.key] = snapshot.offset
        except (Unreadable, msgspec.DecodeError) as fault:
            self.lost[snapshot.key] = str(fault)

    def _load_mark(self, snapshot: Snapshot) -> None:
        """A mark that cannot be read is none: more is read again than is needed, and keys pass over what they know."""
        with suppress(msgspec.DecodeError):
            self.since = msgspec.msgpack.decode(snapshot.data, type=float)
            self.mark = snapshot.offset

    def _unpack(self, key: str, parts: list[bytes]) -> LineMemory:
        rows = self._line.rows
        if len(parts) not in (len(rows), len(rows) + 1):
            raise Unreadable(f"{len(parts)} stages, this is {len(rows)}")
        stages: list[Struct] = [unpack(part, row.stage.memory) for part, row in zip(parts, rows, strict=False)]
        return LineMemory(key=key, stages=stages)

    def _pack(self, key: str) -> bytes:
        """The memories of all stages, and behind them the offset at which they begin, where it is known."""
        parts = [pack(stage) for stage in self.keys[key].stages]
        begun = self._begun.get(key)
        return msgspec.msgpack.encode(parts if begun is None else [*parts, msgspec.msgpack.encode(begun)])
