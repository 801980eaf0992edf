"""What a line of a rank becomes: part of a step frame, a sample, an event, or an acknowledgement."""

from typing import get_args

from schemas.telemetry import Entity, Event, SampleFrame
from streams.agents.assemble import Assembler
from streams.agents.finding import Sample
from streams.agents.rank_file import Line, Source
from streams.agents.stamp import Stamp
from streams.agents.tail import Read

_ENTITIES: dict[str, Entity] = {entity: entity for entity in get_args(Entity)}
_ANSWERS_KEPT = 4096


class Translator:
    """Turns lines into records; the steps among them go to the assembler.

    Args:
        stamp: makes the records.
        assembler: takes the steps.

    Attributes:
        unusable: lines of which no record could be made.
    """

    def __init__(self, stamp: Stamp, assembler: Assembler) -> None:
        self._stamp, self._assembler = stamp, assembler
        self._answers: dict[tuple[str, int, str, str, int, str], None] = {}
        self.unusable = 0

    def take(self, read: Read, now: float) -> list[Event | SampleFrame]:
        """Give the records a line becomes at once; `now` is the reader's clock."""
        records: list[Event | SampleFrame] = [self._gap(read)] if read.missed else []
        source, line = read.source, read.line
        if line.ack:
            records += self._answer(source, line)
        elif line.e:
            data = {"rank": source.rank, **line.d}
            records.append(self._stamp.event(source.job, source.attempt, line.t, line.e, data, line.u, line.x))
        elif line.of in _ENTITIES and line.id:
            values = {name: [value] for name, value in line.v.items()}
            sample = Sample(of=_ENTITIES[line.of], ids=[line.id], values=values)
            records.append(self._stamp.samples(source.job, source.attempt, line.t, sample))
        elif line.s >= 0 and not line.of:
            self._assembler.add(source, line, read.mark, now)
        elif not line.hook:
            self.unusable += 1
        return records

    def _gap(self, read: Read) -> Event:
        source, line = read.source, read.line
        name, until = f"rank {source.rank}", line.t or read.since
        reason = "the hook could not write" if line.lost else "not there any more when it was read"
        data = {"source": name, "from": read.since, "to": until, "records": read.missed, "reason": reason}
        return self._stamp.event(source.job, source.attempt, until, "source.gap", data, name)

    def _answer(self, source: Source, line: Line) -> list[Event]:
        """Every rank answers a request; those of one node that say the same are one acknowledgement."""
        answer = (source.job, source.attempt, line.ack, line.setting, line.s, line.error)
        if answer in self._answers:
            return []
        self._answers[answer] = None
        if len(self._answers) > _ANSWERS_KEPT:
            del self._answers[next(iter(self._answers))]
        data = {"request": line.ack, "step": line.s, "setting": line.setting, "rank": source.rank}
        if line.error:
            data["error"] = line.error
        event = self._stamp.event(source.job, source.attempt, line.t, "control.acknowledged", data, line.ack)
        return [event]
