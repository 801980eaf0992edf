"""The line: the stages of one key, one behind the other, so that one record of telemetry runs through all of them.

Everything that happens is a function of the telemetry of a key in its order of arrival. That is what makes a replay
change nothing, a restart invisible, and two runtimes give the same bytes.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from schemas.topics import Record
from streams.stages.stage import Absorbing, AnyStage, Sent
from streams.topology import Row


class LineMemory(Struct):
    """The memories of all stages for one key, in the order of the topology."""

    key: str
    stages: list[Struct]


class Line:
    """Runs one record of telemetry through the topology.

    Args:
        rows: the topology; a row may read only what an earlier row writes, or telemetry.

    Raises:
        ValueError: a row reads what nobody before it writes.
    """

    def __init__(self, rows: tuple[Row, ...]) -> None:
        known = {"telemetry"}
        for row in rows:
            missing = [name for name in row.reads if name not in known]
            if missing:
                raise ValueError(f"{row.stage.name}: reads {', '.join(missing)}, which nothing before it writes")
            known |= set(row.writes)
        self.rows = rows
        self._readers: dict[str, list[tuple[int, AnyStage]]] = {}
        for place, row in enumerate(rows):
            for topic in row.reads:
                self._readers.setdefault(topic, []).append((place, row.stage))
        self._absorbing = _absorbing(self._readers.get("telemetry", []))

    def blank(self, key: str) -> LineMemory:
        """Make the memory of a key that has not been seen yet."""
        return LineMemory(key=key, stages=[row.stage.blank(key) for row in self.rows])

    def feed(self, memory: LineMemory, record: Record) -> list[Sent]:
        """Run one record through all stages; give everything that was said, in order."""
        return self.feed_all(memory, (record,))

    def feed_all(self, memory: LineMemory, records: Sequence[Record]) -> list[Sent]:
        """Run records through all stages, one behind the other; faster than each by itself, and the same."""
        said: list[Sent] = []
        at = 0
        while at < len(records):
            if self._absorbing is not None:
                place, stage = self._absorbing
                at += stage.put_away(memory.stages[place], records, at)
            if at < len(records):
                self._pass_on(memory, 0, (Sent("telemetry", memory.key, records[at]),), said)
                at += 1
        return said

    def flush(self, memory: LineMemory) -> list[Sent]:
        """Nothing more will come for this key: let every stage say what it kept back."""
        said: list[Sent] = []
        for place, row in enumerate(self.rows):
            told = tuple(row.stage.flush(memory.stages[place]))
            said.extend(told)
            self._pass_on(memory, place + 1, told, said)
        return said

    def is_over(self, memory: LineMemory) -> bool:
        """Whether a key may be forgotten."""
        return all(row.stage.is_over(memory.stages[place]) for place, row in enumerate(self.rows))

    def _pass_on(self, memory: LineMemory, first: int, records: Iterable[Sent], said: list[Sent]) -> None:
        """Offer records to the rows from `first` on; what a row says goes to the rows behind it."""
        for sent in records:
            for place, stage in self._readers.get(sent.topic, ()):
                if place >= first:
                    told = tuple(stage.feed(memory.stages[place], sent.record))
                    if told:
                        said.extend(told)
                        self._pass_on(memory, place + 1, told, said)


def _absorbing(readers: list[tuple[int, AnyStage]]) -> tuple[int, Absorbing[Any]] | None:
    """The one stage that reads telemetry, if it takes many records together (Any: whatever its memory)."""
    if len(readers) != 1 or not isinstance(readers[0][1], Absorbing):
        return None
    return readers[0][0], readers[0][1]
