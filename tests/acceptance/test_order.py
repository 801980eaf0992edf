"""The order of arrival does not matter: shuffled, repeated and with a restart, the incidents are the same."""

import math
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from schemas.codec import BadRecord, decode
from schemas.events import MOVES_THE_CLOCK
from schemas.incident import Incident
from schemas.telemetry import Event, Inbound, Telemetry
from streams.line import LineMemory
from streams.replay import lines_of
from streams.stages.stage import Sent
from streams.stores.pack import pack, unpack
from tests.acceptance.replaying import shipped_line
from tests.acceptance.test_recorded import SHARED, needs
from tests.stages.build import Job

LATENESS = 8.0
"""Seconds by which records overtake each other; ten are allowed."""
CASES = sorted(path.name.partition(".")[0] for path in (SHARED / "cases").glob("*.expected.json")) or ["no cases"]


def shuffled(records: list[Inbound], seed: int) -> list[Inbound]:
    """The same records in another order, some of them twice; a record arrives up to the lateness after its moment."""
    chance, arrivals = random.Random(seed), []
    for place, (record, moment) in enumerate(zip(records, moments(records), strict=True)):
        times = 1 + (chance.random() < 0.05)
        arrivals += [(moment + chance.uniform(0.0, LATENESS), place, record) for _ in range(times)]
    return [record for _, _, record in sorted(arrivals, key=lambda one: one[:2])]


def moments(records: list[Inbound]) -> list[float]:
    """When each record came: by its own time, which for an event of a log counts between its neighbours' only."""
    now, before, after = 0.0, [], []
    for record in records:
        now = max(now, trusted(record, 0.0))
        before.append(now)
    soonest = math.inf
    for record in reversed(records):
        soonest = min(soonest, trusted(record, math.inf))
        after.append(soonest)
    return [max(low, min(time_of(one), high)) for one, low, high in zip(records, before, reversed(after), strict=True)]


def time_of(record: Inbound) -> float:
    """What it says of its own time."""
    assert isinstance(record, Telemetry)
    return record.time


def trusted(record: Inbound, otherwise: float) -> float:
    """The time of what may move the stream's clock."""
    moves = not isinstance(record, Event) or record.event.startswith(MOVES_THE_CLOCK)
    return time_of(record) if moves else otherwise


class Replaying:
    """The line with a memory for each job and cluster, and what it said last of every incident."""

    def __init__(self) -> None:
        self.line = shipped_line()
        self.memories: dict[str, LineMemory] = {}
        self.last: dict[str, Incident] = {}

    def take(self, record: Inbound) -> None:
        """Take a record, and what the lines tell each other because of it."""
        assert isinstance(record, Telemetry)
        memory = self.memories.setdefault(record.job, self.line.blank(record.job))
        self._hear(self.line.feed(memory, record))

    def restart(self) -> None:
        """Go on with what the next worker reads from snapshots."""
        self.memories = {key: restored(memory) for key, memory in self.memories.items()}

    def end(self) -> None:
        """Nothing more comes."""
        for _ in range(2):
            for key in sorted(self.memories):
                self._hear(self.line.flush(self.memories[key]))

    def _hear(self, said: list[Sent]) -> None:
        for sent in said:
            if isinstance(sent.record, Incident) and sent.topic == "incidents":
                self.last[sent.key] = sent.record
            elif sent.topic == "telemetry" and isinstance(sent.record, Telemetry):
                self.take(sent.record)


def incidents(records: Iterable[Inbound], restart_at: int | None = None) -> dict[str, tuple[Any, ...]]:
    """Who is to blame for what, by id; with a restart, all memories are saved and restored in between."""
    replaying = Replaying()
    for number, record in enumerate(records):
        if number == restart_at:
            replaying.restart()
        replaying.take(record)
    replaying.end()
    return {one.id: (one.cause, one.nodes, one.ranks) for one in replaying.last.values()}


def records_of(file: Path) -> list[Inbound]:
    """What can be read of a file."""
    found = []
    for raw in lines_of(str(file)):
        try:
            found.append(decode(raw.strip()))
        except BadRecord:
            continue
    return found


def restored(memory: LineMemory) -> LineMemory:
    """A memory as the next worker reads it from a snapshot."""
    return LineMemory(key=memory.key, stages=[unpack(pack(stage), type(stage)) for stage in memory.stages])


@pytest.mark.parametrize("case", CASES)
def test_recorded_cases_in_any_order(case: str) -> None:
    """Every recorded case, shuffled, partly repeated and with a restart in the middle, leads to the same incidents."""
    records = records_of(needs("cases") / f"{case}.jsonl.gz")
    assert incidents(shuffled(records, 1), len(records) // 2) == incidents(records)


@pytest.mark.parametrize("seed", range(3))
def test_a_start_that_is_overtaken(seed: int) -> None:
    """The first steps may come before the launcher's word, at the first start and at a restart of the same job."""
    job = Job()
    story: list[Inbound] = [job.started(), *job.run(80), job.event("attempt.ended", reason="stopped")]
    again = job.restarted(step=150)
    story += [again.started(), *again.run(60), *again.run(60, slow={6: 1.4})]
    usual = incidents(story)
    assert [nodes for _, nodes, _ in usual.values()] == [("n2",)]
    assert incidents(shuffled(story, seed), len(story) // 2) == usual
