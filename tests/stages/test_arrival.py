"""The short way of frames, singly or together, leads where the long way leads: the same words and the same memory."""

import random
from collections.abc import Iterable, Iterator, Sequence

import pytest

from playbooks.load import load_causes, load_playbooks
from schemas.codec import decode, encode
from schemas.topics import Record
from streams.agents.simulated import simulate
from streams.line import Line
from streams.stages.detect.job_memory import DetectMemory
from streams.stages.detect.stage import Detect
from streams.stages.stage import Sent
from streams.stores.pack import pack
from streams.topology import Row, topology

RECORDS = 6_000


class ShortWay(Detect):
    """The stage as it is, counting the frames that took the short way."""

    taken = 0

    def put_away(self, memory: DetectMemory, records: Sequence[Record], at: int) -> int:
        """Take what leads to nothing."""
        taken = super().put_away(memory, records, at)
        self.taken += taken
        return taken


class LongWay(Detect):
    """The stage without its short way."""

    def put_away(self, memory: DetectMemory, records: Sequence[Record], at: int) -> int:  # noqa: ARG002 - takes nothing
        """Take nothing."""
        return 0


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
    singly, together = ShortWay(), ShortWay()
    ways = [line_with(stage) for stage in (LongWay(), singly, together)]
    memories = [line.blank("job") for line in ways]
    for message in batched((records[place] for place in places), dice):
        long, short = (
            words(one for record in message for one in ways[way].feed(memories[way], record)) for way in (0, 1)
        )
        assert long == short == words(ways[2].feed_all(memories[2], message))
    assert len({tuple(pack(stage) for stage in memory.stages) for memory in memories}) == 1
    assert singly.taken == together.taken > 0


def line_with(stage: Detect) -> Line:
    """The line as it ships, with another first stage."""
    causes = load_causes()
    detect, *others = topology(causes, load_playbooks(causes=causes))
    return Line((Row(stage, reads=detect.reads, writes=detect.writes, key=detect.key), *others))


def batched(records: Iterable[Record], dice: random.Random) -> Iterator[list[Record]]:
    """Records as messages hold them: one, or up to fifty."""
    message: list[Record] = []
    for record in records:
        message.append(record)
        if len(message) >= dice.choice((1, 3, 50)):
            yield message
            message = []
    yield message


def words(said: Iterable[Sent]) -> list[bytes]:
    """What was said, as it is written."""
    return [sent.topic.encode() + encode(sent.record) for sent in said]
