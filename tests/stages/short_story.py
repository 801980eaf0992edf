"""A short story that has everything in it: saves, a slow storage, a restart, a slow rank, real telemetry's defects."""

from collections.abc import Iterable
from functools import cache

import numpy as np

from playbooks.load import load_causes, load_playbooks
from schemas.codec import decode_all, encode
from schemas.telemetry import Event, SampleFrame, StepFrame
from streams.agents.simulated import arrivals, defects_for
from streams.agents.simulation.gpu_faults import SlowRank
from streams.agents.simulation.job import Job, nodes_named
from streams.agents.simulation.scenario import Leg, Scenario
from streams.agents.simulation.simulation import Simulation
from streams.agents.simulation.storage_faults import StorageStutter
from streams.line import Line
from streams.topology import topology

Sendable = StepFrame | SampleFrame | Event
FIRST, SLOW, AGAIN, SLOWER, LAST = 1_000, 1_070, 1_120, 1_190, 1_240


@cache
def line() -> Line:
    """The line as it ships."""
    causes = load_causes()
    return Line(topology(causes, load_playbooks(causes=causes)))


def told(seed: int, *, defects: bool) -> tuple[Sendable, ...]:
    """The records of the story, in order of arrival."""
    jobs = [
        Job(name="short", attempt=attempt, nodes=nodes_named(2), tokens=262_144, checkpoint_every=60)
        for attempt in (1, 2)
    ]
    legs = (
        Leg(
            job=jobs[0],
            steps=(FIRST, AGAIN - 1),
            influences=(StorageStutter(onset=SLOW, shares=((0, 0.03), (5, 0.2), (300, 0.2))),),
            ended="failed",
        ),
        Leg(job=jobs[1], steps=(AGAIN, LAST), influences=(SlowRank(onset=SLOWER, ranks=(11,), factor=1.35),)),
    )
    simulation = Simulation(Scenario(name="short", summary="", legs=legs), np.random.default_rng(seed))
    batches = arrivals(simulation, defects_for(seed) if defects else None)
    raw = b"\n".join(encode(record) for batch in batches for record in batch)
    return tuple(record for record in decode_all(raw) if isinstance(record, Sendable))


def lived(records: Iterable[Sendable]) -> list[bytes]:
    """Everything that the line says to some records, as bytes."""
    memory = line().blank("short")
    said = [sent for record in records for sent in line().feed(memory, record)]
    said += line().flush(memory)
    return [sent.topic.encode() + encode(sent.record) for sent in said]
