"""The short way of a frame leads where the long way leads: the same words, record by record, and the same memory."""

import random
from collections.abc import Iterable

import pytest

from playbooks.load import load_causes, load_playbooks
from schemas.codec import decode, encode
from schemas.telemetry import StepFrame, Tick
from schemas.topics import Record
from streams.agents.simulated import simulate
from streams.line import Line, LineMemory
from streams.stages.detect.arrival import is_put_away
from streams.stages.detect.job_memory import DetectMemory
from streams.stages.detect.stage import Detect
from streams.stages.stage import Sent
from streams.stores.pack import pack
from streams.topology import Row, topology

RECORDS = 6_000


class ShortWay(Detect):
    """The stage as it is, counting the frames that took the short way."""

    taken = 0

    def feed(self, memory: DetectMemory, record: Record) -> Iterable[Sent]:
        """Take one record."""
        if isinstance(record, StepFrame) and is_put_away(memory, record, self.lateness):
            self.taken += 1
            return ()
        return super().feed(memory, record)


class LongWay(Detect):
    """The stage without its short way."""

    def feed(self, memory: DetectMemory, record: Record) -> Iterable[Sent]:
        """Take one record."""
        return self._tick(memory, record) if isinstance(record, Tick) else self._record(memory, record)


@pytest.mark.parametrize("disorder", [0.0, 40.0])
@pytest.mark.parametrize(
    ("scenario", "seed"),
    [
        ("brief64", 1),
        ("network", 2),
        ("node_silent", 3),
        ("pipeline_stages", 4),
        ("restart_smaller", 5),
        ("slow_node", 6),
    ],
)
def test_both_ways_lead_to_the_same(scenario: str, seed: int, disorder: float) -> None:
    """Over faults in jobs of several nodes, with lost, repeated and late records, and with all of them out of order."""
    dice = random.Random(seed)
    records = [decode(line.strip()) for line in simulate(scenario, seed, defects=True)][:RECORDS]
    places = sorted(range(len(records)), key=lambda place: place + dice.uniform(0.0, disorder))
    stage = ShortWay()
    short, long = line_with(stage), line_with(LongWay())
    one, other = short.blank("job"), long.blank("job")
    for place in places:
        assert told(short, one, records[place]) == told(long, other, records[place])
    assert [pack(memory) for memory in one.stages] == [pack(memory) for memory in other.stages]
    assert stage.taken > 0


def line_with(stage: Detect) -> Line:
    """The line as it ships, with another first stage."""
    causes = load_causes()
    detect, *others = topology(causes, load_playbooks(causes=causes))
    return Line((Row(stage, reads=detect.reads, writes=detect.writes, key=detect.key), *others))


def told(line: Line, memory: LineMemory, record: Record) -> list[bytes]:
    """What a record leads to."""
    return [sent.topic.encode() + encode(sent.record) for sent in line.feed(memory, record)]
